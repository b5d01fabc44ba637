// Collectives of kernels, with PEs as threads on the host heap: each member against a model.
#include "device/pes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace atl::testing {
namespace {

using device::Order;

/// Element i of PE `pe`: differs between PEs, indices and calls.
template <class T> T value_of(int pe, std::size_t i, int call) {
    return static_cast<T>(1 + (static_cast<unsigned>(pe) * 37u + static_cast<unsigned>(i) * 11u +
                               static_cast<unsigned>(call) * 5u) %
                                  61u);
}

/// A team of the job on the host heap, and arrays of its own.
template <class T> struct Case {
    Case(Job& job, const Team& t, std::size_t count)
        : team(t.device(Memory::host)),
          n(count),
          n_pes(static_cast<std::size_t>(team.n_pes)),
          src(job, (n + 1) * static_cast<std::size_t>(job.n_pes())),
          dst(job, (n + 1) * static_cast<std::size_t>(job.n_pes())) {}

    void fill(int call) {
        for (std::size_t i = 0; i < n * n_pes; ++i) src[i] = value_of<T>(team.my_pe, i, call);
        std::fill(dst.span().begin(), dst.span().end(), T{});
    }
    template <class Expected> void expect(std::size_t count, const char* what, Expected expected) {
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(dst[i], expected(i)) << what << " of " << n << " elements, place " << i;
        ASSERT_EQ(dst[count], T{}) << what << " wrote past its end";
    }

    device::Team team;
    std::size_t n, n_pes;
    SymmetricArray<T> src, dst;
};

template <class T> void move_data(Case<T>& c) {
    const auto mine = static_cast<std::size_t>(c.team.my_pe);
    int call = 0;
    for (int root = 0; root < c.team.n_pes; ++root) {
        c.fill(++call);
        device::broadcast(c.team, c.dst.data(), c.src.data(), c.n, root);
        c.expect(c.n, "broadcast", [&](std::size_t i) { return value_of<T>(root, i, call); });
        device::sync(c.team);
    }
    c.fill(++call);
    device::fcollect(c.team, c.dst.data(), c.src.data(), c.n);
    c.expect(c.n * c.n_pes, "fcollect",
             [&](std::size_t i) { return value_of<T>(static_cast<int>(i / c.n), i % c.n, call); });
    device::sync(c.team);
    c.fill(++call);
    device::alltoall(c.team, c.dst.data(), c.src.data(), c.n);
    c.expect(c.n * c.n_pes, "alltoall", [&](std::size_t i) {
        return value_of<T>(static_cast<int>(i / c.n), mine * c.n + i % c.n, call);
    });
    device::sync(c.team);
}

/// Members contribute n, n - 1, … elements, down to 0.
template <class T> void collect_data(Case<T>& c) {
    const auto given = [&](std::size_t pe) { return c.n > pe ? c.n - pe : 0; };
    c.fill(50);
    std::vector<T> expected;
    for (std::size_t pe = 0; pe < c.n_pes; ++pe)
        for (std::size_t i = 0; i < given(pe); ++i)
            expected.push_back(value_of<T>(static_cast<int>(pe), i, 50));
    device::sync(c.team);
    const auto count = given(static_cast<std::size_t>(c.team.my_pe));
    EXPECT_EQ(device::collect(c.team, c.dst.data(), c.src.data(), count), expected.size());
    c.expect(expected.size(), "collect", [&](std::size_t i) { return expected[i]; });
    device::sync(c.team);
}

template <class T, class Op> void reductions(Case<T>& c, Op op, const char* name, int call) {
    const auto folded = [&](std::size_t i) {
        T so_far = value_of<T>(0, i, call);
        for (int pe = 1; pe < c.team.n_pes; ++pe) so_far = op(so_far, value_of<T>(pe, i, call));
        return so_far;
    };
    c.fill(call);
    device::sync(c.team);
    device::reduce(c.team, c.dst.data(), c.src.data(), c.n, op);
    c.expect(c.n, name, folded);
    device::sync(c.team);
    c.fill(call);
    device::reduce_scatter(c.team, c.dst.data(), c.src.data(), c.n, op);
    const std::size_t begin = c.n * static_cast<std::size_t>(c.team.my_pe);
    c.expect(c.n, name, [&](std::size_t i) { return folded(begin + i); });
    device::sync(c.team);
    c.fill(call);  // in place
    device::sync(c.team);
    device::reduce(c.team, c.src.data(), c.src.data(), c.n, op);
    for (std::size_t i = 0; i < c.n; ++i) ASSERT_EQ(c.src[i], folded(i)) << name << " in place";
    device::sync(c.team);
}

template <class T> void everything(Job& job, const Team& team, std::size_t n) {
    Case<T> c(job, team ? team : job.world(), n);  // allocation is the whole job's
    if (!team) return;
    move_data(c);
    collect_data(c);
    reductions(c, device::Sum{}, "sum", 101);
    reductions(c, device::Prod{}, "prod", 102);
    reductions(c, device::Min{}, "min", 103);
    reductions(c, device::Max{}, "max", 104);
    if constexpr (std::is_integral_v<T>) {
        reductions(c, device::And{}, "and", 105);
        reductions(c, device::Or{}, "or", 106);
        reductions(c, device::Xor{}, "xor", 107);
    }
}

/// None, one, odd, some, many.
template <class T> void every_size(Job& job, const Team& team) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{129}, std::size_t{1500}})
        everything<T>(job, team, n);
}

