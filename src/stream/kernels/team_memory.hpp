// A team's device memory for collectives and messages on streams.
#pragma once

#include "gpu/heap/device_memory.hpp"

namespace atl::core {
class TeamState;
}

namespace atl::stream {

/// The team's memory in this PE's slot. Throws Error(unsupported) for a team that got none.
gpu::TeamRanges::Range team_memory(const core::TeamState& team);
/// Zeroes the memory again, once no member uses it any more.
void clear_team_memory(const core::TeamState& team);

}  // namespace atl::stream
