// StartWatch: bounds the part of a start in which PEs of several hosts first communicate by their transport.
#pragma once

#include "common/quiet_thread.hpp"

namespace atl::core {

class JobState;

/// Ends the job with a report if the start is not complete after ATOLL_INIT_TIMEOUT. Runs in a thread: UCX
/// connects by calls that block as long as the kernel tries. Constructed by the starting thread.
class StartWatch {
  public:
    explicit StartWatch(JobState& job);
    ~StartWatch();
    StartWatch(const StartWatch&) = delete;
    StartWatch& operator=(const StartWatch&) = delete;

  private:
    JobState& job_;
    common::Wake over_;
    common::QuietThread thread_;  // last: it uses the other members
};

}  // namespace atl::core
