// Symmetric memory of groups without a job: collectives against a model, meetings, and wrong calls. Members
// are threads, whose blocks lie in the heap of this process.
#include "collective/symmetric/operations.hpp"

#include "support/error_of.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>

namespace atl::symmetric {
namespace {

using memory::ProcessHeap;
using testing::error_of;

constexpr std::size_t pad_bytes = 64 * 16;
const Bounds bounds{30, {}};

struct Member {
    int rank, n;
    char* data;
    std::unique_ptr<Symmetric> memory;

    template <class T> T* as() const { return reinterpret_cast<T*>(data); }
};

std::unique_ptr<Symmetric> join(Offer& offer, int rank, const std::vector<std::string>& texts) {
    return std::make_unique<Symmetric>(std::move(offer), Membership{rank, texts, {}, " of group 7"}, bounds);
}

/// Runs `body` as each of `n` members, which have a block of `bytes` each.
template <class Body> void as_members(int n, std::size_t bytes, Body&& body) {
    ProcessHeap& heap = ProcessHeap::mine();
    std::vector<ProcessHeap::Block> blocks;
    std::vector<Offer> offers;
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) {
        blocks.push_back(heap.allocate(bytes, pad_bytes));
        offers.emplace_back(heap.at(blocks.back().offset), n);
        texts.push_back(offers.back().text());
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i)
        threads.emplace_back([&, i] {
            const auto me = std::size_t(i);
            body(Member{i, n, heap.at(blocks[me].offset), join(offers[me], i, texts)});
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& block : blocks) heap.free(block.offset);
}

void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << part << " not in: " << text;
}

constexpr std::size_t counts[] = {0, 1, 17, 4099, 100'001};

class SymmetricMembers : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Symmetric, SymmetricMembers, ::testing::Values(1, 2, 3, 4));

TEST_P(SymmetricMembers, ReduceAndGatherAsTheModel) {
    const auto folding = requests::Folding(static_cast<int>(DType::int32), ReduceOp::sum);
    as_members(GetParam(), 4 * 100'001 + 64, [&](const Member& me) {
        constexpr std::size_t offset = 64;
        auto* const mine = me.as<std::int32_t>() + offset / 4;
        for (const std::size_t count : counts) {
            const Range range{offset, 4 * count};
            const auto fill = [&] { std::iota(mine, mine + count, 1000 * me.rank); };
            std::vector<std::int32_t> sum(count), out(count + 1, -1), all(count * std::size_t(me.n));
            for (std::size_t i = 0; i < count; ++i)
                sum[i] = static_cast<std::int32_t>(me.n * int(i) + 500 * me.n * (me.n - 1));
            fill();
            Operations(*me.memory, range, bounds).all_reduce(folding, reinterpret_cast<char*>(out.data()));
            EXPECT_EQ(out.back(), -1);
            out.pop_back();
            EXPECT_EQ(out, sum);
            Operations(*me.memory, range, bounds).all_gather(reinterpret_cast<char*>(all.data()));
            for (std::size_t i = 0; i < all.size(); ++i)
                ASSERT_EQ(all[i], static_cast<std::int32_t>(1000 * (i / count) + i % count));
            Operations(*me.memory, range, bounds).all_reduce_in_place(folding, nullptr);
            EXPECT_TRUE(std::equal(sum.begin(), sum.end(), mine));
            me.memory->barrier(0, bounds);  // before the next turn changes what others read
        }
    });
}

TEST_P(SymmetricMembers, ScatterSumsOfRows) {
    const auto folding = requests::Folding(static_cast<int>(DType::int64), ReduceOp::sum);
    const auto n = std::size_t(GetParam());
    constexpr std::size_t rows = 5, part = 3;
    as_members(GetParam(), rows * part * n * 8, [&](const Member& me) {
        std::iota(me.as<std::int64_t>(), me.as<std::int64_t>() + rows * part * n, me.rank);
        std::vector<std::int64_t> out(rows * part);
        Operations(*me.memory, {0, rows * part * n * 8}, bounds)
            .reduce_scatter(folding, part * n * 8, reinterpret_cast<char*>(out.data()));
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::size_t at = i / part * part * n + part * std::size_t(me.rank) + i % part;
            EXPECT_EQ(out[i], static_cast<std::int64_t>(n * at + n * (n - 1) / 2));
        }
    });
}

