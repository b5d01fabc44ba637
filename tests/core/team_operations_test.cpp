// Element types of reductions: Team and StreamTeam take the same ones.
#include "atoll/stream.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <span>

namespace atl::testing {
namespace {

#define ATOLL_TAKES(name)                                               \
    template <class On, class T>                                        \
    concept name##_takes = requires(const On& on, std::span<T> array) { \
        on.name(array, array);                                          \
    }
ATOLL_TAKES(sum_reduce);
ATOLL_TAKES(prod_reduce);
ATOLL_TAKES(min_reduce);
ATOLL_TAKES(max_reduce);
ATOLL_TAKES(avg_reduce);
ATOLL_TAKES(xor_reduce);
ATOLL_TAKES(sum_inscan);
#undef ATOLL_TAKES

template <class On> constexpr bool has_the_types_of_reductions() {
    using Complex = std::complex<float>;
    return sum_reduce_takes<On, int> && sum_reduce_takes<On, Complex> && sum_reduce_takes<On, float16> &&
           !sum_reduce_takes<On, bool> && !prod_reduce_takes<On, bool> && !sum_inscan_takes<On, bool> &&
           min_reduce_takes<On, bfloat16> && !min_reduce_takes<On, bool> && !min_reduce_takes<On, Complex> &&
           max_reduce_takes<On, float16> && !max_reduce_takes<On, Complex> && !avg_reduce_takes<On, int> &&
           xor_reduce_takes<On, bool> && !xor_reduce_takes<On, float>;
}

TEST(TeamOperations, TeamsAndTheirStreamsTakeTheSameTypes) {
    EXPECT_TRUE(has_the_types_of_reductions<Team>());
    EXPECT_TRUE(has_the_types_of_reductions<StreamTeam>());
}

}  // namespace
}  // namespace atl::testing
