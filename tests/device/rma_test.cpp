// The RMA functions of kernels, with PEs as threads on the host heap: the same code, under the sanitizers.
#include "device/pes.hpp"

#include <algorithm>
#include <cstring>

namespace atl::testing {
namespace {

class DeviceFunctions : public ::testing::TestWithParam<int> {};

TEST_P(DeviceFunctions, ElementsReachEveryPe) {
    run_device_pes(GetParam(), [](Job& job) {
        SymmetricArray<double> x(job, static_cast<std::size_t>(job.n_pes()));
        const device::Team team = job.world().device(Memory::host);
        EXPECT_EQ(team.my_pe, job.my_pe());
        for (int pe = 0; pe < team.n_pes; ++pe)
            device::p(team, x.data() + team.my_pe, 100.0 * team.my_pe + pe, pe);
        job.world().barrier();
        for (int pe = 0; pe < team.n_pes; ++pe)
            for (int i = 0; i < team.n_pes; ++i) EXPECT_EQ(device::g(team, x.data() + i, pe), 100.0 * i + pe);
        job.world().barrier();
    });
}

TEST_P(DeviceFunctions, EverySmallSizeAtEveryAlignment) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr std::size_t room = 160;
        SymmetricArray<unsigned char> target(job, room);
        const device::Team team = job.world().device(Memory::host);
        std::vector<unsigned char> source(room), model(room), back(room);
        for (std::size_t i = 0; i < room; ++i) source[i] = static_cast<unsigned char>(7 * i + 1);
        for (std::size_t bytes = 0; bytes <= 130; ++bytes)
            for (const std::size_t to : {0u, 1u, 4u, 8u, 15u})
                for (const std::size_t from : {0u, 1u, 4u, 8u}) {
                    device::put(team, target.data() + to, source.data() + from, bytes, right_of(job));
                    if (bytes != 0) std::memcpy(model.data() + to, source.data() + from, bytes);
                    device::get(team, back.data(), target.data(), room, right_of(job));
                    ASSERT_EQ(back, model) << bytes << " bytes from " << from << " to " << to;
                }
        job.world().barrier();
    });
}

/// The compiler sees the whole address computation, so it may use type-based aliasing.
double moved_sum(double value) {
    alignas(16) static double from[8], to[8];
    for (double& e : to) e = 0;
    for (double& e : from) e = value;
    device::detail::copy(to, from, sizeof to, device::Thread{});
    double sum = 0;
    for (const double e : to) sum += e;
    return sum;
}
double moved_parts(double* to, double* from) {
    to[0] = to[1] = 0;
    from[0] = 5;
    from[1] = 6;
    for (unsigned i = 0; i < 2; ++i)
        device::detail::store_part(to, 16, i, device::detail::load_part(from, 16, i));
    return to[0] + to[1];
}

TEST(DeviceCopies, AreSeenByTheTypesOwner) {
    EXPECT_EQ(moved_sum(2.5), 20);
    double to[2], from[2];
    EXPECT_EQ(moved_parts(to, from), 11);
}

template <class T> void narrow(Job& job) {
    SymmetricArray<T> x(job, 3);
    const device::Team team = job.world().device(Memory::host);
    device::p(team, x.data() + 1, static_cast<T>(3 + job.my_pe()), right_of(job));
    job.world().barrier();
    EXPECT_EQ(x[0], T{});
    EXPECT_EQ(x[1], static_cast<T>(3 + left_of(job)));
    EXPECT_EQ(x[2], T{});
    EXPECT_EQ(device::g(team, x.data() + 1, right_of(job)), static_cast<T>(3 + job.my_pe()));
    job.world().barrier();
}

TEST_P(DeviceFunctions, NarrowAndWideElements) {
    run_device_pes(GetParam(), [](Job& job) {
        narrow<signed char>(job);
        narrow<unsigned short>(job);
        narrow<std::int64_t>(job);
        narrow<long double>(job);
    });
}

TEST_P(DeviceFunctions, AsyncPutsAreCompleteAfterQuiet) {
    run_device_pes(GetParam(), [](Job& job) {
        SymmetricArray<int> x(job, 5000);
        const device::Team team = job.world().device(Memory::host);
        std::vector<int> mine(5000, job.my_pe() + 1);
        device::async_put(team, x.data(), mine.data(), mine.size(), right_of(job));
        device::flush(team);
        std::fill(mine.begin(), mine.end(), -1);
        device::barrier(team);
        for (const int value : x.span()) ASSERT_EQ(value, left_of(job) + 1);
        job.world().barrier();
    });
}

TEST_P(DeviceFunctions, SignalsBringTheirData) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr std::size_t n = 33;
        constexpr std::uint64_t rounds = 200;
        SymmetricArray<int> data(job, n);
        SymmetricArray<std::uint64_t> signal(job, 1), credit(job, 1);
        const device::Team team = job.world().device(Memory::host);
        std::vector<int> mine(n);
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            std::fill(mine.begin(), mine.end(), static_cast<int>(round) * 10 + job.my_pe());
            device::signal_wait_until(team, credit.data(), device::Compare::ge, round - 1);
            device::put_signal(team, data.data(), mine.data(), n, signal.data(), round, right_of(job));
            device::signal_wait_until(team, signal.data(), device::Compare::ge, round);
            for (const int value : data.span()) ASSERT_EQ(value, static_cast<int>(round) * 10 + left_of(job));
            device::signal_set(team, credit.data(), round, left_of(job));
        }
        device::quiet(team);
        job.world().barrier();
    });
}

TEST_P(DeviceFunctions, TeamsCountTheirOwnPes) {
    run_device_pes(GetParam(), [](Job& job) {
        SymmetricArray<int> x(job, 1);
        const Team odd = job.world().split_strided(job.n_pes() > 1, 2, job.n_pes() / 2 + (job.n_pes() == 1));
        if (odd) {
            const device::Team team = odd.device(Memory::host);
            device::p(team, x.data(), 10 + team.my_pe, (team.my_pe + 1) % team.n_pes);
        }
        job.world().barrier();
        EXPECT_EQ(x[0] != 0, static_cast<bool>(odd));
        expect_error(ErrorCode::not_initialized, {"Memory::device"},
                     [&] { job.world().device(Memory::device); });
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DeviceFunctions, ::testing::ValuesIn(device_pe_counts()));

}  // namespace
}  // namespace atl::testing
