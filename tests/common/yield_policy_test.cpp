#include "common/yield_policy.hpp"

#include <gtest/gtest.h>

namespace atl::common {
namespace {

/// Counts the next waits that must sleep without a yield.
int without_yield(YieldPolicy& policy) {
    int waits = 0;
    while (!policy.allows()) ++waits;
    return waits;
}

TEST(YieldPolicy, WaitsYieldWhileYieldsAreShort) {
    YieldPolicy policy;
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(policy.allows());
        EXPECT_TRUE(policy.learn(YieldPolicy::long_ns - 1));
    }
}

TEST(YieldPolicy, EachLongYieldDoublesTheNumberOfWaitsWithoutOne) {
    YieldPolicy policy;
    for (const int expected : {1, 2, 4, 8, 16, 32, 32}) {
        EXPECT_FALSE(policy.learn(YieldPolicy::long_ns));
        EXPECT_EQ(without_yield(policy), expected);
    }
}

TEST(YieldPolicy, ShortYieldsReduceThatNumber) {
    YieldPolicy policy;
    for (int i = 0; i < 4; ++i) policy.learn(YieldPolicy::long_ns);
    EXPECT_EQ(without_yield(policy), 8);
    for (int i = 0; i < 5; ++i) policy.learn(0);
    policy.learn(YieldPolicy::long_ns);
    EXPECT_EQ(without_yield(policy), 11);
    for (int i = 0; i < 100; ++i) policy.learn(0);
    policy.learn(YieldPolicy::long_ns);
    EXPECT_EQ(without_yield(policy), 1);
}

}  // namespace
}  // namespace atl::common
