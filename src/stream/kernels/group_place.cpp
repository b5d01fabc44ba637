#include "stream/kernels/group_place.hpp"

#include "common/text.hpp"
#include "core/job/job_state.hpp"

namespace atl::stream {

gpu::TeamPlaces::Place group_place(const core::TeamState& team) {
    if (team.kernels.place == 0) return team.job().devices().memory()->team_places().world();
    const int n = team.n_pes();
    if (!team.kernels.group_room)
        throw Error(ErrorCode::unsupported,
                    team.name() + " has no device memory for collectives on streams. It would take " +
                        common::bytes_text(gpu::group_room_bytes(n, gpu::fewest_words_bytes(n))) +
                        " on each of its " + std::to_string(n) +
                        " PEs, and no such part was free on all of them when it was made. All teams but the "
                        "world have " +
                        common::bytes_text(team.job().settings().team_bytes) +
                        " together. Destroy unused teams, or raise ATOLL_TEAM_MEMORY, then create this one "
                        "again.");
    return team.job().devices().memory()->team_places().of(n, team.kernels.group_room);
}

void clear_group_place(const core::TeamState& team) {
    if (!team.kernels.group_room) return;
    const gpu::TeamPlaces::Place place = group_place(team);
    team.job().devices().memory()->copies().fill(place.address, 0, place.bytes);
}

}  // namespace atl::stream
