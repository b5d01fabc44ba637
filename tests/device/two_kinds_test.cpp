#include "device/two_kinds.hpp"

#include "atoll/device/control.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace atl::testing {
namespace {

TEST(DeviceKinds, AreKeptApart) {
    const auto control = std::make_unique<device::Control>();
    const auto ring = std::make_unique<device::FarRing>();
    control->far_ring = ring.get();
    const int slots[2] = {};
    const device::Team team{0, 2, nullptr, 0, 0, 0, 1, slots, control.get(), nullptr};
    HasFar* const mine = device::detail::has_far;
    EXPECT_NE(mine, has_far_of_near_only());
    EXPECT_TRUE(mine(team));
    EXPECT_FALSE(has_far_of_near_only()(team));
}

}  // namespace
}  // namespace atl::testing
