#include "memory/round_up.hpp"

#include <gtest/gtest.h>

using atl::memory::round_up;

TEST(RoundUp, GivesTheNextMultiple) {
    EXPECT_EQ(round_up(0, 64), 0u);
    EXPECT_EQ(round_up(1, 64), 64u);
    EXPECT_EQ(round_up(64, 64), 64u);
    EXPECT_EQ(round_up(65, 24), 72u);
}
