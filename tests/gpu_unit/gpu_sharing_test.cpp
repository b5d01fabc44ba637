// PEs that share GPUs: detection, and the size of the grid that each may have.
#include "gpu/gpu_sharing.hpp"

#include "atoll/device/resident.hpp"
#include "stream/kernels/world_view.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <algorithm>
#include <climits>
#include <optional>

namespace atl::testing {
namespace {

using gpu::GpuSharing;
using gpu::GpuUse;

gpu::DeviceUuid gpu(unsigned char number) { return {number}; }

TEST(GpuSharing, CountsThePesOfEachGpu) {
    const auto found = gpu::sharing_of({{gpu(1), 1, false},
                                        {gpu(2), 2, false},
                                        {gpu(1), 3, false},
                                        {gpu(3), 4, true},
                                        {gpu(1), 5, false},
                                        {gpu(3), 6, true}});
    const auto expect = [&](std::size_t pe, int n_pes, int at_once, int first_pe) {
        EXPECT_EQ(found[pe].n_pes, n_pes) << pe;
        EXPECT_EQ(found[pe].at_once, at_once) << pe;
        EXPECT_EQ(found[pe].first_pe, first_pe) << pe;
    };
    for (const std::size_t pe : {0u, 2u, 4u}) expect(pe, 3, 3, 0);
    expect(1, 1, 1, 1);
    for (const std::size_t pe : {3u, 5u}) {
        expect(pe, 2, 1, 3);
        EXPECT_TRUE(found[pe].takes_turns());
    }
}

TEST(GpuSharing, ThreadsOfOneProcessRunAtOnceWithoutMps) {
    const auto found = gpu::sharing_of({{gpu(1), 7, true}, {gpu(1), 7, true}, {gpu(1), 8, true}});
    EXPECT_EQ(found[0].at_once, 2);
    EXPECT_EQ(found[2].at_once, 1);
    EXPECT_TRUE(found[0].takes_turns());
}

/// One PE that cannot detect MPS is enough.
TEST(GpuSharing, MpsIsAssumedWhereItIsUnknown) {
    for (const GpuSharing& one : gpu::sharing_of({{gpu(1), 1, true}, {gpu(1), 2, false}})) {
        EXPECT_EQ(one.at_once, 2);
        EXPECT_FALSE(one.takes_turns());
    }
}

TEST(GpuSharing, SharesAddUpToLessThanTheGpu) {
    for (const unsigned blocks : {0u, 1u, 2u, 15u, 16u, 132u, 264u, 1056u}) {
        EXPECT_EQ(gpu::share_of(blocks, 1), blocks);
        for (int pes = 2; pes <= 16; ++pes) {
            const unsigned all = gpu::share_of(blocks, pes) * static_cast<unsigned>(pes);
            EXPECT_LE(all, blocks);
            EXPECT_TRUE(blocks == 0 || all < blocks);
        }
    }
    EXPECT_EQ(gpu::share_of(132, 2), 62u);
    EXPECT_EQ(gpu::share_of(132, 4), 31u);
}

TEST(GpuSharing, LaunchesAreToldByTheNumberOfTheGpu) {
    constexpr int number = 61;  // no other test's
    EXPECT_EQ(detail::pes_at_once(number), 1);
    {
        const gpu::SharedGpu shared(number, 4);
        EXPECT_EQ(detail::pes_at_once(number), 4);
        EXPECT_EQ(detail::pes_at_once(number - 1), 1);
        EXPECT_EQ(detail::resident_share(number, 132), 31);
        const std::string text = gpu::grid_refusal(number, 132, 1024, 132);
        for (const char* part :
             {"132 blocks of 1024 threads", "GPU 61 holds 132", "4 PEs", "each may have 31"})
            EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    EXPECT_EQ(detail::resident_share(number, 132), 132);
    EXPECT_EQ(gpu::grid_refusal(number, 133, 1024, 132),
              "133 blocks of 1024 threads cannot run at once; GPU 61 holds 132");
    for (const int none : {-1, 64, INT_MAX}) EXPECT_EQ(detail::pes_at_once(none), 1);
    const gpu::SharedGpu of_no_number(1000, 2);
}

/// PEs that are threads of one process finalize one after another.
TEST(GpuSharing, LastsUntilTheLastOwnerEnds) {
    constexpr int number = 60;  // no other test's
    std::optional<gpu::SharedGpu> first(std::in_place, number, 2), second(std::in_place, number, 2);
    first.reset();
    EXPECT_EQ(detail::pes_at_once(number), 2);
    second.reset();
    EXPECT_EQ(detail::pes_at_once(number), 1);
}

class GpusOfFakes : public WithPes {
  protected:
    /// Opens a GPU with these properties; `fake` is set to it.
    static gpu::OpenDevice opens(const FakeGpu& mine, FakeHeap*& fake) {
        return [&](const gpu::DeviceChoice&) {
            auto opened =
                std::make_unique<FakeHeap>(Faults{}, std::size_t{8} << 20, std::size_t{64} << 10, mine);
            fake = opened.get();
            return opened;
        };
    }
};

/// All grids of a collective are equal, and none exceeds any PE's share of its GPU.
TEST_P(GpusOfFakes, CollectivesHaveTheLeastShare) {
    run([](Job& job) {
        const int n = job.n_pes(), me = job.my_pe();
        // The last PE has a GPU to itself, with more blocks than the others may have.
        const bool alone = n > 1 && me == n - 1;
        const FakeGpu mine{gpu(alone ? 2 : 1), alone ? 1000u : 320u, false};
        FakeHeap* fake = nullptr;
        stream::WorldView view(job.state());
        const gpu::DeviceMemory memory(view, opens(mine, fake));
        const int others = std::max(n - 1, 1);
        // Room for the collectives of four teams, if other PEs use the GPU.
        EXPECT_EQ(fake->most_blocks(), others == 1 ? 320u : gpu::share_of(320, 4 * others));
        EXPECT_EQ(memory.streams().sharing().n_pes, alone ? 1 : others);
        EXPECT_EQ(memory.use().n_pes, alone ? 1 : others);
        EXPECT_FALSE(memory.use().takes_turns);
        job.world().barrier();
    });
}

/// Views have one offset on all PEs, so the PE with the largest GPU decides.
TEST_P(GpusOfFakes, SlotsHaveOneStrideThatFitsTheLargestGpu) {
    run([](Job& job) {
        constexpr std::size_t gib = std::size_t{1} << 30;
        FakeGpu mine{gpu(1), 320u, false};
        mine.memory_bytes = (job.my_pe() == 0 ? 300 : 80) * gib;
        FakeHeap* fake = nullptr;
        stream::WorldView view(job.state());
        const gpu::DeviceMemory memory(view, opens(mine, fake));
        EXPECT_EQ(fake->asked_stride(), gpu::device_stride(300 * gib));
        EXPECT_GE(fake->asked_stride(), 2 * 300 * gib);
        job.world().barrier();
    });
}

TEST(DeviceStride, LeavesRoomForTheMemoryAndForViews) {
    constexpr std::size_t gib = std::size_t{1} << 30;
    EXPECT_EQ(gpu::device_stride(16 * gib), 512 * gib);
    EXPECT_EQ(gpu::device_stride(141 * gib), 512 * gib);
    EXPECT_EQ(gpu::device_stride(288 * gib), 2 * 336 * gib);
}

INSTANTIATE_TEST_SUITE_P(Core, GpusOfFakes, ::testing::ValuesIn(setups_on_one_host()), setup_name);

}  // namespace
}  // namespace atl::testing
