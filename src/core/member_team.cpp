#include "core/member_team.hpp"

#include "core/job_state.hpp"
#include "core/team_state.hpp"

#include <algorithm>

namespace atl::core {

namespace {

/// The first member makes the control block in its arena and puts its place, plus one, into the others' word;
/// each of them sets its own back to zero.
ControlBlock* first_meeting(JobState& job, const std::vector<int>& members, bool leads, long* word) {
    const Context& context = job.world_state().context();
    if (!leads) {
        const long place = context.wait_until(word, Compare::ne, 0L);
        context.atomic_set(word, 0L, job.pe());
        return static_cast<ControlBlock*>(
            job.arena_address(members[0], static_cast<std::uint64_t>(place - 1)));
    }
    job.sweep_control();
    const std::size_t bytes = ControlBlock::bytes(static_cast<int>(members.size()));
    auto* control = static_cast<ControlBlock*>(job.arena_allocate(bytes));
    const long place = static_cast<long>(job.arena_offset(control)) + 1;
    for (std::size_t i = 1; i < members.size(); ++i) context.atomic_set(word, place, members[i]);
    return control;
}

}  // namespace

Team make_member_team(const Job& owner, std::vector<int> members, long* word) {
    JobState& job = owner.state();
    const auto me = std::find(members.begin(), members.end(), job.pe());
    if (me == members.end())
        throw Error(ErrorCode::invalid_argument,
                    "PE " + std::to_string(job.pe()) + " is not in the active set of " +
                        std::to_string(members.size()) + " PEs from PE " + std::to_string(members[0]) +
                        "; only its members take part.");
    const int my_pe = static_cast<int>(me - members.begin());
    ControlBlock* control = first_meeting(job, members, my_pe == 0, word);
    return Team(std::make_shared<TeamState>(job, job.next_team_number(), std::move(members), my_pe, control,
                                            my_pe == 0));
}

}  // namespace atl::core
