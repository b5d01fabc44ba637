// The host's collectives on arrays of the device heap, for members in the window or beyond.
#pragma once

#include "atoll/atoll.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace atl::testing {

/// `src` and `dst` have n_pes blocks of `count`; `set(to, values)` and `values(from, n)` write and read them.
/// Returns the result of fcollect: block i contains i + 1. `dst` keeps it.
template <class Set, class Values>
std::vector<int> expect_collectives_take(Job& job, int* dst, int* src, std::size_t count, Set&& set,
                                         Values&& values) {
    const auto n = static_cast<std::size_t>(job.n_pes());
    set(src, std::vector<int>(n * count, job.my_pe() + 1));
    job.world().barrier();
    const std::span<const int> in(src, count), all(src, n * count);
    const int sum = job.n_pes() * (job.n_pes() + 1) / 2;
    job.world().sum_reduce(std::span(dst, count), in);
    EXPECT_EQ(values(dst, count), std::vector<int>(count, sum));
    job.world().broadcast(std::span(dst, count), in, job.n_pes() - 1);
    EXPECT_EQ(values(dst, count), std::vector<int>(count, job.n_pes()));
    job.world().reduce_scatter(std::span(dst, count), all, ReduceOp::sum);
    EXPECT_EQ(values(dst, count), std::vector<int>(count, sum));
    std::vector<int> blocks;
    for (int pe = 0; pe < job.n_pes(); ++pe) blocks.insert(blocks.end(), count, pe + 1);
    job.world().fcollect(std::span(dst, n * count), in);
    EXPECT_EQ(values(dst, n * count), blocks);
    set(dst, std::vector<int>(n * count, 0));
    job.world().alltoall(std::span(dst, n * count), all);
    EXPECT_EQ(values(dst, n * count), blocks);
    return blocks;
}

}  // namespace atl::testing
