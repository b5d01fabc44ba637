#include "collective/team_requests/team_group.hpp"

#include "collective/requests/request_wait.hpp"
#include "common/log.hpp"
#include "core/job/job_state.hpp"

namespace atl::requests {
namespace {

/// The group may outlive the job's objects, so it keeps the memory and refers to no object.
Membership membership_of(core::TeamState& team, char* area) {
    const core::JobState& job = team.job();
    Membership m;
    m.rank = team.my_pe();
    m.n = team.n_pes();
    m.noun = "PE";
    m.group = " of " + team.name();
    m.name = team.name();
    m.is_team = true;
    m.recorder = job.recorder.get();
    m.identity = team.meetings().recorded.team();
    m.cure = "Its blocking collectives are not affected; for others use another team.";
    m.areas.assign(std::size_t(m.n), nullptr);
    m.areas[std::size_t(m.rank)] = area;
    m.memory = job.mapping();
    std::vector<char*> slots;
    for (int i = 0; i < m.n; ++i) {
        m.names.push_back(team.world_pe(i));
        slots.push_back(static_cast<char*>(job.arena().address(team.world_pe(i), 0)));
    }
    core::ControlBlock* const control = &team.control();
    m.find = [control, slots](int member) -> char* {
        const std::uint64_t offset = control->member(member).requests.load(std::memory_order_acquire);
        return offset == 0 ? nullptr : slots[std::size_t(member)] + (offset - 1);
    };
    const common::BoardView board = job.board();
    m.end_of = [board, names = m.names](int member) -> std::string {
        const common::PeState state = board.state(names[std::size_t(member)]);
        return state < common::PeState::finalized ? std::string() : common::state_text(state);
    };
    m.check = [board] {
        const common::BoardHeader& header = board.header();
        if (header.abort.load(std::memory_order_acquire) != 0)
            throw Error(ErrorCode::pe_died, header.abort_text);
    };
    return m;
}

}  // namespace

const std::shared_ptr<Group>& TeamGroup::of(core::TeamState& team) {
    team.check_alive();
    std::call_once(team.requests_once, [&] {
        if (team.spread() != nullptr)
            throw Error(ErrorCode::unsupported,
                        "Non-blocking collectives need members that share memory, and those of " +
                            team.name() +
                            " are on several hosts. Use the blocking ones, or the job's team of one host.");
        team.requests = std::make_unique<TeamGroup>(team);
    });
    return static_cast<TeamGroup&>(*team.requests).group_;
}

TeamGroup::TeamGroup(core::TeamState& team)
    : team_(team),
      area_(static_cast<char*>(team.job().arena().allocate(Area::bytes_without_rings(team.n_pes())))),
      group_(std::make_shared<Group>(membership_of(team, area_))) {
    const std::uint64_t offset = team.job().arena().offset(area_) + 1;
    team.job().waits().add(group_);
    team.member(team.my_pe()).requests.store(offset, std::memory_order_release);
}

/// Called when no member starts further requests. Memory stays while the caller holds a request.
void TeamGroup::release() noexcept {
    if (const RequestPtr left = group_->pending())
        common::warn(group_->members().me() + " leaves the team of a collective that is not done: " +
                     text_of(*left, group_->members().membership().group) +
                     ". Wait for it before finalize and Team::destroy.");
    if (group_.use_count() > 1) return;
    group_.reset();
    team_.job().arena().free(area_);
}

}  // namespace atl::requests
