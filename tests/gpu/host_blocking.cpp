// Calls of the host on device memory that return when they are done: atomics, signals, waits, collectives.
#include "gpu/streams.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

class HostBlocking : public OnStream {};

TEST_F(HostBlocking, AtomicsReturnWhatStoodThere) {
    auto* sum = zeros<std::int64_t>(2);
    auto* real = zeros<float>(1);
    job_.world().barrier();
    std::int64_t last = -1;
    for (int i = 0; i < 30; ++i) {
        const std::int64_t seen = context_.atomic_fetch_add(sum, 2, 0);
        EXPECT_GT(seen, last);
        last = seen;
        context_.atomic_add(real, 0.25f, 0);
    }
    context_.atomic_or(sum + 1, std::int64_t{1} << job_.my_pe(), 0);
    job_.world().barrier();
    EXPECT_EQ(context_.atomic_fetch(sum, 0), 60 * job_.n_pes());
    EXPECT_EQ(context_.atomic_fetch(real, 0), 7.5f * static_cast<float>(job_.n_pes()));
    EXPECT_EQ(context_.atomic_fetch(sum + 1, 0), (1 << job_.n_pes()) - 1);
    job_.world().barrier();
    auto* word = zeros<std::uint32_t>(1);
    EXPECT_EQ(context_.atomic_swap(word, 5, job_.my_pe()), 0u);
    EXPECT_EQ(context_.atomic_compare_swap(word, 4, 6, job_.my_pe()), 5u);
    EXPECT_EQ(context_.atomic_compare_swap(word, 5, 6, job_.my_pe()), 5u);
    EXPECT_EQ(context_.atomic_fetch_xor(word, 3, job_.my_pe()), 6u);
    EXPECT_EQ(context_.atomic_fetch(word, job_.my_pe()), 5u);
    job_.world().barrier();
    for (void* block : {static_cast<void*>(word), static_cast<void*>(real), static_cast<void*>(sum)})
        job_.free(block);
}

TEST_F(HostBlocking, SignalsAndWaitsGoRoundTheRing) {
    auto* data = zeros<int>(1000);
    auto* signal = zeros<std::uint64_t>(1);
    job_.world().barrier();
    for (int round = 1; round <= 5; ++round) {
        const std::vector<int> mine(1000, 10 * round + job_.my_pe());
        context_.put_signal(data, mine.data(), mine.size(), signal, 1, SignalOp::add, right_of(job_));
        EXPECT_GE(context_.signal_wait_until(signal, Compare::ge, static_cast<std::uint64_t>(round)),
                  static_cast<std::uint64_t>(round));
        EXPECT_EQ(values(data, 1000), std::vector<int>(1000, 10 * round + left_of(job_)));
        job_.world().barrier();
    }
    EXPECT_EQ(context_.signal_fetch(signal), 5u);
    EXPECT_TRUE(context_.test(signal, Compare::eq, 5));
    EXPECT_FALSE(context_.test(signal, Compare::gt, 5));
    EXPECT_EQ(code_of([&] { context_.wait_until(signal, Compare::gt, 5, 0.05); }), ErrorCode::timeout);
    // A stream ends a wait of the host.
    on_stream().signal_set(signal, 9, job_.my_pe());
    EXPECT_EQ(context_.wait_until(signal, Compare::ge, 9), 9u);
    job_.world().barrier();
    job_.free(signal);
    job_.free(data);
}

TEST_F(HostBlocking, CollectivesTakeDeviceArrays) {
    const auto n = static_cast<std::size_t>(job_.n_pes());
    for (const std::size_t count : {1u, 1000u, 200000u}) {
        auto* src = zeros<int>(n * count);
        auto* dst = zeros<int>(n * count);
        set(src, std::vector<int>(n * count, job_.my_pe() + 1));
        job_.world().barrier();
        const std::span<const int> in(src, count), all(src, n * count);
        const int sum = job_.n_pes() * (job_.n_pes() + 1) / 2;
        job_.world().sum_reduce(std::span(dst, count), in);
        EXPECT_EQ(values(dst, count), std::vector<int>(count, sum));
        job_.world().broadcast(std::span(dst, count), in, job_.n_pes() - 1);
        EXPECT_EQ(values(dst, count), std::vector<int>(count, job_.n_pes()));
        job_.world().reduce_scatter(std::span(dst, count), all, ReduceOp::sum);
        EXPECT_EQ(values(dst, count), std::vector<int>(count, sum));
        std::vector<int> blocks;
        for (int pe = 0; pe < job_.n_pes(); ++pe) blocks.insert(blocks.end(), count, pe + 1);
        job_.world().fcollect(std::span(dst, n * count), in);
        EXPECT_EQ(values(dst, n * count), blocks);
        set(dst, std::vector<int>(n * count, 0));
        job_.world().alltoall(std::span(dst, n * count), all);
        EXPECT_EQ(values(dst, n * count), blocks);
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
}

TEST_F(HostBlocking, WhatHasNoFormOnGpusSaysSo) {
    auto* x = zeros<std::uint64_t>(8);
    std::vector<std::uint64_t> host(8);
    const std::span<const std::uint64_t> in(x, 4);
    EXPECT_EQ(code_of([&] { job_.world().sum_inscan(std::span(x, 4), in); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { job_.world().reduce_to(std::span(x, 4), in, ReduceOp::sum, 0); }),
              ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { job_.world().collect(std::span(x, 4), in.first(1)); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { job_.world().alltoalls(x, x, 1, 1, 1); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { context_.wait_until_all(x, 8, nullptr, Compare::eq, 0); }),
              ErrorCode::not_symmetric);
    EXPECT_EQ(
        code_of([&] { job_.world().sum_reduce(std::span(host), std::span<const std::uint64_t>(x, 8)); }),
        ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] {
                  context_.atomic_inc(reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(x) + 4), 0);
              }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { context_.atomic_inc(x + 8, 0); }), ErrorCode::use_after_free) << "in no block";
    job_.world().barrier();
    job_.free(x);
}

}  // namespace
}  // namespace atl::testing
