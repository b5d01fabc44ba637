#include "common/text.hpp"

#include "common/clock.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

using namespace atl::common;

TEST(Text, WordsAreSeparatedBySpacesInAnyNumber) {
    const std::vector<std::string> words{"a", "bc", "d"};
    EXPECT_EQ(words_of("a bc d"), words);
    EXPECT_EQ(words_of("  a  bc d "), words);
    EXPECT_TRUE(words_of("").empty());
}

TEST(TimeOut, IsLimitedAtBothEnds) {
    EXPECT_EQ(timeout_ns(1.5), 1'500'000'000u);
    EXPECT_EQ(timeout_ns(-1), 0u);
    EXPECT_EQ(timeout_ns(std::numeric_limits<double>::infinity()), 1'000'000'000'000'000'000u);
}
