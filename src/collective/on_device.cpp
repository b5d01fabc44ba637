#include "collective/on_device.hpp"

#include <cstring>
#include <string>

namespace atl::collective {

void agree_on_device(State& state, const char* operation, bool mine) {
    core::TeamState& team = state.team();
    const std::uint64_t flag = mine ? 1 : 0;
    static constexpr core::Called memory("where the arrays of a collective are");
    team.exchange(core::Called::named(operation, memory, {}), &flag, sizeof flag);
    for (int i = 0; i < team.n_pes(); ++i) {
        std::uint64_t theirs = 0;
        std::memcpy(&theirs, team.exchanged(i), sizeof theirs);
        if (theirs == flag) continue;
        const std::string me = "PE " + std::to_string(team.job().pe()),
                          them = "PE " + std::to_string(team.world_pe(i));
        throw Error(ErrorCode::collective_mismatch,
                    std::string(operation) + ": " + (mine ? me : them) + " passed device memory and " +
                        (mine ? them : me) +
                        " none; each member of a collective on GPUs passes at least one array in GPU memory "
                        "(dst or src).");
    }
}

}  // namespace atl::collective
