// For objects of each PE's own team, from memory that must have one size on all PEs.
#pragma once

#include "core/job/job_state.hpp"

namespace atl::core {

/// Returns the size of the largest team for which a PE makes a mailbox. Collective over the world; `team` may
/// be empty.
int largest_team(Job& job, const Team& team);

}  // namespace atl::core
