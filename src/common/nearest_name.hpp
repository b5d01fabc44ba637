// Finds what somebody meant by a misspelt name.
#pragma once

#include <string>
#include <vector>

namespace atl::common {

/// The one of `known` that is fewest insertions, deletions, replacements and swaps of neighbours away from
/// `name`; empty when none is near enough to be worth suggesting.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

}  // namespace atl::common
