// The host's operations on device heaps of PEs outside the window: on other hosts, or on simulated ones. The
// GPU is simulated in memory of the host (tests/simulated); ATOLL_TEST_GPU selects a real one.
#include "support/device_far.hpp"
#include "atoll/stream.hpp"
#include "support/device_collectives.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

TEST_F(DeviceFar, PutsAndGetsOfAllSizes) {
    const int right = right_of(job_), left = left_of(job_), me = job_.my_pe();
    for (const std::size_t n : {1u, 2u, 1000u, 1009u, 9000u, 262144u, 262145u, 700001u}) {
        auto* x = zeros<int>(n + 1);
        auto* y = zeros<int>(n + 1);
        auto* host = static_cast<int*>(job_.malloc(n * sizeof(int)));
        set(x, numbers(n, me));
        job_.world().barrier();
        context_.put(y, numbers(n, me).data(), n, right);  // from the host
        context_.quiet();
        job_.world().barrier();
        EXPECT_EQ(values(y, n), numbers(n, left)) << n;
        EXPECT_EQ(values(y + n, 1)[0], 0) << "behind the last";
        job_.world().barrier();
        std::vector<int> got(n);
        context_.get(got.data(), x, n, left);
        EXPECT_EQ(got, numbers(n, left)) << n;
        context_.get(y, x, n, right);  // onto this PE's GPU
        EXPECT_EQ(values(y, n), numbers(n, right)) << n;
        context_.get_nbi(host, x, n, left);
        context_.quiet();
        EXPECT_EQ(std::vector<int>(host, host + n), numbers(n, left));
        job_.world().barrier();
        context_.put_nbi(y, x, n, left);  // from this PE's GPU
        context_.quiet();
        job_.world().barrier();
        EXPECT_EQ(values(y, n), numbers(n, right)) << n;
        if (!job_.state().topology().has_window_to(left) &&
            !job_.state().topology().has_window_to(right)) {  // and between the two heaps
            context_.get(y, host, n, right);
            EXPECT_EQ(values(y, n), numbers(n, me)) << n;
            job_.world().barrier();
            context_.put(host, x, n, left);
            context_.quiet();
        } else {
            job_.world().barrier();
        }
        job_.world().barrier();
        free({host, y, x});
    }
}

TEST_F(DeviceFar, SingleElementsAndStridedBlocks) {
    const int right = right_of(job_), left = left_of(job_), me = job_.my_pe();
    constexpr std::size_t n = 3000;
    auto* x = zeros<int>(4 * n);
    auto* y = zeros<int>(4 * n);
    auto* small = zeros<std::uint8_t>(2);
    set(x, numbers(4 * n, me));
    job_.world().barrier();
    context_.p(small, static_cast<std::uint8_t>(me + 1), right);
    context_.quiet();
    job_.world().barrier();
    EXPECT_EQ(context_.g(small, me), left + 1);
    EXPECT_EQ(context_.g(small, right), me + 1);
    EXPECT_EQ(context_.g(x + 17, right), numbers(18, right)[17]);
    for (const bool from_gpu : {false, true}) {
        const std::vector<int> mine = numbers(4 * n, me);
        context_.iput(y, from_gpu ? x : mine.data(), 3, 4, n, right);
        context_.quiet();
        job_.world().barrier();
        const std::vector<int> found = values(y, 3 * n);
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(found[3 * i], numbers(4 * n, left)[4 * i]) << i;
            ASSERT_EQ(found[3 * i + 1], 0) << i;
        }
        job_.world().barrier();
        std::vector<int> got(3 * n, -1);
        int* to = from_gpu ? y : got.data();
        context_.ibget(to, x, 3, 4, 2, n, left);
        const std::vector<int> seen = from_gpu ? values(y, 3 * n) : got;
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(seen[3 * i], numbers(4 * n, left)[4 * i]) << i;
            ASSERT_EQ(seen[3 * i + 1], numbers(4 * n, left)[4 * i + 1]) << i;
        }
        job_.world().barrier();
        set(y, std::vector<int>(4 * n, 0));
        job_.world().barrier();
    }
    // Blocks larger than a message, and larger than the staging memory.
    constexpr std::size_t large = 300000;
    auto* wide = zeros<int>(3 * large);
    const std::vector<int> mine = numbers(2 * large, me);
    job_.world().barrier();
    context_.ibput(wide, mine.data(), 2 * large, large, large, 2, right);
    context_.ibput(wide + large, mine.data(), 2000, 2000, 2000, 3, right);
    context_.quiet();
    job_.world().barrier();
    const std::vector<int> theirs = numbers(2 * large, left);
    EXPECT_EQ(values(wide + 2 * large, large), std::vector<int>(theirs.begin() + large, theirs.end()));
    EXPECT_EQ(values(wide + large, 6000), numbers(6000, left));
    free({wide, small, y, x});
}

