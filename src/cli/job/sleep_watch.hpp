// Detects that PEs wait for others that sleep: in a read of a socket, on a lock, in a loop of short sleeps.
// Or for others that were stopped.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cli/job/standstill.hpp"
#include "common/board/board.hpp"

namespace atl::cli {

/// Sleep may be intended, so its limit is longer than that of StallWatch.
class SleepWatch {
  public:
    /// `stall_warn_s` is ATOLL_STALL_WARN. 0 disables it. A person at a terminal may be what a PE waits for:
    /// that has a longer limit, too.
    SleepWatch(double stall_warn_s, bool has_terminal)
        : limit_s_(stall_warn_s * (has_terminal ? 5 * times : times)) {}

    bool is_due(double now_s) const { return limit_s_ > 0 && !warned_ && now_s >= next_s_; }
    /// True once: when some PEs have waited for the limit without progress, while all others slept.
    bool update(const std::vector<common::PeDoing>& doing, double now_s);
    /// "PE 3 sleeps outside Atoll, and the waits of the others have not changed for 12 s (…)", after `update`
    /// was true.
    std::string text() const;

  private:
    /// A loop of short sleeps uses a small share of a CPU. A process's CPU time is known in steps of 10 ms.
    static constexpr double most_share = 0.1, most_waiting_share = 0.5, least_cpu_s = 0.05, times = 10;

    double interval_s() const { return std::clamp(limit_s_ / 6, 0.1, 5.0); }

    double limit_s_;
    double next_s_ = 0;
    Standstill standstill_{{most_waiting_share, most_share, least_cpu_s}};
    std::vector<int> asleep_;
    bool is_stopped_ = false;       ///< one of them
    int checks_ = 0, running_ = 0;  ///< since the standstill began: all, and those that found one running
    bool warned_ = false;
};

}  // namespace atl::cli
