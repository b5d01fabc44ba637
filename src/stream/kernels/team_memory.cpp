#include "stream/kernels/team_memory.hpp"

#include "common/text.hpp"
#include "core/job/job_state.hpp"

namespace atl::stream {

gpu::TeamRanges::Range team_memory(const core::TeamState& team) {
    if (team.kernels.offset == 0) return team.job().devices().memory()->team_ranges().world();
    const int n = team.n_pes();
    if (!team.kernels.stream_range)
        throw Error(ErrorCode::unsupported,
                    team.name() + " has no device memory for collectives on streams. It would take " +
                        common::bytes_text(gpu::stream_range_bytes(n, gpu::fewest_words_bytes(n))) +
                        " on each of its " + std::to_string(n) +
                        " PEs, and no such part was free on all of them when it was made. All teams but the "
                        "world have " +
                        common::bytes_text(team.job().settings().team_bytes) +
                        " together. Destroy unused teams, or raise ATOLL_TEAM_MEMORY, then create this one "
                        "again.");
    return team.job().devices().memory()->team_ranges().of(n, team.kernels.stream_range);
}

void clear_team_memory(const core::TeamState& team) {
    if (!team.kernels.stream_range) return;
    const gpu::TeamRanges::Range memory = team_memory(team);
    team.job().devices().memory()->copies().fill(memory.address, 0, memory.bytes);
}

}  // namespace atl::stream
