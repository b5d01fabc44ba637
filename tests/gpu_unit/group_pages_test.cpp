// Teams' memory for collectives on streams: pages of the device heap, as needed.
#include "gpu/heap/group_pages.hpp"

#include "core/job/job_state.hpp"
#include "core/job/world_view.hpp"
#include "core/team/group_place.hpp"
#include "core/team/kernel_control.hpp"
#include "gpu/kernel_places.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <algorithm>

namespace atl::testing {
namespace {

TEST(GroupPages, RunsAreTheLowestThatFit) {
    EXPECT_EQ(gpu::run_of(0b0110'1110, 1), 0b10u);
    EXPECT_EQ(gpu::run_of(0b0110'1110, 2), 0b110u);
    EXPECT_EQ(gpu::run_of(0b0110'1110, 3), 0b1110u);
    EXPECT_EQ(gpu::run_of(0b0110'1110, 4), 0u);
    EXPECT_EQ(gpu::run_of(~std::uint64_t{0}, 64), ~std::uint64_t{0});
    EXPECT_EQ(gpu::run_of(~std::uint64_t{1}, 64), 0u);
    EXPECT_EQ(gpu::run_of(std::uint64_t{1} << 63, 1), std::uint64_t{1} << 63);
    EXPECT_EQ(gpu::run_of(0, 1), 0u);
    EXPECT_EQ(gpu::run_of(1, 0), 0u);
}

class TeamPages : public WithPes {};

/// Each team has separate pages, the same on all members, until they run out. Then a call reports the cost.
TEST_P(TeamPages, AreTakenUntilThereAreNoneAndGivenBack) {
    run([](Job& job) {
        if (core::first_far(job.world().state()) >= 0) {  // such teams use threads of the host
            Team team = job.world().split(0);
            EXPECT_EQ(team.state().kernels.group_pages.bits, 0u);
            return team.destroy();
        }
        core::WorldView view(job.state());
        gpu::DeviceMemory device(view, [](const gpu::DeviceChoice&) {
            return std::make_unique<FakeHeap>(Faults{}, std::size_t{16} << 20);
        });
        device.reserve_group_memory();
        std::uint64_t first = 0;
        for (int round = 0; round < 2; ++round) {
            std::vector<Team> teams;
            std::uint64_t taken = 0;
            for (;;) {
                teams.push_back(job.world().split(0));
                const gpu::GroupPages& pages = teams.back().state().kernels.group_pages;
                std::uint64_t least = 0, most = 0;
                job.world().min_reduce(std::span(&least, 1), std::span<const std::uint64_t>(&pages.bits, 1));
                job.world().max_reduce(std::span(&most, 1), std::span<const std::uint64_t>(&pages.bits, 1));
                ASSERT_EQ(least, most);
                if (pages.bits == 0) break;
                EXPECT_EQ(pages.bits & taken, 0u);
                taken |= pages.bits;
                const auto place = device.team_places().of(job.n_pes(), pages);
                EXPECT_LE(place.bytes, pages.count() * gpu::GroupPages::page_bytes);
                EXPECT_GE(device.offset_of(place.address), 0u);
            }
            EXPECT_GE(teams.size(), 8u);
            if (round == 0) first = taken;
            EXPECT_EQ(taken, first) << "what a destroyed team had is free again";
            expect_error(ErrorCode::unsupported, {"of its " + std::to_string(job.n_pes()) + " PEs", "KiB"},
                         [&] { core::group_place(teams.back().state()); });
            for (Team& team : teams) team.destroy();
        }
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Core, TeamPages, ::testing::ValuesIn(setups_on_one_host()), setup_name);

}  // namespace
}  // namespace atl::testing
