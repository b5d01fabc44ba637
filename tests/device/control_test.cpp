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
