#include "core/team/predefined_teams.hpp"

#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>

namespace atl::core {

void PredefinedTeams::split_world() {
    const bootstrap::Hosts& hosts = job_.topology().hosts();
    const int pe = job_.pe();
    const auto me = static_cast<std::size_t>(pe);
    const int host = hosts.host_of[me];
    const auto split = [&](int color) {
        auto team = core::split(world_.state(), color, pe, call_record("init"));
        team->set_predefined();
        return Team(std::move(team));
    };
    shared_ = split(hosts.domain_of[me]);
    host_ = split(host);
    const auto before = std::count(hosts.host_of.begin(), hosts.host_of.begin() + pe, host);
    rail_ = split(static_cast<int>(before));
}

const Team& PredefinedTeams::rail() {
    const std::lock_guard lock(rail_mutex_);
    if (!rail_) {
        auto* control = static_cast<ControlBlock*>(job_.arena().allocate(ControlBlock::bytes(1)));
        auto team = std::make_shared<TeamState>(job_, job_.team_numbers().next(), std::vector<int>{job_.pe()},
                                                0, TeamMemory{control, true, {}});
        team->set_predefined();
        rail_ = Team(std::move(team));
    }
    return rail_;
}

}  // namespace atl::core
