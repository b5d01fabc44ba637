// Memory of teams for kernels and for collectives on streams: ranges, as needed, the same on all members.
#include "gpu/heap/stream_range.hpp"

#include "atoll/device/device.hpp"
#include "core/context/route.hpp"
#include "core/job/job_state.hpp"
#include "core/team/range_negotiation.hpp"
#include "gpu/kernel_ranges.hpp"
#include "stream/kernels/kernel_control.hpp"
#include "stream/kernels/team_memory.hpp"
#include "stream/kernels/world_view.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <algorithm>
#include <random>

namespace atl::testing {
namespace {

using gpu::KernelRanges;

TEST(KernelRanges, AreTheLowestThatFit) {
    KernelRanges ranges;
    ranges.open(1024);
    EXPECT_EQ(ranges.take(100), 0u);
    EXPECT_EQ(ranges.take(256), 128u);
    EXPECT_EQ(ranges.take(128, 500), 512u);
    EXPECT_EQ(ranges.free_bytes(), 512u);
    EXPECT_EQ(ranges.take(512), KernelRanges::none) << "free, but not in one piece";
    EXPECT_EQ(ranges.take(128), 384u);
    EXPECT_EQ(ranges.take(384), 640u);
    EXPECT_EQ(ranges.take(1), KernelRanges::none);
    ranges.release(128, 256);
    ranges.release(0, 100);
    EXPECT_EQ(ranges.take(384), 0u) << "neighbours are one piece again";
}

TEST(KernelRanges, FreeBytesAreThoseThatNoRangeHas) {
    constexpr std::uint64_t all = 1 << 16;
    KernelRanges ranges;
    ranges.open(all);
    std::mt19937 random(7);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    for (int step = 0; step < 5000; ++step) {
        if (taken.empty() || random() % 2 == 0) {
            const std::uint64_t bytes = 1 + random() % 2000, from = random() % 3 == 0 ? random() % all : 0;
            const std::uint64_t at = ranges.take(bytes, from);
            if (at == KernelRanges::none) continue;
            ASSERT_GE(at, from);
            for (const auto& [other, size] : taken)
                ASSERT_TRUE(at + bytes <= other || other + size <= at) << at << " and " << other;
            taken.emplace_back(at, bytes);
        } else {
            const std::size_t which = random() % taken.size();
            ranges.release(taken[which].first, taken[which].second);
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
        }
        std::uint64_t used = 0;
        for (const auto& [at, size] : taken) used += (size + 127) / 128 * 128;
        ASSERT_EQ(ranges.free_bytes(), all - used);
    }
    for (const auto& [at, size] : taken) ranges.release(at, size);
    EXPECT_EQ(ranges.take(all), 0u);
}

/// The arrays of a block follow one another, and those of kernels begin at a line.
TEST(ControlLayout, ArraysAreSideBySide) {
    for (int n = 1; n < 3000; n += n < 200 ? 1 : 37) {
        const device::ControlLayout at{n};
        const auto pes = static_cast<unsigned>(n);
        ASSERT_GE(at.slots(), at.arrived() + 8 * pes) << n;
        ASSERT_EQ(at.slots() % 128, 0u) << n;
        ASSERT_GE(at.slot_pairs(), device::least_slot_pairs) << n;
        ASSERT_LE(at.slot_pairs() * pes, at.area_pairs()) << n;
        ASSERT_EQ(at.counts(), at.slots() + 32 * at.area_pairs()) << n;
        ASSERT_EQ(at.slots_of(), at.counts() + 8 * pes) << n;
        ASSERT_GE(at.bytes(), at.pes_of() + 4 * pes) << n;
        ASSERT_EQ(at.bytes() % 128, 0u) << n;
    }
}

class RangeNegotiations : public WithPes {};

/// Each team has separate memory, the same on all members, until they run out. Then a call reports the cost.
TEST_P(RangeNegotiations, AreTakenUntilExhaustedAndReturned) {
    run([](Job& job) {
        if (core::first_far(job.world().state()) >= 0) {  // such teams use threads of the host
            Team team = job.world().split(0);
            EXPECT_FALSE(team.state().kernels.stream_range);
            return team.destroy();
        }
        stream::WorldView view(job.state());
        gpu::DeviceMemory device(view, [](const gpu::DeviceChoice&) {
            return std::make_unique<FakeHeap>(Faults{}, std::size_t{16} << 20);
        });
        device.reserve_group_memory();
        std::uint64_t first = 0;
        for (int round = 0; round < 2; ++round) {
            std::vector<Team> teams;
            std::uint64_t end = 0;  // end of the last team's memory
            for (;;) {
                teams.push_back(job.world().split(0));
                const gpu::StreamRange& stream_range = teams.back().state().kernels.stream_range;
                std::uint64_t least = 0, most = 0;
                job.world().min_reduce(std::span(&least, 1),
                                       std::span<const std::uint64_t>(&stream_range.offset, 1));
                job.world().max_reduce(std::span(&most, 1),
                                       std::span<const std::uint64_t>(&stream_range.offset, 1));
                ASSERT_EQ(least, most);
                if (!stream_range) break;
                EXPECT_GE(stream_range.offset, end);
                const auto range = device.team_ranges().of(job.n_pes(), stream_range);
                EXPECT_EQ(range.bytes, gpu::stream_range_bytes(job.n_pes(), stream_range.words_bytes));
                end = stream_range.offset + range.bytes;
                EXPECT_LE(end, job.state().settings().team_bytes);
                EXPECT_GE(device.offset_of(range.address), 0u);
            }
            EXPECT_GE(teams.size(), 8u);
            if (round == 0) first = end;
            EXPECT_EQ(end, first) << "what a destroyed team had is free again";
            expect_error(ErrorCode::unsupported,
                         {"of its " + std::to_string(job.n_pes()) + " PEs", "KiB", "ATOLL_TEAM_MEMORY"},
                         [&] { stream::team_memory(teams.back().state()); });
            for (Team& team : teams) team.destroy();
        }
        job.world().barrier();
    });
}

/// Members with different free memory agree on a place that is free on all. PE i is in teams with others that
/// fill the low part of its memory only.
TEST(RangeNegotiation, MembersWithDifferentMemoryAgree) {
    run_pes(4, [](Job& job) {
        const int me = job.my_pe();
        std::vector<Team> own;
        for (int i = 0; i < 3; ++i) {
            Team alone = job.world().split(i < me ? me : -1);  // PE i has i teams of its own
            if (alone) own.push_back(std::move(alone));
        }
        EXPECT_EQ(own.size(), static_cast<std::size_t>(me));
        const auto same = [&](const Team& team) {
            const core::TeamKernels& kernels = team.state().kernels;
            for (const std::uint64_t mine : {kernels.offset, kernels.stream_range.offset}) {
                std::uint64_t least = 0, most = 0;
                team.min_reduce(std::span(&least, 1), std::span<const std::uint64_t>(&mine, 1));
                team.max_reduce(std::span(&most, 1), std::span<const std::uint64_t>(&mine, 1));
                EXPECT_EQ(least, most);
                EXPECT_NE(mine, KernelRanges::none);
            }
            device::sync(team.device(Memory::host));
        };
        Team all = job.world().split(0), half = job.world().split(me / 2), pair = job.world().split(me % 2);
        for (const Team* team : {&all, &half, &pair}) same(*team);
        half.destroy();
        Team again = job.world().split(me == 3 ? -1 : 0);
        if (again) same(again);
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Core, RangeNegotiations, ::testing::ValuesIn(setups_on_one_host()), setup_name);

}  // namespace
}  // namespace atl::testing