TEST_P(SymmetricMembers, MeetOnChannelsAndSignal) {
    as_members(GetParam(), 1024, [&](const Member& me) {
        const int next = (me.rank + 1) % me.n, last = (me.rank + me.n - 1) % me.n;
        for (int turn = 1; turn <= 300; ++turn) {
            auto* const at_next = reinterpret_cast<std::int64_t*>(me.memory->data(next));
            *at_next = turn;
            me.memory->barrier(turn % 3, bounds);
            ASSERT_EQ(*me.as<std::int64_t>(), turn);
            me.memory->put_signal(next, 1, bounds);
            me.memory->wait_signal(last, 1, bounds);
            at_next[1] = turn;
            me.memory->notify(next);
            me.memory->notify(next);
            me.memory->await(last, bounds);
            ASSERT_EQ(me.as<std::int64_t>()[1], turn);
            me.memory->await(last, bounds);
            me.memory->barrier(0, bounds);
        }
        const char* const pad = me.memory->pad(me.rank);
        EXPECT_TRUE(std::all_of(pad, pad + pad_bytes, [](char c) { return c == 0; }));
    });
}

TEST(Symmetric, SecondSignalWaitsForTheFirst) {
    as_members(2, 64, [&](const Member& me) {
        if (me.rank == 0) {
            me.memory->put_signal(1, 0, bounds);
            expect_in(error_of(
                          [&] {
                              me.memory->put_signal(1, 0, {0.05, {}});
                          },
                          ErrorCode::timeout),
                      {"Timed out after 0.05 s in put_signal", "waiting for rank 1"});
        }
    });
}

TEST(Symmetric, TimeoutNamesTheMissingRankAndEndsTheUse) {
    as_members(2, 64, [&](const Member& me) {
        if (me.rank == 1) return;
        expect_in(error_of(
                      [&] {
                          me.memory->barrier(0, {0.05, {}});
                      },
                      ErrorCode::timeout),
                  {"Timed out after 0.05 s in barrier", "of group 7 on rank 0", "waiting for rank 1"});
        expect_in(error_of([&] { me.memory->barrier(0, bounds); }, ErrorCode::pe_died),
                  {"unusable", "waiting for rank 1"});
    });
}

TEST(Symmetric, RefusesWrongArguments) {
    as_members(2, 64, [&](const Member& me) {
        expect_in(error_of([&] { me.memory->barrier(128, bounds); }, ErrorCode::invalid_argument),
                  {"channels 0 to 127 for 2 ranks", "set_signal_pad_size"});
        expect_in(error_of([&] { me.memory->put_signal(2, 0, bounds); }, ErrorCode::pe),
                  {"put_signal with rank 2", "0 to 1"});
        error_of([&] { me.memory->wait_signal(-1, 0, bounds); }, ErrorCode::pe);
        expect_in(error_of(
                      [&] {
                          Operations(*me.memory, {60, 5}, bounds);
                      },
                      ErrorCode::shape_mismatch),
                  {"5 bytes at byte 60", "block of 64 bytes"});
    });
    int outside = 0;
    expect_in(error_of([&] { Offer(&outside, 2); }, ErrorCode::not_symmetric), {"is not in a block"});
}

TEST(Symmetric, RefusesBlocksOfDifferentSizesOnEveryMember) {
    ProcessHeap& heap = ProcessHeap::mine();
    const std::size_t before = heap.used_bytes();
    {
        std::vector<ProcessHeap::Block> blocks{heap.allocate(64, pad_bytes), heap.allocate(128, pad_bytes)};
        std::vector<Offer> offers;
        for (const auto& block : blocks) offers.emplace_back(heap.at(block.offset), 2);
        const std::vector<std::string> texts{offers[0].text(), offers[1].text()};
        for (int rank = 0; rank < 2; ++rank)
            expect_in(
                error_of([&] { join(offers[std::size_t(rank)], rank, texts); }, ErrorCode::shape_mismatch),
                {"rank 0 has 64 bytes", "rank 1 has 128", "Allocate alike"});
        for (const auto& block : blocks) heap.free(block.offset);
    }
    EXPECT_EQ(heap.used_bytes(), before);
}

TEST(Symmetric, MemoryOutlivesItsOwnersFreeWhileOthersUseIt) {
    ProcessHeap& heap = ProcessHeap::mine();
    const std::size_t before = heap.used_bytes();
    std::vector<ProcessHeap::Block> blocks{heap.allocate(64, pad_bytes), heap.allocate(64, pad_bytes)};
    std::vector<Offer> offers;
    for (const auto& block : blocks) offers.emplace_back(heap.at(block.offset), 2);
    const std::vector<std::string> texts{offers[0].text(), offers[1].text()};
    std::unique_ptr<Symmetric> other;
    std::thread second([&] { other = join(offers[1], 1, texts); });
    auto first = join(offers[0], 0, texts);
    second.join();
    offers.clear();
    heap.free(blocks[0].offset);
    first.reset();
    const std::size_t used = heap.used_bytes();
    EXPECT_NE(heap.allocate(64, pad_bytes).offset, blocks[0].offset);
    heap.free(blocks[1].offset);
    EXPECT_GT(used, before);
    other.reset();
    EXPECT_EQ(heap.allocate(64, pad_bytes).offset, blocks[0].offset);
}

}  // namespace
}  // namespace atl::symmetric
