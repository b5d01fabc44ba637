// Sources of one program that differ in ATOLL_DEVICE_FAR have separate functions. This one does not support
// far PEs; the other sources of this program do.
#undef ATOLL_DEVICE_FAR
#include "device/two_kinds.hpp"

namespace atl::testing {

HasFar* has_far_of_near_only() { return device::detail::has_far; }

}  // namespace atl::testing
