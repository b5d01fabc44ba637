#include "core/team/group_place.hpp"

#include "atoll/device/control.hpp"
#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "core/team/kernel_control.hpp"

namespace atl::core {

gpu::GroupPages group_pages_for(const TeamState& team, std::uint64_t offered) {
    if (team.kernels.place <= 0 || team.n_pes() > device::most_team_pes || first_far(team) >= 0) return {};
    return gpu::group_pages_for(team.n_pes(), offered);
}

gpu::TeamPlaces::Place group_place(const TeamState& team) {
    if (team.kernels.place == 0) return team.job().device()->team_places().world();
    const int n = team.n_pes();
    if (team.kernels.group_pages.bits == 0)
        throw Error(ErrorCode::unsupported,
                    team.name() + " has no device memory for collectives on streams. It would take " +
                        common::bytes_text(gpu::fewest_pages_bytes(n)) + " on each of its " +
                        std::to_string(n) +
                        " PEs, and no such part was free on all of them when it was made. All teams but the "
                        "world have " +
                        common::bytes_text(gpu::GroupPages::all_bytes) +
                        " together. Destroy unused teams, then create this one again.");
    return team.job().device()->team_places().of(n, team.kernels.group_pages);
}

void clear_group_place(const TeamState& team) {
    if (team.kernels.group_pages.bits == 0) return;
    const gpu::TeamPlaces::Place place = group_place(team);
    team.job().device()->copies().fill(place.address, 0, place.bytes);
}

}  // namespace atl::core
