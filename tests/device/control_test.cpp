// Team::control: a place for each team, and the end of waits by the job's end or a bound.
#include "atoll/device/device.hpp"

#include "support/setups.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <thread>

namespace atl::testing {
namespace {

using device::Compare;

/// Sets the bound from now on, since the setup of a test may take as long as a busy machine needs.
void bound_waits(Job& job, double seconds) {
    const_cast<common::Settings&>(job.state().settings()).wait_timeout_s = seconds;
}

TEST(DeviceControl, PlacesComeBackWithTheirTeams) {
    run_pes(3, [](Job& job) {
        for (int i = 0; i < 200; ++i) {
            Team pair = job.world().split(job.my_pe() == i % 3 ? -1 : 0);
            if (!pair) continue;
            const device::Team team = pair.device(Memory::host);
            int mine = 10 * i + team.my_pe, all[2] = {};
            device::fcollect(team, all, &mine, 1);
            EXPECT_EQ(all[0] + 1, all[1]);
            EXPECT_EQ(all[team.my_pe], mine);
            pair.destroy();
        }
        job.world().barrier();
    });
}

/// More than a hundred by default, then an error with what a team costs. More memory is more teams.
TEST(DeviceControl, TeamsTakeMemoryUntilItIsExhausted) {
    std::size_t with_default = 0;
    for (const std::size_t mib : {2, 8}) {
        ThreadJobOptions options;
        options.team_bytes = mib << 20;
        run_pes(
            2,
            [&](Job& job) {
                std::vector<Team> teams;
                do teams.push_back(job.world().split(0));
                while (teams.back().state().kernels.has_range());
                const Team none = teams.back();
                teams.pop_back();
                EXPECT_EQ(teams.size() + 1, (mib << 20) / device::ControlLayout{2}.bytes());
                if (job.my_pe() == 0 && mib == 2) with_default = teams.size();
                EXPECT_GT(teams.size(), 100u);
                for (const Team& team : teams) device::sync(team.device(Memory::host));
                expect_error(ErrorCode::unsupported,
                             {"It needs ", "on each of its 2 PEs", "MiB together", "ATOLL_TEAM_MEMORY"},
                             [&] { static_cast<void>(none.device(Memory::host)); });
                none.sync();  // on the host it works
                teams[20].destroy();
                const Team again = job.world().split(0);
                device::sync(again.device(Memory::host));
                job.world().barrier();
            },
            options);
    }
    EXPECT_GT(with_default, 100u);
}

/// A team of more PEs than share the usual slots. Every collective, small and large, and teams of its
/// members.
TEST(DeviceControl, ATeamHasAnyNumberOfMembers) {
    constexpr int n = 80;
    run_pes(n, [](Job& job) {
        using Word = unsigned long long;
        const int me = job.my_pe();
        const device::Team team = job.world().device(Memory::host);
        EXPECT_EQ(device::is_small<Word>(team, 8), true);
        EXPECT_EQ(device::is_small<Word>(team, 9), false);
        for (const std::size_t count : {std::size_t{1}, std::size_t{8}, std::size_t{9}}) {
            SymmetricArray<Word> from(job, count * n), to(job, count * n);
            for (std::size_t i = 0; i < count * n; ++i) from[i] = static_cast<Word>(me) * 1000 + i;
            device::sync(team);
            device::fcollect(team, to.data(), from.data(), count);
            for (int pe = 0; pe < n; ++pe)
                ASSERT_EQ(to[static_cast<std::size_t>(pe) * count + count - 1],
                          static_cast<Word>(pe) * 1000 + count - 1);
            device::sync(team);
            device::alltoall(team, to.data(), from.data(), count);
            for (int pe = 0; pe < n; ++pe)
                ASSERT_EQ(to[static_cast<std::size_t>(pe) * count],
                          static_cast<Word>(pe) * 1000 + static_cast<Word>(me) * count);
            device::sync(team);
            device::broadcast(team, to.data(), from.data(), count, n - 1);
            ASSERT_EQ(to[count - 1], Word{n - 1} * 1000 + count - 1);
            device::sync(team);
            device::reduce(team, to.data(), from.data(), count, device::Sum{});
            ASSERT_EQ(to[count - 1], Word{n} * (n - 1) / 2 * 1000 + n * (count - 1));
            device::sync(team);
            device::reduce_scatter(team, to.data(), from.data(), count, device::Max{});
            ASSERT_EQ(to[0], Word{n - 1} * 1000 + static_cast<Word>(me) * count);
            Word some = 0;  // not all members send
            for (int pe = 0; pe < n; ++pe) some += pe % 3 == 1 ? 1 : 0;
            ASSERT_EQ(device::collect(team, to.data(), from.data(), me % 3 == 1 ? 1 : 0), some);
            ASSERT_EQ(to[static_cast<std::size_t>(some) - 1], Word{n - 1} / 3 * 3000 + 1000);
            device::sync(team);
        }
        // Numbers of the members in the world, for the end of a wait, and a team with a table.
        EXPECT_EQ(team.control->pes_of[n - 1], n - 1);
        const Team some = job.world().split(me % 7 == 0 || me % 5 == 0 ? 0 : -1);
        if (some) {
            const device::Team team_of = some.device(Memory::host);
            EXPECT_NE(team_of.table, nullptr);
            Word sum = static_cast<Word>(me);
            device::reduce(team_of, &sum, &sum, 1, device::Sum{});
            Word expected = 0;
            for (int pe = 0; pe < n; ++pe) expected += pe % 7 == 0 || pe % 5 == 0 ? static_cast<Word>(pe) : 0;
            EXPECT_EQ(sum, expected);
            EXPECT_EQ(device::translate_pe(team_of, some.n_pes() - 1, team), 77);
        }
        job.world().barrier();
    });
}

/// Keeps PE 1 in the job until PE 0 has waited. A PE that leaves ends waits before their bounds.
class Present {
  public:
    class Until {
      public:
        explicit Until(Present& present) : present_(present) {}
        ~Until() { present_.is_over_ = true; }
        Until(const Until&) = delete;
        Until& operator=(const Until&) = delete;

