// Sources of one program that differ in ATOLL_DEVICE_FAR: each has functions of its own. This one is of the
// kind that knows no far PEs, the others of this program know them.
#undef ATOLL_DEVICE_FAR
#include "device/two_kinds.hpp"

namespace atl::testing {

HasFar* has_far_of_near_only() { return device::detail::has_far; }

}  // namespace atl::testing
