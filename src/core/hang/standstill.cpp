#include "core/hang/standstill.hpp"

#include <algorithm>

#include "bootstrap/deadline.hpp"
#include "common/able_time.hpp"

namespace atl::core {
namespace {

constexpr double least_passed_s = 1e-6;  // 0 means that something has moved

}  // namespace

WaitsOfAll waits_of(const std::vector<common::PeDoing>& doing) {
    WaitsOfAll all;
    for (std::size_t pe = 0; pe < doing.size(); ++pe) {
        const common::PeDoing& one = doing[pe];
        if (one.state == common::PeState::absent) all.has_absent = true;
        if (one.state != common::PeState::running) continue;
        if (one.waits || one.pends) {
            all.picture = (all.picture ^ one.mark) * 0x9E3779B97F4A7C15u + pe + 1;
            all.any = true;
        }
        if (!one.waits) all.others.push_back(static_cast<int>(pe));
    }
    return all;
}

/// True if a PE has computed since `since_s_`. Another thread of a waiting PE may compute what the others
/// wait for. A PE that polls uses a CPU without effect.
bool Standstill::computes(const std::vector<common::PeDoing>& doing, double passed_s) const {
    for (std::size_t pe = 0; pe < std::min(doing.size(), cpu_s_.size()); ++pe) {
        const double share = doing[pe].waits ? idle_.waiting_share : idle_.other_share;
        if (!doing[pe].polls && doing[pe].cpu_s - cpu_s_[pe] > share * passed_s + idle_.least_s) return true;
    }
    return false;
}

/// The longest time without a core since `since_s_`. A PE that polls is ready all the time, with or without
/// effect.
double Standstill::coreless(const std::vector<common::PeDoing>& doing) const {
    double most_s = 0;
    for (std::size_t pe = 0; pe < std::min(doing.size(), coreless_s_.size()); ++pe)
        if (!doing[pe].polls) most_s = std::max(most_s, doing[pe].coreless_s - coreless_s_[pe]);
    return most_s;
}

double Standstill::seconds(const std::vector<common::PeDoing>& doing, std::uint64_t picture, bool is_still,
                           double now_s) {
    const double passed_s = now_s - since_s_;
    if (is_still && picture == picture_ && !computes(doing, passed_s))
        return std::max({passed_s - coreless(doing), passed_s / common::longest_grace, least_passed_s});
    picture_ = is_still ? picture : 0;
    since_s_ = now_s;
    cpu_s_.clear();
    coreless_s_.clear();
    for (const common::PeDoing& one : doing) {
        cpu_s_.push_back(one.cpu_s);
        coreless_s_.push_back(one.coreless_s);
    }
    return 0;
}

double stall_interval_s(double limit_s, double longest_s) {
    constexpr double shortest_s = 0.1;
    return std::clamp(limit_s / 4, shortest_s, longest_s);
}

std::string stall_heading(double limit_s) {
    return "every PE waits and nothing has moved for " + bootstrap::seconds_text(limit_s) +
           " (ATOLL_STALL_WARN); what the PEs are doing";
}

}  // namespace atl::core
