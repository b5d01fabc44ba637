// Teams that only their members create, for OpenSHMEM's active sets.
#pragma once

#include "atoll/job.hpp"

#include <vector>

namespace atl::core {

/// Creates the team of `members` (world PEs in order). Only they call it; no other PE takes part. They meet
/// through `word`, a symmetric word of the caller that is zero before and after. Throws Error:
/// invalid_argument if this PE is not a member, out_of_memory.
ATOLL_API Team make_member_team(const Job& job, std::vector<int> members, long* word);

}  // namespace atl::core
