// The beginnings of PeDoing::text of a PE whose GPU waits.
#pragma once

#include <string_view>

namespace atl::common {

/// The PE itself may wait for that, in a call of CUDA's.
inline constexpr std::string_view beside_gpu = "running, and its GPU waits: ";
/// The PE waits for its GPU in a call of ours.
inline constexpr std::string_view its_gpu = "its GPU waits: ";

/// In the place of a site: a PE of atoll.Pool that runs no call.
inline constexpr std::string_view idle_in_pool = "between calls of the pool";

}  // namespace atl::common