class DeviceCollectives : public ::testing::TestWithParam<int> {};

TEST_P(DeviceCollectives, OfTheWorldTeamAndOfEveryType) {
    run_device_pes(GetParam(), [](Job& job) {
        every_size<unsigned char>(job, job.world());
        every_size<short>(job, job.world());
        every_size<int>(job, job.world());
        every_size<std::int64_t>(job, job.world());
        every_size<float>(job, job.world());
        every_size<double>(job, job.world());
        job.world().barrier();
    });
}

TEST_P(DeviceCollectives, OfPartsOfIt) {
    run_device_pes(GetParam(), [](Job& job) {
        for (int round = 0; round < 3; ++round) {
            Team halves = job.world().split(job.my_pe() % 2, -job.my_pe());  // backwards
            every_size<int>(job, halves);
            halves.destroy();
        }
        const Team some = job.world().split(job.my_pe() % 3 == 1 ? -1 : 0);  // irregular steps
        every_size<float>(job, some);
        if (some) {
            const device::Team team = some.device(Memory::host), world = job.world().device(Memory::host);
            EXPECT_EQ(device::my_pe(team), some.my_pe());
            EXPECT_EQ(device::n_pes(team), some.n_pes());
            for (int pe = 0; pe < team.n_pes; ++pe) {
                EXPECT_EQ(device::translate_pe(team, pe, world), some.world_pe(pe));
                EXPECT_EQ(device::translate_pe(world, some.world_pe(pe), team), pe);
            }
            EXPECT_EQ(device::translate_pe(world, job.n_pes(), team), -1);
        }
        job.world().barrier();
    });
}

template <class Scope> void sum_and_share(const device::Team& team, Scope scope) {
    const long mine = team.my_pe + 1, n = team.n_pes;
    long all = 0, from_last = team.my_pe;
    device::reduce(team, &all, &mine, 1, device::Sum{}, scope);
    EXPECT_EQ(all, n * (n + 1) / 2);
    device::broadcast(team, &from_last, &from_last, 1, team.n_pes - 1, scope);
    EXPECT_EQ(from_last, n - 1);
    device::barrier(team, scope);
    EXPECT_EQ(scope.size(), 1U);
}

TEST_P(DeviceCollectives, OfEveryScopeByOneThreadOfTheHost) {
    run_device_pes(GetParam(), [](Job& job) {
        const device::Team team = job.world().device(Memory::host);
        sum_and_share(team, device::Warp{});
        sum_and_share(team, device::Warpgroup{});
        sum_and_share(team, device::Block{});
        sum_and_share(team, device::Grid{team});
    });
}

TEST_P(DeviceCollectives, TheSmallestSizeThatIsNotSmall) {
    run_device_pes(GetParam(), [](Job& job) {
        const device::Team team = job.world().device(Memory::host);
        std::size_t n = 1;
        while (device::is_small<double>(team, n + 1)) ++n;
        EXPECT_GE(n * 8, 2048u / static_cast<unsigned>(job.n_pes()));
        everything<double>(job, job.world(), n);
        everything<double>(job, job.world(), n + 1);
        job.world().barrier();
    });
}

TEST_P(DeviceCollectives, SyncOrdersWhatWasStored) {
    run_device_pes(GetParam(), [](Job& job) {
        SymmetricArray<int> x(job, static_cast<std::size_t>(job.n_pes()));
        const device::Team team = job.world().device(Memory::host);
        for (int round = 1; round <= 300; ++round) {
            for (int pe = 0; pe < team.n_pes; ++pe) device::put(team, x.data() + team.my_pe, &round, 1, pe);
            device::barrier(team);
            for (int pe = 0; pe < team.n_pes; ++pe) ASSERT_EQ(x[static_cast<std::size_t>(pe)], round);
            if (round % 2) device::sync(team, device::Thread{}, Order::relaxed);
            device::sync(team);
        }
        job.world().barrier();
    });
}

/// Flags of small collectives are 32 bits of their number, and wrap: words read then must not be very old
/// ones.
TEST_P(DeviceCollectives, NumbersBeginAgain) {
    run_device_pes(GetParam(), [](Job& job) {
        const device::Team team = job.world().device(Memory::host);
        const auto n = static_cast<std::size_t>(team.n_pes);
        const auto most =
            static_cast<std::size_t>(device::detail::Exchange<device::Thread>::most_bytes(team) / 8);
        std::vector<std::uint64_t> mine(most), all(n * most);
        const auto begin_at = [&](unsigned number) {
            job.world().barrier();
            team.control->exchange_epoch = number;
            job.world().barrier();
        };
        const auto collect = [&](std::uint64_t round, std::size_t count) {
            std::fill(mine.begin(), mine.end(), 1000 * round + static_cast<std::uint64_t>(job.my_pe()));
            device::fcollect(team, all.data(), mine.data(), count);
            for (std::size_t i = 0; i < n * count; ++i) ASSERT_EQ(all[i], 1000 * round + i / count) << i;
        };
        begin_at(0xbffffffdu);
        for (std::uint64_t round = 0; round < 8; ++round) collect(round, 1);
        begin_at(0xfffffffcu);
        for (std::uint64_t round = 10; round < 20; ++round) collect(round, round % 3 == 0 ? 1 : most);
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DeviceCollectives, ::testing::ValuesIn(device_pe_counts()));

}  // namespace
}  // namespace atl::testing
