// Detects that every PE waits and none makes progress.
#pragma once

#include <vector>

#include "common/board/board.hpp"
#include "core/hang/standstill.hpp"

namespace atl::cli {

class StallWatch {
  public:
    /// `limit_s` 0 disables it.
    explicit StallWatch(double limit_s, double longest_interval_s = 1)
        : limit_s_(limit_s), longest_interval_s_(longest_interval_s) {}

    /// The time of the next check; `never` if no check is due.
    double next_s() const { return next_s_; }
    /// True once: when all PEs between init and finalize have waited without progress for the limit, and none
    /// has computed meanwhile.
    bool update(const std::vector<common::PeDoing>& doing, double now_s);
    /// Call when the first PE has called init, or when the job was stopped for some time, which does not
    /// count.
    void restart(double now_s);
    /// Call when another report has stated that all PEs wait.
    void dismiss() {
        warned_ = true;
        next_s_ = never;
    }

    static constexpr double never = 1e18;

  private:
    double interval_s() const;

    double limit_s_, longest_interval_s_;
    double next_s_ = never;
    core::Standstill standstill_{core::Standstill::of_waits};
    bool warned_ = false;
};

}  // namespace atl::cli
