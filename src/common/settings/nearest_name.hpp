// Suggestions for misspelt names.
#pragma once

#include <string>
#include <vector>

namespace atl::common {

/// Returns the name in `known` with the fewest insertions, deletions, replacements and swaps of neighbours
/// from `name`. Empty if none of them is close enough to suggest.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

}  // namespace atl::common
