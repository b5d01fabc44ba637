#include "cli/job/sleep_watch.hpp"

#include <utility>

#include "bootstrap/deadline.hpp"
#include "common/pe_ranges.hpp"

namespace atl::cli {

namespace {

struct Sleepers {
    std::vector<int> pes;
    std::uint64_t picture =
        0;  ///< of the waits of all others; 0: none waits, none sleeps, or one does neither
};

Sleepers sleepers_of(const std::vector<common::PeDoing>& doing) {
    Sleepers found;
    std::uint64_t picture = 0;
    for (std::size_t pe = 0; pe < doing.size(); ++pe) {
        const common::PeDoing& one = doing[pe];
        if (one.state == common::PeState::absent) return {};
        if (one.state != common::PeState::running) continue;
        if (one.waits)
            picture = (picture ^ one.mark) * 0x9E3779B97F4A7C15u + pe + 1;
        else if (one.process == 'S' || one.process == 'R')  // not if it reads a disk
            found.pes.push_back(static_cast<int>(pe));
        else
            return {};
    }
    if (!found.pes.empty()) found.picture = picture;
    return found;
}

}  // namespace

bool SleepWatch::look(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    Sleepers now = sleepers_of(doing);
    bool computes = cpu_s_.size() != doing.size();
    for (std::size_t pe = 0; pe < doing.size() && !computes; ++pe) {
        const double used_s = doing[pe].cpu_s - cpu_s_[pe], passed_s = now_s - since_s_;
        // A waiting PE polls between its sleeps, and one that calls tests uses a CPU without effect.
        const double share = doing[pe].waits ? most_waiting_share : most_share;
        computes = !doing[pe].polls && used_s > least_cpu_s + share * passed_s;
    }
    if (now.picture == 0 || now.picture != picture_ || now.pes != asleep_ || computes) {
        picture_ = now.picture;
        asleep_ = std::move(now.pes);
        since_s_ = now_s;
        cpu_s_.clear();
        for (const common::PeDoing& one : doing) cpu_s_.push_back(one.cpu_s);
        return false;
    }
    warned_ = now_s - since_s_ >= limit_s_;
    return warned_;
}

std::string SleepWatch::text() const {
    return "PE " + common::pe_ranges(asleep_) + (asleep_.size() == 1 ? " sleeps" : " sleep") +
           " outside Atoll, and the waits of the others have not changed for " +
           bootstrap::seconds_text(limit_s_) + " (ATOLL_STALL_WARN)";
}

}  // namespace atl::cli
