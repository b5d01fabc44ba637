// What stands behind Team::control: a place for each team, and how waits end that nothing else ends.
#include "atoll/device/device.hpp"

#include "support/setups.hpp"

namespace atl::testing {
namespace {

using device::Compare;

TEST(DeviceControl, PlacesComeBackWithTheirTeams) {
    run_pes(3, [](Job& job) {
        for (int i = 0; i < 3 * device::most_teams; ++i) {
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

TEST(DeviceControl, SixtyFourTeamsAndNoMore) {
    run_pes(2, [](Job& job) {
        std::vector<Team> teams;
        for (int i = 1; i < device::most_teams; ++i) teams.push_back(job.world().split(0));
        for (const Team& team : teams) device::sync(team.device(Memory::host));
        const Team one_more = job.world().split(0);
        expect_error(ErrorCode::unsupported, {"64 teams", "destroy"}, [&] { one_more.device(Memory::host); });
        one_more.sync();  // on the host it works
        teams[20].destroy();
        const Team again = job.world().split(0);
        device::sync(again.device(Memory::host));
        job.world().barrier();
    });
}

TEST(DeviceControl, AWaitThatTakesTooLongSaysForWhat) {
    ThreadJobOptions options;
    options.wait_timeout_s = 0.05;
    options.finalize = false;
    run_pes(
        2,
        [](Job& job) {
            SymmetricArray<std::uint64_t> signal(job, 1);
            const device::Team team = job.world().device(Memory::host);
            if (job.my_pe() == 1) return;
            expect_error(ErrorCode::timeout,
                         {"signal_wait_until", "found 0", ">= 3", "tag 77", "ATOLL_WAIT_TIMEOUT"}, [&] {
                             device::signal_wait_until(team, signal.data(), Compare::ge, 3, device::Thread{},
                                                       77);
                         });
            expect_error(ErrorCode::timeout, {"sync", "team PE 1"}, [&] { device::sync(team); });
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
                expect_error(ErrorCode::invalid_argument,
                             {name, "team PE " + std::to_string(pe), "has PEs 0 to 1"}, call);
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
            refused("in an atomic of team ", 2, [&] { device::atomic_add(team, x.data(), 1, 2); });
            refused("in peer of team ", 2, [&] { device::peer(team, x.data(), 2); });
            refused("in a collective with a root of team ", 2,
                    [&] { device::broadcast(team, x.data(), x.data(), 1, 2); });
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
    run_pes(
        2,
        [](Job& job) {
            const device::Team team = job.world().device(Memory::host);
            if (job.my_pe() == 1) {
                job.state().board().abort(1, 1, "PE 1 died in this test.");
                return;
            }
            expect_error(ErrorCode::pe_died, {"PE 1 died in this test", "sync"}, [&] { device::sync(team); });
        },
        options);
}

}  // namespace
}  // namespace atl::testing