      private:
        Present& present_;
    };
    void stay() const {
        while (!is_over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

  private:
    std::atomic<bool> is_over_{false};
};

TEST(DeviceControl, AWaitThatTakesTooLongSaysForWhat) {
    ThreadJobOptions options;
    options.finalize = false;
    Present present;
    run_pes(
        2,
        [&present](Job& job) {
            SymmetricArray<std::uint64_t> signal(job, 1);
            const device::Team team = job.world().device(Memory::host);
            if (job.my_pe() == 1) return present.stay();
            const Present::Until end(present);
            bound_waits(job, 0.2);
            expect_error(ErrorCode::timeout,
                         {"signal_wait_until", "found 0", ">= 3", "tag 77", "ATOLL_WAIT_TIMEOUT"}, [&] {
                             device::signal_wait_until(team, signal.data(), Compare::ge, 3, device::Thread{},
                                                       77);
                         });
            expect_error(ErrorCode::timeout, {"sync", "waiting for PE 1"}, [&] { device::sync(team); });
        },
        options);
}

/// PE 1 does nothing; each wait of PE 0 ends by its bound, and reports itself.
TEST(DeviceControl, EveryWaitIsBounded) {
    using Word = unsigned long long;
    ThreadJobOptions options;
    options.finalize = false;
    Present present;
    run_pes(
        2,
        [&present](Job& job) {
            constexpr std::size_t large = 4096;
            SymmetricArray<Word> x(job, 4), big(job, 2 * large), out(job, 2 * large);
            SymmetricArray<char> block(job, device::mailbox_bytes(2, 8));
            const device::Team team = job.world().device(Memory::host);
            const device::Mailbox box{block.data(), 8};
            if (job.my_pe() == 1) return present.stay();
            const Present::Until end(present);
            bound_waits(job, 0.05);
            const auto ends = [](const char* name, auto&& wait) {
                SCOPED_TRACE(name);
                expect_error(ErrorCode::timeout, {std::string("s in ") + name, "ATOLL_WAIT_TIMEOUT"}, wait);
            };
            const Word wanted[4] = {7, 7, 7, 7};
            Word found[4];
            ends("signal_wait_until",
                 [&] { device::signal_wait_until(team, x.data(), Compare::ge, 3, device::Thread{}); });
            ends("signal_consume", [&] { device::signal_consume(team, x.data(), 1); });
            const auto waits = [&](const char* form, auto&& wait) {
                ends(("wait_until" + std::string(form) + " ").c_str(), wait);
            };
            waits("", [&] { device::wait_until(team, x.data(), Compare::ne, Word{0}); });
            ends("local_wait_until ", [&] { device::local_wait_until(team, x.data(), Compare::ge, 3); });
            waits("_all", [&] { device::wait_until_all(team, x.data(), 4, nullptr, Compare::ne, Word{0}); });
            waits("_any", [&] { device::wait_until_any(team, x.data(), 4, nullptr, Compare::ne, Word{0}); });
            waits("_some",
                  [&] { device::wait_until_some(team, x.data(), 4, found, nullptr, Compare::ne, Word{0}); });
            waits("_all_vector",
                  [&] { device::wait_until_all_vector(team, x.data(), 4, nullptr, Compare::eq, wanted); });
            waits("_any_vector",
                  [&] { device::wait_until_any_vector(team, x.data(), 4, nullptr, Compare::eq, wanted); });
            waits("_some_vector", [&] {
                device::wait_until_some_vector(team, x.data(), 4, found, nullptr, Compare::eq, wanted);
            });
            ends("receive", [&] { device::receive(team, box, found, 1, 1); });
            ends("post", [&] {
                for (unsigned i = 0; i <= device::Mailbox::depth; ++i) device::post(team, box, wanted, 1, 1);
            });
            ends("sync", [&] { device::sync(team); });
            ends("sync", [&] { device::sync(team, device::Thread{}, device::Order::relaxed); });
            ends("barrier", [&] { device::barrier(team); });
            Word* to = out.data();
            const Word* from = big.data();
            for (const std::size_t n : {std::size_t{1}, large}) {
                SCOPED_TRACE(n);
                ends("broadcast", [&] { device::broadcast(team, to, from, n, 0); });
                ends("fcollect", [&] { device::fcollect(team, to, from, n); });
                ends("alltoall", [&] { device::alltoall(team, to, from, n); });
                ends("reduce", [&] { device::reduce(team, to, from, n, device::Sum{}); });
                ends("reduce_scatter", [&] { device::reduce_scatter(team, to, from, n, device::Sum{}); });
                ends("collect", [&] { device::collect(team, to, from, n); });
            }
            const auto tile = device::make_tile(to, 2, 2, 2);
            const auto source = device::make_tile(big.data(), 2, 2, 2);
            ends("tile_reduce", [&] { device::tile_reduce(team, tile, source, device::Sum{}); });
            ends("tile_allgather",
                 [&] { device::tile_allgather(team, device::make_tile(to, 4, 2, 2), source); });
            ends("tile_broadcast", [&] { device::tile_broadcast(team, tile, source, 0); });
            ends("tile_rooted_reduce",
                 [&] { device::tile_rooted_reduce(team, tile, source, device::Sum{}, 0); });
        },
        options);
}

TEST(DeviceControl, AWaitForSomeWordsShowsOneThatCounts) {
    ThreadJobOptions options;
    options.wait_timeout_s = 0.01;
    options.finalize = false;
    run_pes(
        1,
        [](Job& job) {
            SymmetricArray<int> x(job, 3);
            const device::Team team = job.world().device(Memory::host);
            x[0] = 7;
            x[1] = 8;
            x[2] = 9;
            const int status[] = {1, 0, 0}, wanted[] = {70, 80, 90};
            unsigned long long found[3];
            const auto shows = [](const char* says, auto&& wait) {
                expect_error(ErrorCode::timeout, {says}, wait);
            };
            shows("found 8, waiting for == 1",
                  [&] { device::wait_until_any(team, x.data(), 3, status, Compare::eq, 1); });
            shows("found 8, waiting for == 1",
                  [&] { device::wait_until_some(team, x.data(), 3, found, status, Compare::eq, 1); });
            shows("found 8, waiting for == 80",
                  [&] { device::wait_until_any_vector(team, x.data(), 3, status, Compare::eq, wanted); });
        },
        options);
}

/// The check of a GPU's waits: its PEs are the job's, in the window or far.
TEST(DeviceControl, AWaitKnowsWhomItIsFor) {
    using device::detail::awaits_exited;
    const auto control = std::make_unique<device::Control>();
    device::Watch watch{};
    const int pes[] = {3, 40, 2000, device::Watch::most_exited + 5};
    control->pes_of = pes;
    for (int member = -1; member < 4; ++member)
        EXPECT_FALSE(awaits_exited(control.get(), &watch, member)) << member;
    watch.exited = 1;
    for (const unsigned pe : {40u, 2000u}) watch.exited_pes[pe / 32] |= 1u << (pe % 32);
    const bool expected[] = {false, false, true, true, false};  // for member -1 (any), then 0 to 3
    for (int member = -1; member < 4; ++member)
        EXPECT_EQ(awaits_exited(control.get(), &watch, member), expected[member + 1]) << member;
    watch.exited = 2;
    EXPECT_TRUE(awaits_exited(control.get(), &watch, -1));
    EXPECT_TRUE(awaits_exited(control.get(), &watch, 3)) << "who has no bit";
    EXPECT_FALSE(awaits_exited(control.get(), &watch, 0)) << "a PE that waits for itself";
}

template <class T> void awaits(Job& job, T found, T wanted, const char* says) {
    SymmetricArray<T> word(job, 1);
    const device::Team team = job.world().device(Memory::host);
    word[0] = found;
    expect_error(ErrorCode::timeout, {says},
                 [&] { device::wait_until(team, word.data(), Compare::eq, wanted, device::Thread{}); });
}

TEST(DeviceControl, AReportShowsValuesAsTheirTypeDoes) {
    ThreadJobOptions options;
    options.wait_timeout_s = 0.01;
    options.finalize = false;
    run_pes(
        1,
        [](Job& job) {
            awaits<int>(job, -1, -2, "found -1, waiting for == -2");
            awaits<long long>(job, -5000000000, 7, "found -5000000000, waiting for == 7");
            awaits<unsigned>(job, 4294967295u, 1, "found 4294967295, waiting for == 1");
            awaits<unsigned long long>(job, ~0ull, 1, "found 18446744073709551615, waiting for == 1");
            awaits<float>(job, -1.5f, 0.25f, "found -1.5, waiting for == 0.25");
            awaits<double>(job, 1e300, -0.5, "found 1e+300, waiting for == -0.5");
        },
        options);
}

/// PE 1 signals once it has seen PE 0's wait as a report shows it.
TEST(DeviceControl, ALongWaitIsShownAsTheHostsAre) {
    std::string seen;
    run_pes(2, [&seen](Job& job) {
        SymmetricArray<std::uint64_t> flag(job, 2);
        const device::Team team = job.world().device(Memory::host);
        const common::BoardView& board = job.state().board();
        if (team.my_pe == 0) {
            device::signal_wait_until(team, flag.data() + 1, Compare::ge, 3);
            EXPECT_EQ(board.wait_text(0), "") << "after the wait";
        } else {
            for (int looks = 0; looks < 20000 && !seen.starts_with("signal_wait"); ++looks) {
                seen = board.wait_text(0);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            device::signal_set(team, flag.data() + 1, 3, 0);
        }
        job.world().barrier();
    });
    for (const char* part : {"signal_wait_until on heap+0x", ": found 0, waiting for >= 3"})
        EXPECT_NE(seen.find(part), std::string::npos) << seen;
}

TEST(DeviceControl, AnErrorNamesTheWordAndTheVariable) {
    ThreadJobOptions options;
    options.wait_timeout_s = 0.01;
    options.finalize = false;
    run_pes(
        1,
        [](Job& job) {
            SymmetricArray<std::uint64_t> flag(job, 1);
            const device::Team team = job.world().device(Memory::host);
            expect_error(ErrorCode::timeout,
                         {"Timed out after 0.01 s in signal_wait_until on heap+0x",
                          ": found 0, waiting for >= 1", "raise ATOLL_WAIT_TIMEOUT"},
                         [&] { device::signal_wait_until(team, flag.data(), Compare::ge, 1); });
        },
        options);
}

/// Without checks and without ATOLL_WAIT_TIMEOUT.
TEST(DeviceControl, AWaitHasABoundOfItsOwn) {
    constexpr unsigned long long bound_ns = 5000000;
    ThreadJobOptions options;
    options.check = common::CheckLevel::none;
    options.wait_timeout_s = 0;
    options.finalize = false;
    Present present;
    run_pes(
        2,
        [&present](Job& job) {
            using Word = unsigned long long;
            SymmetricArray<Word> x(job, 4);
            SymmetricArray<char> block(job, device::mailbox_bytes(2, 8)),
                wide(job, device::mailbox_bytes(2, 16));
            const device::Team team = job.world().device(Memory::host);
            const device::Mailbox box{block.data(), 8}, two{wide.data(), 16};
            if (job.my_pe() == 1) return present.stay();
            const Present::Until end(present);
            const device::Thread thread;
            const auto ends = [](const char* name, const char* tag, auto&& wait) {
                expect_error(ErrorCode::timeout,
                             {"0.005 s in ", name, std::string(", tag ") + tag, "Give this wait more time"},
                             wait);
            };
            Word* to = x.data();
            const Word* from = x.data() + 2;
            ends("signal_wait_until", "5",
                 [&] { device::signal_wait_until(team, to, Compare::ge, 1, thread, 5, bound_ns); });
            ends("signal_consume", "6", [&] { device::signal_consume(team, to, 1, thread, 6, bound_ns); });
            ends("wait_until", "7",
                 [&] { device::wait_until(team, to, Compare::ge, Word{1}, thread, 7, bound_ns); });
            ends("wait_until", "8", [&] {
                device::wait_until_any(team, to, 1, nullptr, Compare::ge, Word{1}, thread, 8, bound_ns);
            });
            ends("receive", "9", [&] { device::receive(team, box, to, 1, 1, thread, 9, bound_ns); });
            // A message that has begun to arrive: one of its two parts.
            device::Outbox<> half_sent(team, two, 0);
            half_sent.begin();
            half_sent.store(0, 3);
            ends("receive", "19", [&] { device::try_receive(team, two, to, 2, 0, thread, 19, bound_ns); });
            ends("sync", "10",
                 [&] { device::sync(team, thread, device::Order::acquire_release, 10, bound_ns); });
            ends("barrier", "11", [&] { device::barrier(team, thread, 11, bound_ns); });
            ends("broadcast", "12", [&] { device::broadcast(team, to, from, 1, 0, thread, 12, bound_ns); });
            ends("fcollect", "13", [&] { device::fcollect(team, to, from, 1, thread, 13, bound_ns); });
            ends("collect", "14", [&] { device::collect(team, to, from, 1, thread, 14, bound_ns); });
            ends("alltoall", "15", [&] { device::alltoall(team, to, from, 1, thread, 15, bound_ns); });
            const device::Sum sum;
            ends("reduce", "16", [&] { device::reduce(team, to, from, 1, sum, thread, 16, bound_ns); });
            ends("reduce_scatter", "17",
                 [&] { device::reduce_scatter(team, to, from, 1, sum, thread, 17, bound_ns); });
            const auto tile = device::make_tile(to, 1, 1, 1);
            ends("tile_reduce", "18",
                 [&] { device::tile_reduce(team, tile, tile, sum, thread, 18, bound_ns); });
        },
        options);
}

TEST(DeviceControl, APeThatTheTeamHasNotIsRefusedByName) {
    run_pes(3, [](Job& job) {
        SymmetricArray<std::uint64_t> x(job, 4);
        const Team pair = job.world().split(job.my_pe() == 2 ? -1 : 0);
        if (pair) {
            const device::Team team = pair.device(Memory::host);
            const std::uint64_t one = 1;
            std::uint64_t got = 0;
            const auto refused = [&](const char* name, int pe, auto&& call) {
                expect_error(ErrorCode::pe, {name, "team PE " + std::to_string(pe), "has PEs 0 to 1"}, call);
            };
            refused("in p of team ", 2, [&] { device::p(team, x.data(), one, 2); });
            refused("in g of team ", -1, [&] { device::g(team, x.data(), -1); });
            refused("in put of team ", 7, [&] { device::put(team, x.data(), &one, 1, 7); });
            refused("in get of team ", 2, [&] { device::get(team, &got, x.data(), 1, 2); });
            refused("in iput of team ", 2, [&] { device::iput(team, x.data(), &one, 1, 1, 1, 2); });
            refused("in iget of team ", 2, [&] { device::iget(team, &got, x.data(), 1, 1, 1, 2); });
            refused("in async_put of team ", 2, [&] { device::async_put(team, x.data(), &one, 1, 2); });
            refused("in put_signal of team ", 2,
                    [&] { device::put_signal(team, x.data(), &one, 1, x.data() + 1, 1, 2); });
            refused("in signal_set of team ", 2, [&] { device::signal_set(team, x.data(), 1, 2); });
            refused("in signal_add of team ", 2, [&] { device::signal_add(team, x.data(), 1, 2); });
            refused("in put_nbi of team ", 2, [&] { device::put_nbi(team, x.data(), &one, 1, 2); });
            refused("in get_nbi of team ", 2, [&] { device::get_nbi(team, &got, x.data(), 1, 2); });
            refused("in put_signal_nbi of team ", 2, [&] {
                device::put_signal_nbi(team, x.data(), &one, 1, x.data() + 1, 1, SignalOp::set, 2);
            });
            refused("in ptr of team ", 2, [&] { device::ptr(team, x.data(), 2); });
            refused("in atomic_fetch of team ", 2, [&] { device::atomic_fetch(team, x.data(), 2); });
            refused("in atomic_set of team ", 2, [&] { device::atomic_set(team, x.data(), 1, 2); });
            refused("in atomic_swap of team ", 2, [&] { device::atomic_swap(team, x.data(), 1, 2); });
            refused("in atomic_compare_swap of team ", 2,
                    [&] { device::atomic_compare_swap(team, x.data(), 1, 1, 2); });
            refused("in atomic_add of team ", 2, [&] { device::atomic_add(team, x.data(), 1, 2); });
            refused("in atomic_fetch_add of team ", 2,
                    [&] { device::atomic_fetch_add(team, x.data(), 1, 2); });
            refused("in atomic_and of team ", 2, [&] { device::atomic_and(team, x.data(), 1, 2); });
            refused("in atomic_fetch_xor of team ", 2,
                    [&] { device::atomic_fetch_xor(team, x.data(), 1, 2); });
            refused("in peer of team ", 2, [&] { device::peer(team, x.data(), 2); });
            refused("in broadcast of team ", 2, [&] { device::broadcast(team, x.data(), x.data(), 1, 2); });
            const auto tile = device::make_tile(x.data(), 1, 1, 1);
            refused("in tile_put of team ", 2, [&] { device::tile_put(team, tile, tile, 2); });
            refused("in tile_get of team ", 2, [&] { device::tile_get(team, tile, tile, 2); });
        }
        job.world().barrier();
        for (const std::uint64_t value : x.span()) EXPECT_EQ(value, 0u);
        job.world().barrier();
    });
}

TEST(DeviceControl, TheEndOfTheJobEndsWaits) {
    ThreadJobOptions options;
    options.finalize = false;
    std::atomic<bool> has_team{false};  // otherwise the end might come while PE 0 still creates it
    run_pes(
        2,
        [&](Job& job) {
            const device::Team team = job.world().device(Memory::host);
            if (job.my_pe() == 0) has_team = true;
            if (job.my_pe() == 1) {
                while (!has_team) std::this_thread::yield();
                job.state().board().abort(1, 1, "PE 1 died in this test.");
                return;
            }
            expect_error(ErrorCode::pe_died, {"PE 1 died in this test", "sync"}, [&] { device::sync(team); });
        },
        options);
}

}  // namespace
}  // namespace atl::testing
