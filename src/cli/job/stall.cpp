#include "cli/job/stall.hpp"

#include <algorithm>

namespace atl::cli {

double StallWatch::interval_s() const { return std::clamp(limit_s_ / 4, 0.1, longest_interval_s_); }

void StallWatch::restart(double now_s) {
    if (limit_s_ <= 0 || warned_) return;
    standstill_.restart(now_s);
    next_s_ = now_s + interval_s();
}

bool StallWatch::update(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    const WaitsOfAll waits = waits_of(doing);
    const bool all_wait = waits.any && waits.others.empty() && !waits.has_absent;
    const double passed_s = standstill_.seconds(doing, waits.picture, all_wait, now_s);
    if (passed_s == 0 || passed_s < limit_s_) return false;
    dismiss();
    return true;
}

}  // namespace atl::cli
