// The end of an error about memory that is not symmetric.
#pragma once

#include <string_view>

namespace atl::core {

/// The names of C++ that make symmetric memory. The fronts of C replace them by theirs.
inline constexpr std::string_view allocators = "malloc or allocate of the job, or a SymmetricArray";

}  // namespace atl::core
