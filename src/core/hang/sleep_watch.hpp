// Detects that PEs wait long for others outside Atoll. They sleep: in a read of a socket, on a lock, in a
// loop of short sleeps. Or they compute, or were stopped.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/board/board.hpp"
#include "core/hang/standstill.hpp"

namespace atl::core {

/// Sleep and work may be intended, so the limits are longer than that of a standstill of all.
class SleepWatch {
  public:
    /// `stall_warn_s` is ATOLL_STALL_WARN. 0 disables it. With a terminal the limit of sleep is longer, since
    /// a PE may wait for a person's input. PEs of a pool may be asked early, since they may be between its
    /// calls.
    SleepWatch(double stall_warn_s, bool has_terminal, bool is_pool)
        : sleep_s_(stall_warn_s * (has_terminal ? work_times : times)),
          work_s_(stall_warn_s * work_times),
          ask_s_(stall_warn_s * (is_pool ? 1 : times)),
          is_pool_(is_pool) {}

    bool is_due(double now_s) const { return sleep_s_ > 0 && !warned_ && now_s >= next_s_; }
    /// True once: when some PEs have waited without progress for the limit of sleep while all others slept.
    /// If the others work, the limit is that of work.
    bool update(const std::vector<common::PeDoing>& doing, double now_s);
    /// True if the PEs elsewhere should be asked for their places: they may wait in a loop of tests or
    /// between calls of a pool. No other PE needs to wait. It is true once for each standstill, and rarely
    /// again outside a pool. All of these PEs use a CPU then, since the question would cut the sleep of a C
    /// program short. PEs of a pool resume it.
    bool should_ask(double now_s);
    /// Call when the job was stopped for some time, which does not count.
    void restart(double now_s);
    /// `doing` is the answer of all. Returns the text of a report; empty if some PE may be at work.
    std::string answered(const std::vector<common::PeDoing>& doing);
    /// Returns a text such as "PE 3 sleeps outside Atoll, and the waits of the others have not changed
    /// for …", after `update` was true.
    std::string text() const;
    /// The same without the PEs, for a report that asks them later: some may turn out to wait.
    std::string text_of_waits() const;

  private:
    /// A loop of short sleeps uses a small share of a CPU. A process's CPU time is known in steps of 10 ms.
    static constexpr double most_share = 0.1, most_waiting_share = 0.5, least_cpu_s = 0.05, any_share = 1e9,
                            times = 10, work_times = 50;

    double interval_s() const { return std::clamp(std::min(sleep_s_ / 6, ask_s_ / 2), 0.1, 5.0); }
    std::string unchanged_text(double limit_s) const;

    double sleep_s_, work_s_, ask_s_;
    bool is_pool_;
    double next_s_ = 0, may_ask_s_ = 0;
    Standstill sleep_{{most_waiting_share, most_share, least_cpu_s}};
    Standstill waits_{{most_waiting_share, any_share, least_cpu_s}};
    double waited_s_ = 0;
    std::vector<int> others_;
    bool is_stopped_ = false;  ///< one of them
    bool runs_ = false;        ///< one of them used a CPU at the last check
    bool all_run_ = false;
    int checks_ = 0, running_ = 0;  ///< since the standstill began: all, and those that found one running
    bool is_asleep_ = false, was_asked_ = false, warned_ = false;
};

}  // namespace atl::core
