#include "cli/job/stall.hpp"

#include <algorithm>

namespace atl::cli {

double StallWatch::interval_s() const { return std::clamp(limit_s_ / 4, 0.1, longest_interval_s_); }

void StallWatch::restart(double now_s) {
    if (limit_s_ <= 0 || warned_) return;
    since_s_ = now_s;
    next_s_ = now_s + interval_s();
}

bool StallWatch::all_wait(const std::vector<common::PeDoing>& doing, std::uint64_t& picture) {
    bool any = false;
    picture = 0;
    for (std::size_t pe = 0; pe < doing.size(); ++pe) {
        const common::PeDoing& one = doing[pe];
        if (one.state == common::PeState::absent) return false;  // its program may compute before init
        if (one.state != common::PeState::running) continue;
        if (!one.waits) return false;
        picture = (picture ^ one.mark) * 0x9E3779B97F4A7C15u + pe;
        any = true;
    }
    return any;
}

/// True if a PE has computed since `since_s_`. Another thread of a waiting PE may compute what the others
/// wait for. A PE that polls uses a CPU without effect.
bool StallWatch::computes(const std::vector<common::PeDoing>& doing, double passed_s) const {
    for (std::size_t pe = 0; pe < std::min(doing.size(), cpu_s_.size()); ++pe)
        if (!doing[pe].polls && doing[pe].cpu_s - cpu_s_[pe] > most_idle_share * passed_s + least_s)
            return true;
    return false;
}

bool StallWatch::look(const std::vector<common::PeDoing>& doing, double now_s) {
    next_s_ = now_s + interval_s();
    std::uint64_t picture = 0;
    const bool waiting = all_wait(doing, picture);
    if (!waiting || picture != picture_ || computes(doing, now_s - since_s_)) {
        picture_ = picture;
        since_s_ = now_s;
        cpu_s_.clear();
        for (const common::PeDoing& one : doing) cpu_s_.push_back(one.cpu_s);
        return false;
    }
    if (now_s - since_s_ < limit_s_) return false;
    warned_ = true;
    next_s_ = never;
    return true;
}

}  // namespace atl::cli
