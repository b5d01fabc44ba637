// Shared by the two sources of near_only_test.cpp.
#pragma once

#include "atoll/device/detail/far.hpp"

namespace atl::testing {

using HasFar = bool(const device::Team&);
HasFar* has_far_of_near_only();

}  // namespace atl::testing
