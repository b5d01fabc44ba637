#include "cli/job/sleep_watch.hpp"

#include <cstdint>
#include <utility>

#include "bootstrap/deadline.hpp"
#include "common/pe_ranges.hpp"

namespace atl::cli {

bool SleepWatch::update(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    WaitsOfAll waits = waits_of(doing);
    bool may_sleep = waits.any && !waits.others.empty() && !waits.has_absent;
    std::uint64_t picture = waits.picture;
    bool runs = false;
    is_stopped_ = false;
    for (const int pe : waits.others) {
        const char process = doing[static_cast<std::size_t>(pe)].process;
        may_sleep =
            may_sleep && (process == 'S' || process == 'R' || process == 'T');  // not if it reads a disk
        runs = runs || process == 'R';
        is_stopped_ = is_stopped_ || process == 'T';
        picture = picture * 31 + static_cast<std::uint64_t>(pe) + 1;
    }
    asleep_ = std::move(waits.others);
    const double passed_s = standstill_.seconds(doing, picture, may_sleep, now_s);
    checks_ = passed_s > 0 ? checks_ + 1 : 0;
    running_ = passed_s > 0 ? running_ + (runs ? 1 : 0) : 0;
    // On a busy machine a computing PE may get less of a CPU than one that sleeps in short pieces.
    const bool computes = 2 * running_ > checks_;
    warned_ = passed_s > 0 && passed_s >= limit_s_ && !computes;
    return warned_;
}

std::string SleepWatch::text() const {
    const bool one = asleep_.size() == 1;
    return "PE " + common::pe_ranges(asleep_) +
           (is_stopped_ ? (one ? " is stopped" : " are stopped or sleep outside Atoll")
                        : (one ? " sleeps outside Atoll" : " sleep outside Atoll")) +
           ", and the waits of the others have not changed for " + bootstrap::seconds_text(limit_s_) +
           " (ATOLL_STALL_WARN)";
}

}  // namespace atl::cli
