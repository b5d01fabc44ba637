// Bounds the part of a start in which PEs of several hosts first talk by their transport.
#pragma once

#include "common/quiet_thread.hpp"

namespace atl::core {

class JobState;

/// While it lives, a job that is not through after ATOLL_INIT_TIMEOUT is ended with a sentence. In a thread:
/// UCX makes connections by calls that block as long as the kernel tries. Made by the thread that starts.
class StartWatch {
  public:
    explicit StartWatch(JobState& job);
    ~StartWatch();
    StartWatch(const StartWatch&) = delete;
    StartWatch& operator=(const StartWatch&) = delete;

  private:
    JobState& job_;
    common::Wake over_;
    common::QuietThread thread_;  // last: it uses the other
};

}  // namespace atl::core
