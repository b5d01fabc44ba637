// The functions of kernels, on PEs that only a transport reaches. Threads of the host take the place of a
// GPU's threads; the memory is the host's (tests/simulated).
#include "atoll/device/device.hpp"
#include "atoll/stream.hpp"
#include "support/device_far.hpp"
#include "support/multi_main.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace atl::testing {
namespace {

class DeviceFarKernels : public DeviceFar {
  protected:
    void SetUp() override {
        DeviceFar::SetUp();
        if (IsSkipped()) return;
        if (std::getenv("ATOLL_TEST_GPU")) GTEST_SKIP() << "threads of the host; tests/gpu has the kernels";
        job_.free(job_.malloc(1, Memory::device));
        team_ = job_.world().device(Memory::device);
    }
    bool is_far(int pe) const { return device::slot_of(team_, pe) < 0; }
    /// Runs `body` on `n` threads, like those of a kernel.
    static void on_threads(int n, const std::function<void(int)>& body) {
        std::vector<std::thread> threads;
        for (int i = 0; i < n; ++i) threads.emplace_back(body, i);
        for (std::thread& thread : threads) thread.join();
    }
    const int right_ = right_of(job_), left_ = left_of(job_), me_ = job_.my_pe();
    device::Team team_{};
};

TEST_F(DeviceFarKernels, PutsAndGetsOfAllSizes) {
    for (const std::size_t n : {0u, 1u, 3u, 16u, 17u, 255u, 256u, 257u, 1000u, 262144u, 300001u}) {
        auto* x = zeros<int>(n + 1);
        auto* y = zeros<int>(n + 1);
        set(x, numbers(n, me_));
        job_.world().barrier();
        device::put(team_, y, x, n, right_);
        device::quiet(team_);
        job_.world().barrier();
        EXPECT_EQ(values(y, n), numbers(n, left_)) << n;
        EXPECT_EQ(values(y + n, 1)[0], 0) << "behind the last";
        job_.world().barrier();
        device::get(team_, y, x, n, right_);
        EXPECT_EQ(values(y, n), numbers(n, right_)) << n;
        std::vector<int> back(n);  // a non-symmetric target of the kernel
        device::get_nbi(team_, back.data(), x, n, left_);
        device::put_nbi(team_, y, x, n, me_);
        device::quiet(team_);
        EXPECT_EQ(back, numbers(n, left_)) << n;
        EXPECT_EQ(values(y, n), numbers(n, me_)) << n;
        free({y, x});
    }
}

TEST_F(DeviceFarKernels, ElementsOfAllSizes) {
    auto* small = zeros<std::uint8_t>(4);
    auto* x = zeros<double>(8);
    struct Wide {
        double a[5];
    };
    auto* wide = zeros<Wide>(1);
    job_.world().barrier();
    device::p(team_, small + 1, static_cast<std::uint8_t>(me_ + 1), right_);
    device::p(team_, x + 3, 0.5 + me_, right_);
    device::p(team_, wide, Wide{{1, 2, 3, 4, 5.0 + me_}}, right_);
    device::quiet(team_);
    job_.world().barrier();
    EXPECT_EQ(values(small, 4), (std::vector<std::uint8_t>{0, static_cast<std::uint8_t>(left_ + 1), 0, 0}));
    EXPECT_EQ(values(x + 3, 1)[0], 0.5 + left_);
    EXPECT_EQ(device::g(team_, small + 1, right_), me_ + 1);
    EXPECT_EQ(device::g(team_, x + 3, right_), 0.5 + me_);
    EXPECT_EQ(device::g(team_, wide, right_).a[4], 5.0 + me_);
    free({wide, x, small});
}

TEST_F(DeviceFarKernels, StridedAndTiles) {
    constexpr std::size_t n = 500;
    auto* x = zeros<int>(4 * n);
    auto* y = zeros<int>(4 * n);
    set(x, numbers(4 * n, me_));
    job_.world().barrier();
    device::iput(team_, y, x, 3, 4, n, right_);
    device::quiet(team_);
    job_.world().barrier();
    const std::vector<int> theirs = numbers(4 * n, left_), found = values(y, 3 * n);
    for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(found[3 * i], theirs[4 * i]) << i;
        ASSERT_EQ(found[3 * i + 1], 0) << i;
    }
    job_.world().barrier();
    device::iget(team_, y, x, 2, 3, n, left_);
    EXPECT_EQ(values(y + 2 * (n - 1), 1)[0], theirs[3 * (n - 1)]);
    job_.world().barrier();
    const auto whole = device::make_tile(x, 20, 10, 40), there = device::make_tile(y, 20, 10, 50);
    device::tile_put(team_, there, whole, right_);
    device::quiet(team_);
    job_.world().barrier();
    EXPECT_EQ(values(y + 50 * 19 + 9, 1)[0], theirs[40 * 19 + 9]);
    device::tile_get(team_, device::make_tile(y, 20, 10, 10), whole, left_);
    EXPECT_EQ(values(y + 10 * 19 + 9, 1)[0], theirs[40 * 19 + 9]);
    free({y, x});
}

