// What each PE makes for its own team, of memory that must be as large on all.
#pragma once

#include "core/job_state.hpp"

namespace atl::core {

/// The size of the largest of the teams that the PEs make a mailbox for. Collective over the world; `team`
/// may be empty.
int largest_team(Job& job, const Team& team);

}  // namespace atl::core
