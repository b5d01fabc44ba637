// Non-blocking operations of groups: data against a sequential model, order, differences between members, and
// ends.
#include "collective/requests/group.hpp"

#include "collective/requests.hpp"
#include "common/wait_hooks.hpp"
#include "memory/process_heap.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <tuple>

namespace atl::requests {
namespace {

/// Memory of a group of threads, all zero.
std::shared_ptr<char> memory_for(int n) {
    const std::size_t bytes = Area::bytes(n) * std::size_t(n);
    auto* memory = static_cast<char*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
    std::memset(memory, 0, bytes);
    return {memory, std::free};
}

/// The members read data where it lies, in the heap of this process.
bool reads_in_place = false;

std::unique_ptr<Group> group_of(const std::shared_ptr<char>& memory, int rank, int n) {
    Membership membership;
    membership.rank = rank;
    membership.n = n;
    for (int i = 0; i < n; ++i) membership.areas.push_back(memory.get() + std::size_t(i) * Area::bytes(n));
    membership.memory = memory;
    membership.shares_heaps = reads_in_place;
    return std::make_unique<Group>(std::move(membership));
}

/// Runs `body` as each member, in a separate thread.
template <class Body> void as_members(int n, Body&& body) {
    const auto memory = memory_for(n);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < n; ++rank)
        threads.emplace_back([&, rank] {
            const auto group = group_of(memory, rank, n);
            body(*group, rank);
        });
    for (std::thread& thread : threads) thread.join();
}

/// Allocates in the heap of this process.
template <class T> struct HeapAllocator {
    using value_type = T;
    T* allocate(std::size_t count) {
        auto& heap = memory::ProcessHeap::mine();
        return reinterpret_cast<T*>(heap.at(heap.allocate(count * sizeof(T), 0).offset));
    }
    void deallocate(T* data, std::size_t) {
        auto& heap = memory::ProcessHeap::mine();
        heap.free(heap.view()->offset_of(data));
    }
    bool operator==(const HeapAllocator&) const = default;
};

using Values = std::vector<std::int32_t, HeapAllocator<std::int32_t>>;

constexpr std::size_t sizes[] = {0, 1, 5, 3000, 20'000, 300'001};

class Groups : public ::testing::TestWithParam<std::tuple<int, bool>> {
  protected:
    Groups() { reads_in_place = std::get<1>(GetParam()); }
    ~Groups() override { reads_in_place = false; }
    static int members() { return std::get<0>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Requests, Groups,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4), ::testing::Bool()));

TEST_P(Groups, ReductionsMatchTheModel) {
    const int n = members();
    as_members(n, [n](Group& group, int rank) {
        for (const std::size_t count : sizes) {
            Values in = values_of<Values>(rank, count), expected(count);
            for (int i = 0; i < n; ++i)
                for (std::size_t k = 0; k < count; ++k)
                    expected[k] += i * 1000 + static_cast<std::int32_t>(k);
            Values out(count), at_root(count);
            Call all = call_of(Kind::all_reduce);
            all.in = {span_of(in)};
            all.out = {span_of(out)};
            group.run(all, 0);
            EXPECT_EQ(out, expected);
            Call one = call_of(Kind::reduce, n - 1);
            one.in = {span_of(in)};
            if (rank == n - 1) one.out = {span_of(at_root)};
            group.run(one, 0);
            if (rank == n - 1) {
                EXPECT_EQ(at_root, expected);
            }
            all.in = all.out = {span_of(in)};  // in place
            group.run(all, 0);
            EXPECT_EQ(in, expected);
        }
    });
}