/// Data first, for any size, any kind of signal and any earlier put.
TEST_F(DeviceFarKernels, SignalsComeAfterTheirData) {
    auto* data = zeros<int>(70000);
    auto* before = zeros<int>(1);
    auto* mine = zeros<int>(70000);
    auto* signal = zeros<std::uint64_t>(1);
    auto* narrow = zeros<std::uint32_t>(1);
    std::uint64_t round = 0;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{200}, std::size_t{70000}})
        for (const bool nbi : {false, true}) {
            ++round;
            const int value = static_cast<int>(100 * round) + me_;
            set(mine, std::vector<int>(n, value));
            job_.world().barrier();
            device::p(team_, before, value, right_);
            if (nbi)
                device::put_signal_nbi(team_, data, mine, n, signal, 1, SignalOp::add, right_);
            else
                device::put_signal(team_, data, mine, n, signal, round, right_);
            device::signal_wait_until(team_, signal, Compare::ge, round);
            const int theirs = static_cast<int>(100 * round) + left_;
            EXPECT_EQ(values(data, n), std::vector<int>(n, theirs)) << n;
            EXPECT_EQ(values(before, 1)[0], theirs);
            device::quiet(team_);
            job_.world().barrier();
            device::put_signal(team_, data, mine, n, narrow, 1, SignalOp::add, left_);
            device::wait_until(team_, narrow, Compare::ge, static_cast<std::uint32_t>(round));
            EXPECT_EQ(values(data, n), std::vector<int>(n, static_cast<int>(100 * round) + right_)) << n;
            device::quiet(team_);
            job_.world().barrier();
        }
    device::signal_set(team_, signal, 1000, right_);
    device::signal_add(team_, signal, 7, right_);
    device::signal_wait_until(team_, signal, Compare::eq, 1007);
    device::quiet(team_);
    free({narrow, signal, mine, before, data});
}

TEST_F(DeviceFarKernels, AtomicsOfManyThreadsLoseNothing) {
    constexpr int threads = 4, each = 20;
    auto* sum = zeros<std::int64_t>(3);
    auto* real = zeros<double>(1);
    auto* word = zeros<int>(2);
    job_.world().barrier();
    on_threads(threads, [&](int) {
        std::int64_t last = -1;
        for (int i = 0; i < each; ++i) {
            const std::int64_t seen = device::atomic_fetch_add(team_, sum, 2, 0);
            EXPECT_GT(seen, last);
            last = seen;
            device::atomic_inc(team_, sum + 1, 0);
            device::atomic_add(team_, real, 0.25, 0);
        }
    });
    device::atomic_or(team_, sum + 2, std::int64_t{1} << me_, 0);
    device::quiet(team_);
    job_.world().barrier();
    const int all = threads * each * job_.n_pes();
    EXPECT_EQ(device::atomic_fetch(team_, sum, 0), 2 * all);
    EXPECT_EQ(device::atomic_fetch(team_, sum + 1, 0), all);
    EXPECT_EQ(device::atomic_fetch(team_, real, 0), 0.25 * all);
    EXPECT_EQ(device::atomic_fetch(team_, sum + 2, 0), (1 << job_.n_pes()) - 1);
    EXPECT_EQ(device::atomic_swap(team_, word, -5, right_), 0);
    EXPECT_EQ(device::atomic_compare_swap(team_, word, 4, 6, right_), -5);
    EXPECT_EQ(device::atomic_compare_swap(team_, word, -5, 6, right_), -5);
    EXPECT_EQ(device::atomic_fetch_xor(team_, word, 3, right_), 6);
    EXPECT_EQ(device::atomic_fetch_and(team_, word, 4, right_), 5);
    EXPECT_EQ(device::atomic_fetch_or(team_, word, 1, right_), 4);
    device::atomic_set(team_, word + 1, 9, right_);
    device::atomic_xor(team_, word + 1, 1, right_);
    device::atomic_and(team_, word + 1, 12, right_);
    device::quiet(team_);
    EXPECT_EQ(device::atomic_fetch(team_, word + 1, right_), 8);
    free({word, real, sum});
}

