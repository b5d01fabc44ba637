#include "cli/job/sleep_watch.hpp"

#include <cstdint>
#include <utility>

#include "bootstrap/deadline.hpp"
#include "common/pe_ranges.hpp"

namespace atl::cli {

bool SleepWatch::look(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    WaitsOfAll waits = waits_of(doing);
    bool may_sleep = waits.any && !waits.others.empty() && !waits.has_absent;
    std::uint64_t picture = waits.picture;
    for (const int pe : waits.others) {
        const char process = doing[static_cast<std::size_t>(pe)].process;
        may_sleep = may_sleep && (process == 'S' || process == 'R');  // not if it reads a disk
        picture = picture * 31 + static_cast<std::uint64_t>(pe) + 1;
    }
    asleep_ = std::move(waits.others);
    const double passed_s = standstill_.seconds(doing, picture, may_sleep, now_s);
    warned_ = passed_s > 0 && passed_s >= limit_s_;
    return warned_;
}

std::string SleepWatch::text() const {
    return "PE " + common::pe_ranges(asleep_) + (asleep_.size() == 1 ? " sleeps" : " sleep") +
           " outside Atoll, and the waits of the others have not changed for " +
           bootstrap::seconds_text(limit_s_) + " (ATOLL_STALL_WARN)";
}

}  // namespace atl::cli
