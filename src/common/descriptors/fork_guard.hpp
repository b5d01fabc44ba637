// Descriptors that close with this process only. Other processes take their closing for its death, so a
// forked child must not keep its copies open. In the child the same number refers to an empty descriptor.
#pragma once

#include "common/descriptors/fd.hpp"

namespace atl::common {

/// Replaces `fd` in forked children, until `close_guarded` closes it.
void replace_after_fork(int fd);
void close_guarded(Fd fd) noexcept;

/// Prevents forks by any thread of this process, for its lifetime. Otherwise a child could keep a copy of a
/// descriptor between its creation and its registration. Hold it no longer than a system call.
class NoFork {
  public:
    NoFork();
    ~NoFork();
    /// Does the same as replace_after_fork.
    void guard(int fd) const;
    NoFork(const NoFork&) = delete;
    NoFork& operator=(const NoFork&) = delete;
};

/// An Fd that is replaced in forked children.
class ProcessFd {
  public:
    ProcessFd() = default;
    explicit ProcessFd(Fd fd) : fd_(std::move(fd)) {
        if (fd_) replace_after_fork(fd_.get());
    }
    /// Wraps the Fd that `make` returns. Keeps errno if it is invalid.
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