/// More requests than the ring has slots, from more threads than the ring needs to wrap around, with requests
/// of streams among them.
TEST_F(DeviceFarKernels, MoreRequestsThanSlots) {
    constexpr int threads = 8, each = 40;
    static_assert(threads * each > 4 * static_cast<int>(device::FarRing::n_slots));
    auto* x = zeros<int>(threads * each);
    auto* y = zeros<int>(threads);
    job_.world().barrier();
    const StreamContext on_stream(context_, Stream{});
    on_threads(threads, [&](int thread) {
        for (int i = 0; i < each; ++i)
            device::p(team_, x + thread * each + i, 1000 * me_ + thread * each + i, right_);
        if (thread % 2 == 0) on_stream.p(y + thread, me_ + 1, right_);
        device::quiet(team_);
    });
    on_stream.synchronize();
    job_.world().barrier();
    const std::vector<int> found = values(x, threads * each);
    for (int i = 0; i < threads * each; ++i) ASSERT_EQ(found[static_cast<std::size_t>(i)], 1000 * left_ + i);
    EXPECT_EQ(values(y, 3), (std::vector<int>{left_ + 1, 0, left_ + 1}));
    free({y, x});
}

TEST_F(DeviceFarKernels, FenceOrdersPuts) {
    auto* data = zeros<int>(5000);
    auto* mine = zeros<int>(5000);
    auto* flag = zeros<int>(1);
    for (int round = 1; round <= 20; ++round) {
        set(mine, std::vector<int>(5000, round));
        job_.world().barrier();
        device::put_nbi(team_, data, mine, 5000, right_);
        device::fence(team_);
        device::p(team_, flag, round, right_);
        device::wait_until(team_, flag, Compare::eq, round);
        ASSERT_EQ(values(data, 5000), std::vector<int>(5000, round));
        device::quiet(team_);
    }
    free({flag, mine, data});
}

TEST_F(DeviceFarKernels, FlushedSourcesMayBeWrittenAgain) {
    constexpr std::size_t n = 300000;
    auto* x = zeros<int>(2 * n);
    std::vector<int> mine(n);
    for (int round = 1; round <= 10; ++round) {
        for (std::size_t half = 0; half < 2; ++half) {
            std::fill(mine.begin(), mine.end(), 2 * round + static_cast<int>(half));
            device::put_nbi(team_, x + half * n, mine.data(), n, right_);
            device::flush(team_);
        }
        device::barrier(team_);
        for (std::size_t half = 0; half < 2; ++half)
            ASSERT_EQ(values(x + half * n, n), std::vector<int>(n, 2 * round + static_cast<int>(half)));
        device::barrier(team_);
    }
    free({x});
}

/// Members of several hosts synchronize; afterwards each sees the puts that the others made before.
TEST_F(DeviceFarKernels, SyncMeetsAndBarrierCompletes) {
    auto* x = zeros<int>(static_cast<std::size_t>(job_.n_pes()));
    job_.world().barrier();
    for (int round = 1; round <= 10; ++round) {
        for (int pe = 0; pe < job_.n_pes(); ++pe) device::p(team_, x + me_, 10 * round + me_, pe);
        device::barrier(team_);
        for (int pe = 0; pe < job_.n_pes(); ++pe)
            for (int i = 0; i < job_.n_pes(); ++i)
                ASSERT_EQ(device::g(team_, x + i, pe), 10 * round + i) << pe;
        device::sync(team_);
    }
    free({x});
}

TEST_F(DeviceFarKernels, WrongArgumentsAreNamed) {
    auto* x = zeros<int>(1000);
    expect_error(ErrorCode::pe, {"put for team PE " + std::to_string(job_.n_pes())},
                 [&] { device::put(team_, x, x, 1, job_.n_pes()); });
    for (int pe = 0; pe < job_.n_pes(); ++pe) {
        EXPECT_EQ(device::ptr(team_, x, pe) == nullptr, is_far(pe));
        EXPECT_EQ(device::translate_pe(team_, pe, team_), pe);
        if (!is_far(pe)) continue;
        const std::string name = "PE " + std::to_string(pe);
        const device::Mailbox box{reinterpret_cast<char*>(x), 8};
        expect_error(ErrorCode::unsupported, {"post", name, "window"},
                     [&] { device::post(team_, box, x, 1, pe); });
        expect_error(ErrorCode::unsupported, {"receive", name, "window"},
                     [&] { device::receive(team_, box, x, 1, pe); });
        expect_error(ErrorCode::unsupported, {"reduce", "PE ", "window"},
                     [&] { device::reduce(team_, x, x, 1, device::Sum{}); });
        expect_error(ErrorCode::unsupported, {"Functions of kernels on the host heap", "shared()"},
                     [&] { job_.world().device(Memory::host); });
    }
    free({x});
}

}  // namespace
}  // namespace atl::testing
