// The start of a group, whose members are processes with no connection but a store, on one host or several.
#pragma once

#include "atoll/job.hpp"
#include "collective/members/members.hpp"

#include <string>
#include <vector>

namespace atl::requests {

/// A member that joins. The store's keys are this group's own.
struct Joining {
    JobOptions::Store store;
    int rank = 0;
    int n = 1;
    std::vector<int> names{};  ///< numbers of the members in errors; empty: their ranks
    std::string label{};       ///< the group's name, in reports of hangs

    int number(int member) const { return names.empty() ? member : names[static_cast<std::size_t>(member)]; }
};

/// Joins a group. Collective over its members; an error of one is an error of all. Members of one host share
/// memory. Throws Error.
Membership join(const Joining& joining);

}  // namespace atl::requests
