// Blocking calls of the host on device memory: atomics, signals, waits, collectives.
#include "gpu/streams.hpp"
#include "support/device_collectives.hpp"
#include "support/multi_main.hpp"

#include <thread>

namespace atl::testing {
namespace {

class HostBlocking : public OnStream {};

TEST_F(HostBlocking, AtomicsReturnThePreviousValue) {
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
        expect_collectives_take(
            job_, dst, src, count, [&](int* to, const std::vector<int>& from) { set(to, from); },
            [&](const int* from, std::size_t m) { return values(from, m); });
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
}

/// Arrays at different offsets on different PEs: in cudaMalloc, in the host heap, ordinary and pinned.
TEST_F(HostBlocking, CollectivesTakeArraysFromAnywhere) {
    const auto n = static_cast<std::size_t>(job_.n_pes());
    const auto me = static_cast<std::size_t>(job_.my_pe());
    for (const std::size_t count : {1u, 3000u, 300001u}) {
        const std::size_t bytes = n * count * sizeof(int);
        auto* on_gpu = zeros<int>(n * count + 16) + job_.my_pe();
        auto* on_host = static_cast<int*>(job_.malloc(bytes));
        std::vector<int> ordinary(n * count);
        void* plain = nullptr;
        void* pinned = nullptr;
        check_cuda(cudaMalloc(&plain, bytes));
        check_cuda(cudaMallocHost(&pinned, bytes));
        int turn = 0;
        for (int* other : {on_host, ordinary.data(), static_cast<int*>(plain), static_cast<int*>(pinned)}) {
            int* dst = ++turn % 2 == 0 ? on_gpu : other;
            int* src = turn % 2 == 0 ? other : on_gpu;
            std::vector<int> mine(n * count);
            for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<int>(i % 1000 + 1000 * me);
            set(src, mine);
            job_.world().barrier();
            job_.world().sum_reduce(std::span(dst, count), std::span<const int>(src, count));
            const std::size_t last = count - 1;
            std::size_t sum = 0;
            for (std::size_t pe = 0; pe < n; ++pe) sum += last % 1000 + 1000 * pe;
            EXPECT_EQ(values(dst, count)[last], static_cast<int>(sum)) << count << ", turn " << turn;
            job_.world().alltoall(std::span(dst, n * count), std::span<const int>(src, n * count));
            for (std::size_t pe = 0; pe < n; ++pe)
                EXPECT_EQ(values(dst, n * count)[pe * count + last],
                          static_cast<int>((me * count + last) % 1000 + 1000 * pe))
                    << count << ", turn " << turn;
            job_.world().broadcast(std::span(dst, count), std::span<const int>(src, count), 0);
            EXPECT_EQ(values(dst, count)[last], static_cast<int>(last % 1000));
            job_.world().barrier();
        }
        check_cuda(cudaFree(plain));
        check_cuda(cudaFreeHost(pinned));
        job_.free(on_host);
        job_.free(on_gpu - job_.my_pe());
    }
}

TEST_F(HostBlocking, TwoThreadsInTwoTeamsDoNotWaitForOneAnother) {
    if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU take turns";
    Team teams[2] = {job_.world().split(0), job_.world().split(0, -job_.my_pe())};
    float* x[2] = {zeros<float>(100000), zeros<float>(100000)};
    job_.world().barrier();
    const auto rounds = [&](int which) {
        check_cuda(cudaSetDevice(job_.device_heap_use().number));
        for (int i = 0; i < 300; ++i) {
            const std::size_t n = i % 3 == 0 ? 100000 : 17;
            teams[which].max_reduce(std::span(x[which], n), std::span<const float>(x[which], n));
        }
    };
    std::thread other([&] { rounds(1); });
    rounds(0);
    other.join();
    for (Team& team : teams) team.destroy();
    job_.world().barrier();
    for (float* block : x) job_.free(block);
}

template <class T> std::vector<T> all_of(std::size_t n, double value) {
    if constexpr (std::is_same_v<T, float16>)  // 1, 2, 3, 4 and 1.5 times a power of two are exact
        return std::vector<T>(n, T{static_cast<std::uint16_t>(value == 1   ? 0x3c00
                                                              : value == 2 ? 0x4000
                                                                           : 0x3e00)});
    else if constexpr (std::is_same_v<T, bfloat16>)
        return std::vector<T>(n, T{static_cast<std::uint16_t>(value == 1   ? 0x3f80
                                                              : value == 2 ? 0x4000
                                                                           : 0x3fc0)});
    else
        return std::vector<T>(n, static_cast<T>(value));
}
template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST_F(HostBlocking, AveragesAndScaledSums) {
    const auto check = [&]<class T>(T) {
        for (const std::size_t n : {std::size_t{9}, std::size_t{400000}}) {
            T* x = zeros<T>(n);
            T* y = zeros<T>(n);
            // The mean of 1 and 2 in equal numbers, else of ones; and the sum of 0.5 times n ones.
            const bool pairs = job_.n_pes() % 2 == 0;
            set(x, all_of<T>(n, pairs && job_.my_pe() % 2 == 1 ? 2 : 1));
            job_.world().barrier();
            job_.world().avg_reduce(std::span(y, n), std::span<const T>(x, n));
            EXPECT_TRUE(same(values(y, n), all_of<T>(n, pairs ? 1.5 : 1))) << "host, " << n;
            team_on_stream().avg_reduce(std::span(y, n), std::span<const T>(x, n));
            finish();
            EXPECT_TRUE(same(values(y, n), all_of<T>(n, pairs ? 1.5 : 1))) << "stream, " << n;
            set(x, all_of<T>(n, 2));
            job_.world().barrier();
            const double factor = 1.0 / job_.n_pes();
            if ((job_.n_pes() & (job_.n_pes() - 1)) == 0) {
                job_.world().premul_sum_reduce(std::span(y, n), std::span<const T>(x, n), factor);
                EXPECT_TRUE(same(values(y, n), all_of<T>(n, 2))) << "scaled, host, " << n;
                team_on_stream().premul_sum_reduce(std::span(y, n), std::span<const T>(x, n), factor / 2);
                finish();
                EXPECT_TRUE(same(values(y, n), all_of<T>(n, 1))) << "scaled, stream, " << n;
                const auto part = n / static_cast<std::size_t>(job_.n_pes());
                const std::span<const T> blocks(x, part * static_cast<std::size_t>(job_.n_pes()));
                job_.world().reduce_scatter(std::span(y, part), blocks, ReduceOp::avg);
                EXPECT_TRUE(same(values(y, part), all_of<T>(part, 2))) << "mean of parts, host, " << n;
                job_.world().premul_sum_reduce_scatter(std::span(y, part), blocks, factor);
                EXPECT_TRUE(same(values(y, part), all_of<T>(part, 2))) << "scaled parts, host, " << n;
                set(y, all_of<T>(n, 7));
                team_on_stream().reduce_scatter(std::span(y, part), blocks, ReduceOp::avg);
                finish();
                EXPECT_TRUE(same(values(y, part), all_of<T>(part, 2))) << "mean of parts, stream, " << n;
                team_on_stream().premul_sum_reduce_scatter(std::span(y, part), blocks, factor / 2);
                finish();
                EXPECT_TRUE(same(values(y, part), all_of<T>(part, 1))) << "scaled parts, stream, " << n;
                EXPECT_TRUE(same(values(y + part, n - part), all_of<T>(n - part, part == n ? 0 : 7)));
            }
            job_.world().barrier();
            job_.free(y);
            job_.free(x);
        }
    };
    check(float{});
    check(double{});
    check(float16{});
    check(bfloat16{});
    auto* whole = zeros<int>(8);
    EXPECT_EQ(code_of([&] {
                  job_.world().reduce(std::span(whole, 4), std::span<const int>(whole, 4), ReduceOp::avg);
              }),
              ErrorCode::dtype_mismatch);
    job_.free(whole);
}

TEST_F(HostBlocking, OverlapsAndWrongAddressesAreRefused) {
    auto* x = zeros<std::uint64_t>(8);
    const std::span<const std::uint64_t> in(x, 4);
    EXPECT_EQ(code_of([&] { job_.world().collect(std::span(x, 4), in.first(1)); }),
              ErrorCode::invalid_argument)
        << "overlap";
    EXPECT_EQ(code_of([&] { job_.world().alltoalls(x, x, 1, 1, 1); }), ErrorCode::invalid_argument)
        << "overlap";
    EXPECT_EQ(code_of([&] { job_.world().sum_reduce(std::span(x + 1, 4), in); }), ErrorCode::invalid_argument)
        << "overlap";
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
