// A team's device memory for collectives and messages on streams.
#pragma once

#include "gpu/heap/device_memory.hpp"

namespace atl::core {

class TeamState;

/// Selects a new team's pages from those that all of its members offer. The result is the same on all
/// members.
gpu::GroupPages group_pages_for(const TeamState& team, std::uint64_t offered);
/// The team's memory in this PE's slot. Throws Error(unsupported) for a team that got none.
gpu::TeamPlaces::Place group_place(const TeamState& team);
/// Zeroes the memory again, once no member uses it any more.
void clear_group_place(const TeamState& team);

}  // namespace atl::core