/// PEs of this host and of others update one word: no update is lost, floats included.
TEST_F(DeviceFar, AtomicsHaveOneOwner) {
    auto* sum = zeros<std::int64_t>(2);
    auto* real = zeros<double>(1);
    auto* narrow = zeros<float>(1);
    job_.world().barrier();
    std::int64_t last = -1;
    for (int i = 0; i < 50; ++i) {
        const std::int64_t seen = context_.atomic_fetch_add(sum, 2, 0);
        EXPECT_GT(seen, last);
        last = seen;
        context_.atomic_add(real, 0.25, 0);
        context_.atomic_add(narrow, 0.5f, job_.n_pes() - 1);
    }
    context_.atomic_or(sum + 1, std::int64_t{1} << job_.my_pe(), 0);
    context_.quiet();
    job_.world().barrier();
    EXPECT_EQ(context_.atomic_fetch(sum, 0), 100 * job_.n_pes());
    EXPECT_EQ(context_.atomic_fetch(real, 0), 12.5 * job_.n_pes());
    EXPECT_EQ(context_.atomic_fetch(narrow, job_.n_pes() - 1), 25.0f * static_cast<float>(job_.n_pes()));
    EXPECT_EQ(context_.atomic_fetch(sum + 1, 0), (1 << job_.n_pes()) - 1);
    job_.world().barrier();
    const int right = right_of(job_);
    auto* word = zeros<std::uint32_t>(1);
    EXPECT_EQ(context_.atomic_swap(word, 5, right), 0u);
    EXPECT_EQ(context_.atomic_compare_swap(word, 4, 6, right), 5u);
    EXPECT_EQ(context_.atomic_compare_swap(word, 5, 6, right), 5u);
    EXPECT_EQ(context_.atomic_fetch_xor(word, 3, right), 6u);
    context_.atomic_set(word, 9, right);
    std::uint32_t later = 0;
    context_.atomic_fetch_add_nbi(&later, word, 1, right);
    context_.quiet();
    EXPECT_EQ(later, 9u);
    EXPECT_EQ(context_.atomic_fetch(word, right), 10u);
    free({word, narrow, real, sum});
}

/// Data and signal may each be in either heap.
TEST_F(DeviceFar, SignalsComeAfterTheirData) {
    for (const bool data_there : {true, false})
        for (const bool signal_there : {true, false}) {
            for (const std::size_t n : {0u, 1u, 1000u, 100000u}) {
                const Memory of_data = data_there ? Memory::device : Memory::host;
                auto* data = static_cast<int*>(job_.calloc(n + 1, sizeof(int), of_data));
                auto* signal = static_cast<std::uint64_t*>(
                    job_.calloc(1, sizeof(std::uint64_t), signal_there ? Memory::device : Memory::host));
                job_.world().barrier();
                for (int round = 1; round <= 3; ++round) {
                    const std::vector<int> mine(n, 10 * round + job_.my_pe());
                    context_.put_signal(data, mine.data(), n, signal, 1, SignalOp::add, right_of(job_));
                    EXPECT_GE(
                        context_.signal_wait_until(signal, Compare::ge, static_cast<std::uint64_t>(round)),
                        static_cast<std::uint64_t>(round));
                    EXPECT_EQ(values(data, n), std::vector<int>(n, 10 * round + left_of(job_)));
                    job_.world().barrier();
                }
                context_.signal_set(signal, 77, right_of(job_));
                context_.wait_until(signal, Compare::eq, 77);
                EXPECT_EQ(context_.signal_fetch(signal), 77u);
                EXPECT_TRUE(context_.test(signal, Compare::eq, 77));
                free({signal, data});
            }
        }
}

/// fence orders data on the GPU before a flag in the host heap, and the other way round.
TEST_F(DeviceFar, FenceOrdersBothHeaps) {
    auto* data = zeros<int>(5000);
    auto* flag = static_cast<int*>(job_.calloc(1, sizeof(int)));
    auto* far_flag = zeros<int>(1);
    for (int round = 1; round <= 20; ++round) {
        job_.world().barrier();
        context_.put_nbi(data, std::vector<int>(5000, round).data(), 5000, right_of(job_));
        context_.fence();
        context_.p(round % 2 == 0 ? flag : far_flag, round, right_of(job_));
        context_.wait_until(round % 2 == 0 ? flag : far_flag, Compare::eq, round);
        ASSERT_EQ(values(data, 5000), std::vector<int>(5000, round));
    }
    free({far_flag, flag, data});
}

