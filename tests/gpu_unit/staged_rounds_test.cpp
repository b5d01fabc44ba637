// Division of collectives through the stage: arrays among blocks and rounds, and the stage among slots.
#include "gpu/staged_rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace atl::testing {
namespace {

using gpu::Group;
using gpu::GroupPart;
using gpu::Span;
using gpu::StagedCall;
using gpu::StagedRounds;

constexpr std::uint64_t stage_bytes = std::uint64_t{32} << 20;

StagedCall call_of(Group kind, int n, std::uint64_t bytes) {
    StagedCall call{};
    call.group.kind = kind;
    call.group.team.n_pes = n;
    call.group.bytes = bytes;
    call.stage_bytes = stage_bytes;
    return call;
}

/// Returns the spans of all blocks and rounds that are not empty, in the order of their addresses.
template <class SpanOf> std::vector<Span> spans(const StagedCall& call, unsigned blocks, SpanOf span_of) {
    std::vector<Span> all;
    for (unsigned block = 0; block < blocks; ++block) {
        const StagedRounds rounds(call, block, blocks);
        for (unsigned round = 0; round < rounds.count(); ++round)
            if (const Span span = span_of(rounds, round); span.bytes != 0) all.push_back(span);
    }
    std::ranges::sort(all, {}, &Span::at);
    return all;
}

void expect_covers(const std::vector<Span>& all, std::uint64_t first, std::uint64_t last) {
    for (const Span& span : all) {
        ASSERT_EQ(span.at, first);
        first += span.bytes;
    }
    EXPECT_EQ(first, last);
}

struct Case {
    Group kind;
    bool by_target, by_source, is_divided;
};
constexpr Case cases[] = {
    {Group::reduce, false, false, true},    {Group::reduce_to, false, false, true},
    {Group::broadcast, false, false, true}, {Group::reduce_scatter, true, false, false},
    {Group::scatter, true, false, false},   {Group::fcollect, false, true, false},
    {Group::gather, false, true, false},    {Group::alltoall, true, true, false},
};

template <class Body> void for_each_case(Body body) {
    for (const Case& c : cases)
        for (const int n : {1, 2, 3, 8, 40})
            for (const unsigned blocks : {1u, 7u, 32u})
                for (const std::uint64_t bytes : {std::uint64_t{4}, std::uint64_t{100'004},
                                                  (std::uint64_t{1} << 22) + 20, std::uint64_t{1} << 25}) {
                    SCOPED_TRACE(::testing::Message()
                                 << "kind " << static_cast<int>(c.kind) << ", " << n << " PEs, " << blocks
                                 << " blocks, " << bytes << " bytes");
                    body(c, call_of(c.kind, n, bytes), blocks);
                }
}

}  // namespace

TEST(StagedRounds, MoveEachByteOnce) {
    for_each_case([](const Case& c, const StagedCall& call, unsigned blocks) {
        const int n = call.group.team.n_pes;
        for (int pe = 0; pe < n; pe += std::max(n - 1, 1)) {
            const GroupPart part =
                c.is_divided ? gpu::group_part(call.group.bytes, n, pe) : GroupPart{0, call.group.bytes};
            const auto block = static_cast<std::uint64_t>(pe) * call.group.bytes;
            const std::uint64_t src = c.by_target ? block : 0, dst = c.by_source ? block : 0;
            expect_covers(spans(call, blocks, [&](const auto& r, unsigned i) { return r.pushed(i, pe); }),
                          src + part.first, src + part.last);
            expect_covers(spans(call, blocks, [&](const auto& r, unsigned i) { return r.merged(i, pe); }),
                          dst + part.first, dst + part.last);
        }
    });
}

TEST(StagedRounds, SlotsAndFlagsShareNoByteOfTheStage) {
    for_each_case([](const Case&, const StagedCall& call, unsigned blocks) {
        std::vector<Span> used;
        const int n = call.group.team.n_pes;
        for (unsigned block = 0; block < blocks; ++block) {
            const StagedRounds rounds(call, block, blocks);
            for (int pe = 0; pe < n; ++pe) {
                for (unsigned kind = 0; kind < StagedRounds::kinds_of_flags; ++kind)
                    used.push_back({rounds.flag(kind, pe), 4});
                for (unsigned i = 0; i < 2 * StagedRounds::in_flight; ++i)
                    used.push_back({rounds.slot(i / 2, i % 2, pe), rounds.chunk()});
            }
        }
        std::ranges::sort(used, {}, &Span::at);
        std::uint64_t end = 0;
        for (const Span& span : used) {
            ASSERT_GE(span.at, end);
            ASSERT_EQ(span.at % (span.bytes == 4 ? 4 : 16), 0u);
            end = span.at + span.bytes;
        }
        EXPECT_LE(end, stage_bytes);
    });
}

TEST(StagedRounds, UseASlotAgainAfterTheRoundsInFlight) {
    const StagedCall call = call_of(Group::reduce, 2, std::uint64_t{1} << 26);
    const StagedRounds rounds(call, 3, 32);
    EXPECT_GT(rounds.count(), StagedRounds::in_flight);
    EXPECT_EQ(rounds.slot(0, 1, 1), rounds.slot(StagedRounds::in_flight, 1, 1));
}

}  // namespace atl::testing
