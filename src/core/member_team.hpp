// Teams that their members make among themselves, for OpenSHMEM's active sets.
#pragma once

#include "atoll/job.hpp"

#include <vector>

namespace atl::core {

/// The team of `members` (world PEs in order), called by these alone: nobody else need know. They find each
/// other through `word`, a symmetric word of the caller's, which is zero before and after. Throws Error:
/// invalid_argument where this PE is no member, out_of_memory.
ATOLL_API Team make_member_team(const Job& job, std::vector<int> members, long* word);

}  // namespace atl::core
