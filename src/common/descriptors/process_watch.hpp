// ProcessWatch: tells when another process of this host has ended.
#pragma once

#include "common/descriptors/fd.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace atl::common {

/// Calls must not overlap.
class ProcessWatch {
  public:
    ProcessWatch() = default;
    explicit ProcessWatch(int process) : process_(process) {}

    int process() const noexcept { return process_; }
    bool has_ended() {
        if (process_ == ::getpid()) return false;
        if (!descriptor_) {
            descriptor_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0u)));
            if (!descriptor_) return errno == ESRCH;
        }
        pollfd readable{descriptor_.get(), POLLIN, 0};
        return ::poll(&readable, 1, 0) == 1;
    }

  private:
    int process_ = 0;
    Fd descriptor_;  ///< becomes readable when the process ends
};

}  // namespace atl::common