TEST_P(Groups, PiecesArriveAtTheirPlaces) {
    const int n = members();
    as_members(n, [n](Group& group, int rank) {
        for (const std::size_t count : sizes) {
            const auto members = static_cast<std::size_t>(n);
            // Piece j of member i has count + i + j elements, so all sizes differ.
            Call call = call_of(Kind::all_to_all);
            std::vector<Values> in, out;
            for (int j = 0; j < n; ++j) {
                in.push_back(values_of<Values>(rank * n + j, count + std::size_t(rank + j)));
                out.emplace_back(count + std::size_t(rank + j));
            }
            for (std::size_t j = 0; j < members; ++j) {
                call.in.push_back(span_of(in[j]));
                call.out.push_back(span_of(out[j]));
            }
            group.run(call, 0);
            for (int j = 0; j < n; ++j)
                EXPECT_EQ(out[std::size_t(j)],
                          values_of<Values>(j * n + rank, count + std::size_t(rank + j)));

            Values mine = values_of<Values>(rank, count + std::size_t(rank));
            std::vector<Values> all;
            Call gather = call_of(Kind::all_gather);
            gather.in = {span_of(mine)};
            for (std::size_t j = 0; j < members; ++j) all.emplace_back(count + j);
            for (Values& values : all) gather.out.push_back(span_of(values));
            group.run(gather, 0);
            for (int j = 0; j < n; ++j)
                EXPECT_EQ(all[std::size_t(j)], values_of<Values>(j, count + std::size_t(j)));

            Values whole = values_of<Values>(7, count), part(count);
            Call broadcast = call_of(Kind::broadcast, n / 2);
            if (rank == n / 2) broadcast.in = {span_of(whole)};
            if (rank != n / 2) broadcast.out = {span_of(part)};
            group.run(broadcast, 0);
            if (rank != n / 2) {
                EXPECT_EQ(part, whole);
            }

            Values pieces = values_of<Values>(3, count * members), piece(count);
            Call scatter = call_of(Kind::scatter);
            for (std::size_t j = 0; rank == 0 && j < members; ++j)
                scatter.in.push_back(span_of(pieces, j * count, count));
            scatter.out = {span_of(piece)};
            group.run(scatter, 0);
            EXPECT_EQ(piece, Values(pieces.begin() + std::ptrdiff_t(std::size_t(rank) * count),
                                    pieces.begin() + std::ptrdiff_t(std::size_t(rank + 1) * count)));
            Call back = call_of(Kind::gather);
            Values collected(count * members);
            back.in = {span_of(piece)};
            for (std::size_t j = 0; rank == 0 && j < members; ++j)
                back.out.push_back(span_of(collected, j * count, count));
            group.run(back, 0);
            if (rank == 0) {
                EXPECT_EQ(collected, pieces);
            }

            Call reduce_scatter = call_of(Kind::reduce_scatter);
            for (std::size_t j = 0; j < members; ++j)
                reduce_scatter.in.push_back(span_of(pieces, j * count, count));
            Values sum(count), expected = piece;
            reduce_scatter.out = {span_of(sum)};
            for (auto& value : expected) value *= n;
            group.run(reduce_scatter, 0);
            EXPECT_EQ(sum, expected);
        }
    });
}

TEST_P(Groups, CallersMayChangeTheirDataAtOnce) {
    const int n = members();
    as_members(n, [n](Group& group, int rank) {
        constexpr std::size_t count = 50'000;
        const auto size = std::size_t(n);
        Values data(count), sum(count), all(count * size), pieces(count * size), exchanged(count * size);
        for (int turn = 0; turn < 20; ++turn) {
            std::fill(data.begin(), data.end(), turn + rank);
            std::fill(pieces.begin(), pieces.end(), 100 * turn + rank);
            Call gather = call_of(Kind::all_gather), exchange = call_of(Kind::all_to_all);
            gather.in = {span_of(data)};
            for (std::size_t i = 0, sent = 0, got = 0; i < size; ++i) {
                gather.out.push_back(span_of(all, i * count, count));
                // Piece j of member i has i + 7 * j elements less than most.
                const std::size_t in = count - std::size_t(rank) - 7 * i,
                                  out = count - i - 7 * std::size_t(rank);
                exchange.in.push_back(span_of(pieces, sent, in));
                exchange.out.push_back(span_of(exchanged, got, out));
                sent += in;
                got += out;
            }
            group.run(gather, 0);
            std::fill(data.begin(), data.end(), -1);
            group.run(exchange, 0);
            std::fill(pieces.begin(), pieces.end(), -1);
            std::fill(data.begin(), data.end(), rank + turn);
            Call reduce = call_of(Kind::reduce, turn % n);
            reduce.in = {span_of(data)};
            if (rank == turn % n) reduce.out = {span_of(sum)};
            group.run(reduce, 0);
            std::fill(data.begin(), data.end(), -1);
            for (std::size_t i = 0; i < size; ++i) {
                EXPECT_EQ(all[i * count + 1], turn + int(i));
                EXPECT_EQ(all[(i + 1) * count - 1], turn + int(i));
                const auto* const first = reinterpret_cast<std::int32_t*>(exchange.out[i].data);
                EXPECT_EQ(first[0], 100 * turn + int(i));
                EXPECT_EQ(first[exchange.out[i].bytes / 4 - 1], 100 * turn + int(i));
            }
            if (rank == turn % n) {
                EXPECT_EQ(sum, Values(count, n * turn + n * (n - 1) / 2));
            }
        }
    });
}

