// The process's current job: init and finalize, and what may outlive them.
#include "atoll/ops.hpp"

#include <gtest/gtest.h>

namespace {

TEST(CurrentJob, AnArrayOfMainIsDestroyedAfterFinalize) {
    atl::SymmetricArray<int> x(atl::init(), 10);
    x[9] = 3;
    EXPECT_EQ(atoll::g(&x[9], 0), 3);
    atl::finalize();
    EXPECT_FALSE(atl::is_initialized());
}

TEST(CurrentJob, AnArrayOfAnEarlierJobDropsNothingOfTheNext) {
    {
        atl::SymmetricArray<int> earlier(atl::init(), 10);
        atl::finalize();
        atl::init();
    }
    const atl::SymmetricArray<int> first(atl::current_job(), 10), second(atl::current_job(), 10);
    EXPECT_EQ(atl::current_job().heap_use().blocks, 2u);
    EXPECT_NE(first.data(), second.data());
    atl::finalize();
}

}  // namespace
