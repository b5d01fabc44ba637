// Descriptors that live and die with this process. Others take their closing for its death, so a forked
// child, which inherits copies, must not keep them open: it finds a descriptor of nothing under the same
// number.
#pragma once

#include "common/fd.hpp"

namespace atl::common {

/// `fd` becomes such a descriptor, until `release_after_fork` (call that before closing it).
void replace_after_fork(int fd);
void release_after_fork(int fd) noexcept;

/// An Fd of that kind.
class ProcessFd {
  public:
    ProcessFd() = default;
    explicit ProcessFd(Fd fd) : fd_(std::move(fd)) {
        if (fd_) replace_after_fork(fd_.get());
    }
    ProcessFd(ProcessFd&&) noexcept = default;
    ProcessFd& operator=(ProcessFd&&) noexcept = default;
    ~ProcessFd() { close(); }

    int get() const noexcept { return fd_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
    void close() noexcept {
        if (fd_) release_after_fork(fd_.get());
        const Fd closing = std::move(fd_);
    }

  private:
    Fd fd_;
};

}  // namespace atl::common
