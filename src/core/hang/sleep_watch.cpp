#include "core/hang/sleep_watch.hpp"

#include <cstdint>
#include <utility>

#include "bootstrap/deadline.hpp"
#include "common/board/beside_gpu.hpp"
#include "common/pe_ranges.hpp"

namespace atl::core {

bool SleepWatch::update(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    WaitsOfAll waits = waits_of(doing);
    // If no PE is known to wait, all may be in loops of tests. They are asked, but nothing is reported
    // yet.
    const bool is_still = !waits.others.empty() && !waits.has_absent;
    bool may_sleep = is_still && waits.any;
    std::uint64_t picture = waits.picture;
    is_stopped_ = runs_ = false;
    all_run_ = true;
    for (const int pe : waits.others) {
        const char process = doing[static_cast<std::size_t>(pe)].process;
        may_sleep =
            may_sleep && (process == 'S' || process == 'R' || process == 'T');  // not if it reads a disk
        runs_ = runs_ || process == 'R';
        all_run_ = all_run_ && process == 'R';
        is_stopped_ = is_stopped_ || process == 'T';
        picture = picture * 31 + static_cast<std::uint64_t>(pe) + 1;
    }
    others_ = std::move(waits.others);
    waited_s_ = waits_.seconds(doing, picture, is_still, now_s);
    was_asked_ = was_asked_ && waited_s_ > 0;
    const double slept_s = sleep_.seconds(doing, picture, may_sleep, now_s);
    checks_ = slept_s > 0 ? checks_ + 1 : 0;
    running_ = slept_s > 0 ? running_ + (runs_ ? 1 : 0) : 0;
    // On a busy machine a computing PE may get less of a CPU than one that sleeps in short pieces.
    const bool computes = 2 * running_ > checks_;
    is_asleep_ = slept_s > 0 && slept_s >= sleep_s_ && !computes;
    warned_ = is_asleep_ || (waits.any && waited_s_ > 0 && waited_s_ >= work_s_);
    return warned_;
}

bool SleepWatch::should_ask(double now_s) {
    if (warned_ || was_asked_ || waited_s_ == 0 || waited_s_ < ask_s_) return false;
    if (!is_pool_ && (!all_run_ || now_s < may_ask_s_)) return false;
    was_asked_ = true;
    // A PE in a polling loop shows its wait for a while after the question. This change begins another
    // standstill.
    may_ask_s_ = now_s + 2 * work_s_;
    return true;
}

void SleepWatch::restart(double now_s) {
    sleep_.restart(now_s);
    waits_.restart(now_s);
}

std::string SleepWatch::answered(const std::vector<common::PeDoing>& doing) {
    WaitsOfAll waits = waits_of(doing);
    if (waits.any && !waits.others.empty()) others_ = waits.others;  // fewer, if some show that they wait
    const bool are_idle = std::all_of(waits.others.begin(), waits.others.end(), [&](int pe) {
        return doing[static_cast<std::size_t>(pe)].site == common::idle_in_pool;
    });
    if (!waits.any || waits.has_absent || !are_idle) return {};
    warned_ = true;
    if (waits.others.empty())
        return "every PE waits, and nothing has moved for at least " + bootstrap::seconds_text(ask_s_) +
               " (ATOLL_STALL_WARN)";
    others_ = std::move(waits.others);
    return "PE " + common::pe_ranges(others_) + (others_.size() == 1 ? " is " : " are ") +
           std::string(common::idle_in_pool) + unchanged_text(ask_s_);
}

std::string SleepWatch::unchanged_text(double limit_s) const {
    return ", and the waits of the others have not changed for at least " + bootstrap::seconds_text(limit_s) +
           " (ATOLL_STALL_WARN)";
}

std::string SleepWatch::text_of_waits() const {
    return "PEs wait, and their waits have not changed for at least " +
           bootstrap::seconds_text(is_asleep_ ? sleep_s_ : work_s_) + " (ATOLL_STALL_WARN)";
}

std::string SleepWatch::text() const {
    const bool one = others_.size() == 1;
    const std::string pes = "PE " + common::pe_ranges(others_);
    if (!is_asleep_) {
        const std::string verb = runs_ ? (one ? " works" : " work") : (one ? " is" : " are");
        return pes + verb + " outside Atoll" + unchanged_text(work_s_);
    }
    return pes +
           (is_stopped_ ? (one ? " is stopped" : " are stopped or sleep outside Atoll")
                        : (one ? " sleeps outside Atoll" : " sleep outside Atoll")) +
           unchanged_text(sleep_s_);
}

}  // namespace atl::core
