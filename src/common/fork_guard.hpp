// Descriptors that live and die with this process. Others take their closing for its death, so a forked
// child, which inherits copies, must not keep them open: it finds a descriptor of nothing under the same
// number.
#pragma once

#include "common/fd.hpp"

namespace atl::common {

/// `fd` becomes such a descriptor, until `close_guarded` closes it.
void replace_after_fork(int fd);
void close_guarded(Fd fd) noexcept;

/// While it lives no thread of this process forks: from the making of a descriptor to its being guarded a
/// child would keep a copy. Not for longer than a system call.
class NoFork {
  public:
    NoFork();
    ~NoFork();
    /// As replace_after_fork.
    void guard(int fd) const;
    NoFork(const NoFork&) = delete;
    NoFork& operator=(const NoFork&) = delete;
};

/// An Fd of that kind.
class ProcessFd {
  public:
    ProcessFd() = default;
    explicit ProcessFd(Fd fd) : fd_(std::move(fd)) {
        if (fd_) replace_after_fork(fd_.get());
    }
    /// What `make` returns, an Fd. Keeps errno where that is none.
    template <class Make> static ProcessFd made_by(Make&& make) {
        ProcessFd made;
        const NoFork lock;
        made.fd_ = make();
        if (made.fd_) lock.guard(made.fd_.get());
        return made;
    }
    ProcessFd(ProcessFd&&) noexcept = default;
    ProcessFd& operator=(ProcessFd&&) noexcept = default;
    ~ProcessFd() { close(); }

    int get() const noexcept { return fd_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
    void close() noexcept {
        if (fd_) close_guarded(std::move(fd_));
    }

  private:
    Fd fd_;
};

}  // namespace atl::common