TEST_F(DeviceFar, CollectivesTakeDeviceArrays) {
    const auto n = static_cast<std::size_t>(job_.n_pes());
    const auto me = static_cast<std::size_t>(job_.my_pe());
    for (const std::size_t count : {1u, 1000u, 50000u}) {
        auto* src = zeros<int>(n * count);
        auto* dst = zeros<int>(n * count);
        const std::vector<int> blocks = expect_collectives_take(
            job_, dst, src, count, [&](int* to, const std::vector<int>& from) { set(to, from); },
            [&](const int* from, std::size_t m) { return values(from, m); });
        const std::span<const int> in(src, count);
        job_.world().scatter(std::span(dst, count), std::span<const int>(dst, n * count), 0);
        EXPECT_EQ(values(dst, count), std::vector<int>(count, job_.my_pe() + 1));
        const bool root = me == n - 1;
        job_.world().gather(std::span(root ? dst : nullptr, root ? n * count : 0), in, job_.n_pes() - 1);
        if (root) {
            EXPECT_EQ(values(dst, n * count), blocks);
        }
        free({dst, src});
    }
}

/// The same in stream order, through the window or the host.
TEST_F(DeviceFar, StreamsReachEveryPe) {
    const int right = right_of(job_), left = left_of(job_), me = job_.my_pe();
    auto* x = zeros<int>(300000);
    auto* y = zeros<int>(300000);
    auto* signal = zeros<std::uint64_t>(2);
    auto* word = zeros<std::int64_t>(4);
    auto* real = zeros<float>(1);
    auto* small = zeros<std::uint8_t>(1);
    set(x, numbers(300000, me));
    job_.world().barrier();
    const StreamContext on_stream(context_, Stream{});
    for (const std::size_t n : {1u, 1000u, 300000u}) {
        on_stream.put(y, x, n, right);
        on_stream.signal_add(signal, 1, right);
        on_stream.signal_consume(signal, 1);
        on_stream.synchronize();
        EXPECT_EQ(values(y, n), numbers(n, left));
        job_.world().barrier();
        on_stream.get(y, x, n, right);
        on_stream.synchronize();
        EXPECT_EQ(values(y, n), numbers(n, right));
        job_.world().barrier();
        on_stream.put_signal(y, x, n, signal, 5, SignalOp::set, left);
        on_stream.signal_wait_until(signal, Compare::eq, 5);
        on_stream.synchronize();
        EXPECT_EQ(values(y, n), numbers(n, right));
        job_.world().barrier();
        on_stream.signal_set(signal, 0, me);
        on_stream.synchronize();
        job_.world().barrier();
    }
    on_stream.p(small, static_cast<std::uint8_t>(me + 3), right);
    on_stream.atomic_add(word, 2, 0);
    on_stream.atomic_fetch_add(word + 1, word + 2, 7, right);
    on_stream.atomic_compare_swap(word + 3, word + 2, 7, 8, right);
    on_stream.atomic_add(real, 0.5f, 0);
    on_stream.iput(y, x, 3, 2, 1000, right);
    on_stream.synchronize();
    job_.world().barrier();
    EXPECT_EQ(values(small, 1)[0], left + 3);
    EXPECT_EQ(values(word + 1, 3), (std::vector<std::int64_t>{0, 8, 7}));
    if (me == 0) {
        EXPECT_EQ(values(word, 1)[0], 2 * job_.n_pes());
        EXPECT_EQ(values(real, 1)[0], 0.5f * static_cast<float>(job_.n_pes()));
    }
    EXPECT_EQ(values(y + 3 * 999, 1)[0], numbers(2000, left)[2 * 999]);
    job_.world().barrier();
    on_stream.iget(y, x, 2, 3, 1000, left);
    on_stream.synchronize();
    EXPECT_EQ(values(y + 2 * 999, 1)[0], numbers(3000, left)[3 * 999]);
    free({small, real, word, signal, y, x});
}

TEST_F(DeviceFar, WrongArgumentsAreNamed) {
    auto* x = zeros<std::uint64_t>(8);
    job_.world().barrier();
    expect_error(ErrorCode::use_after_free, {"device heap"},
                 [&] { context_.atomic_inc(x + 8, right_of(job_)); });
    expect_error(ErrorCode::pe, {}, [&] { context_.p(x, std::uint64_t{1}, job_.n_pes()); });
    bool far = false;
    for (int pe = 0; pe < job_.n_pes(); ++pe) {
        if (!job_.state().topology().maps(pe)) {
            EXPECT_EQ(context_.ptr(x, pe), nullptr);
        }
        far = far || !job_.state().topology().has_window_to(pe);
    }
    if (far) {
        expect_error(ErrorCode::unsupported, {"window", "shared()"},
                     [&] { job_.world().device(Memory::host); });
    }
    free({x});
}

}  // namespace
}  // namespace atl::testing
