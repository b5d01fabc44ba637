#include "cli/job/stall.hpp"

namespace atl::cli {

double StallWatch::interval_s() const { return core::stall_interval_s(limit_s_, longest_interval_s_); }

void StallWatch::restart(double now_s) {
    if (limit_s_ <= 0 || warned_) return;
    standstill_.restart(now_s);
    next_s_ = now_s + interval_s();
}

bool StallWatch::update(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    const core::WaitsOfAll waits = core::waits_of(doing);
    const double passed_s = standstill_.seconds(doing, waits.picture, waits.are_all(), now_s);
    if (passed_s == 0 || passed_s < limit_s_) return false;
    dismiss();
    return true;
}

}  // namespace atl::cli