TEST_P(Groups, StartedOperationsEndWithoutAWaiter) {
    const int n = members();
    as_members(n, [n](Group& group, int rank) {
        constexpr int calls = 20;
        std::vector<Values> data;
        for (int i = 0; i < calls; ++i) data.push_back(values_of<Values>(rank + i, 40'000));
        std::atomic<int> finished{0}, notified{0};
        std::vector<RequestPtr> requests;
        for (Values& values : data) {
            Call call = call_of(Kind::all_reduce);
            call.in = call.out = {span_of(values)};
            requests.push_back(group.start(
                call, 0, [&] { ++finished; }, [&](const Request&) { ++notified; }));
        }
        while (notified.load() < calls) std::this_thread::yield();
        EXPECT_EQ(finished.load(), calls);
        for (int i = 0; i < calls; ++i) {
            EXPECT_TRUE(requests[std::size_t(i)]->is_over());
            EXPECT_EQ(data[std::size_t(i)][1], n * (1000 * i + 1) + 1000 * n * (n - 1) / 2);
        }
    });
}

TEST(Requests, MessagesAreMatchedByTagAndSender) {
    as_members(3, [](Group& group, int rank) {
        for (const std::size_t count : sizes) {
            Values first = values_of<Values>(rank, count), second = values_of<Values>(rank + 10, count);
            const auto message = [&](Kind kind, int other, int tag, Values& values) {
                Call call = call_of(kind, other);
                call.tag = tag;
                (kind == Kind::send ? call.in : call.out) = std::vector{span_of(values)};
                return group.start(call, 0);
            };
            if (rank != 0) {
                const RequestPtr a = message(Kind::send, 0, 1, first);
                const RequestPtr b = message(Kind::send, 0, 2, second);
                group.wait(a, -1);
                group.wait(b, -1);
            } else {
                Values of_two(count), any_a(count), any_b(count), last(count);
                const RequestPtr b = message(Kind::receive, 2, 2, of_two);  // overtakes tag 1
                group.wait(b, -1);
                EXPECT_EQ(of_two, values_of<Values>(12, count));
                const RequestPtr x = message(Kind::receive, any_source, 1, any_a);
                const RequestPtr y = message(Kind::receive, any_source, 1, any_b);
                group.wait(x, -1);
                group.wait(y, -1);
                EXPECT_EQ(x->source + y->source, 3);
                EXPECT_EQ(any_a, values_of<Values>(x->source, count));
                EXPECT_EQ(any_b, values_of<Values>(y->source, count));
                group.wait(message(Kind::receive, 1, 2, last), -1);
                EXPECT_EQ(last, values_of<Values>(11, count));
            }
            group.run(call_of(Kind::barrier), 0);
        }
    });
}

TEST(Requests, GroupsUsedInDifferentOrdersDoNotBlockEachOther) {
    const auto one = memory_for(2), two = memory_for(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
            const auto a = group_of(one, rank, 2), b = group_of(two, rank, 2);
            Values x = values_of<Values>(rank, 50'000), y = x;
            Call in_x = call_of(Kind::all_reduce), in_y = in_x;
            in_x.in = in_x.out = {span_of(x)};
            in_y.in = in_y.out = {span_of(y)};
            if (rank == 0) {
                const RequestPtr first = a->start(in_x, 0);
                b->run(in_y, 0);
                a->wait(first, -1);
            } else {
                const RequestPtr first = b->start(in_y, 0);
                a->run(in_x, 0);
                b->wait(first, -1);
            }
            EXPECT_EQ(x[0], 1000);
            EXPECT_EQ(y[0], 1000);
        });
    for (std::thread& thread : threads) thread.join();
}

std::string error_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Requests, DifferentCallsAreNamed) {
    as_members(2, [](Group& group, int rank) {
        Values values(4);
        Call call = call_of(rank == 0 ? Kind::all_reduce : Kind::barrier);
        if (rank == 0) call.in = call.out = {span_of(values)};
        const std::string text = error_of([&] { group.run(call, 0); });
        EXPECT_NE(text.find("barrier"), std::string::npos) << text;
        EXPECT_NE(text.find("all_reduce (sum) of 16 bytes"), std::string::npos) << text;
        const std::string after = error_of([&] { group.run(call, 0); });
        EXPECT_NE(after.find("is unusable"), std::string::npos) << after;
    });
}

thread_local std::string line_of_thread;

TEST(Requests, DifferentCallsAreNamedWithTheirLines) {
    common::set_wait_hooks({.site_of_thread = [] { return line_of_thread; }});
    as_members(2, [](Group& group, int rank) {
        line_of_thread = "/home/x.py:" + std::to_string(10 + rank);
        Values values(4);
        Call call = call_of(rank == 0 ? Kind::all_reduce : Kind::barrier);
        if (rank == 0) call.in = call.out = {span_of(values)};
        const std::string text = error_of([&] { group.run(call, 0); });
        for (const char* part : {"rank 0 called all_reduce (sum) of 16 bytes of int32 at /home/x.py:10",
                                 "rank 1 called barrier at /home/x.py:11 as call 1, where"})
            EXPECT_NE(text.find(part), std::string::npos) << text;
    });
    common::set_wait_hooks({});
}

/// All members have come, so each knows who alone differs.
TEST(Requests, TheMemberThatAloneDiffersIsNamedOnAll) {
    as_members(3, [](Group& group, int rank) {
        Values values(4);
        Call call = call_of(rank == 1 ? Kind::barrier : Kind::all_reduce);
        if (rank != 1) call.in = call.out = {span_of(values)};
        const std::string text = error_of([&] { group.run(call, 0); });
        EXPECT_NE(text.find("rank 1 called barrier as call 1, where rank 0,2 called all_reduce (sum) of 16 "
                            "bytes of int32. "),
                  std::string::npos)
            << text;
    });
}

TEST(Requests, AReceiveTellsOfAMessageByAnotherTag) {
    std::atomic<bool> is_seen{false};
    as_members(2, [&](Group& group, int rank) {
        Values values(1);
        const auto message = [&](Kind kind, int tag) {
            Call call = call_of(kind, 1 - rank);
            call.tag = tag;
            auto& data = kind == Kind::send ? call.in : call.out;
            data.push_back(span_of(values));
            return call;
        };
        if (rank == 0) {
            group.run(message(Kind::send, 1), 0);
            while (!is_seen.load()) std::this_thread::yield();
            group.run(message(Kind::send, 2), 0);
            return;
        }
        const RequestPtr second = group.start(message(Kind::receive, 2), 0);
        const std::string expected = "4 bytes by tag 2, while one by tag 1 is here";
        while (group.snapshot_of(*second).details != expected) group.test(second);
        EXPECT_EQ(group.snapshot_of(*second).missing, std::vector<int>{0});
        EXPECT_STREQ(group.snapshot_of(*second).operation, "recv");
        is_seen = true;
        group.wait(second, -1);
        group.run(message(Kind::receive, 1), 0);
    });
}

TEST(Requests, ATimeOutNamesTheMissingMembers) {
    std::atomic<bool> over{false};
    as_members(3, [&](Group& group, int rank) {
        if (rank != 0) {
            while (!over.load()) std::this_thread::yield();
            return;
        }
        const std::string text = error_of([&] { group.run(call_of(Kind::barrier), 0.05); });
        EXPECT_EQ(text, "Timed out after 0.05 s in barrier on rank 0; waiting for ranks 1, 2.");
        over = true;
    });
}

TEST(Requests, AMemberThatLeftIsNamed) {
    as_members(2, [&](Group& group, int rank) {
        if (rank == 1) return;
        const std::string text = error_of([&] { group.run(call_of(Kind::barrier), 0); });
        EXPECT_EQ(text, "rank 1 has left the communicator, so barrier on rank 0 cannot end.");
    });
}

TEST(Requests, WrongArgumentsAreRefusedAndTheGroupStaysUsable) {
    as_members(2, [](Group& group, int) {
        Values values(4);
        Call call = call_of(Kind::broadcast, 5);
        EXPECT_EQ(error_of([&] { group.run(call, 0); }),
                  "broadcast with root 5: the group has the members 0 to 1.");
        call = call_of(Kind::all_reduce);
        call.in = {span_of(values)};
        EXPECT_EQ(error_of([&] { group.run(call, 0); }),
                  "all_reduce was given 0 output arrays; it takes 1 here.");
        group.run(call_of(Kind::barrier), 0);
    });
}

TEST(Requests, NarrowTypesAreRoundedOnce) {
    as_members(3, [](Group& group, int rank) {
        // bfloat16: 256 + 1 + 1 is 258 if it is rounded once, and 256 if it is rounded after each step.
        std::uint16_t value = rank == 0 ? 0x4380 : 0x3f80;
        Call call = call_of(Kind::all_reduce);
        call.type = static_cast<int>(DType::bfloat16);
        call.in = call.out = {{reinterpret_cast<char*>(&value), 2}};
        group.run(call, 0);
        EXPECT_EQ(value, 0x4381);
        // e4m3: 16 + 1 + 1 is 18 = 0x59; e5m2: 8 + 1 + 1 is 10 = 0x49.
        for (const int type : {float8_e4m3, float8_e5m2}) {
            const bool fine = type == float8_e4m3;
            std::uint8_t code = rank == 0 ? (fine ? 0x58 : 0x48) : (fine ? 0x38 : 0x3c);
            call.type = type;
            call.in = call.out = {{reinterpret_cast<char*>(&code), 1}};
            group.run(call, 0);
            EXPECT_EQ(code, fine ? 0x59 : 0x49);
        }
    });
}

}  // namespace
}  // namespace atl::requests
