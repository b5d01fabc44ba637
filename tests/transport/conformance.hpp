// The tests that every transport must pass. A transport joins by a file that defines a world and instantiates
// the suite:
//
//     struct MyWorld {
//         explicit MyWorld(int n_pes);
//         transport::Transport& transport(int pe);   // the transport of PE `pe`
//         char* heap(int pe);                        // the heap of `pe` in this process, zeroed
//         static constexpr std::size_t heap_bytes = 1 << 20;
//     };
//     INSTANTIATE_TYPED_TEST_SUITE_P(Mine, TransportConformance, MyWorld);
#pragma once

#include "transport/apply_atomic.hpp"
#include "transport/transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace atl::test {

using transport::Completion;
using transport::ContextId;
using transport::Transport;

inline constexpr int n_pes = 3;
inline constexpr std::size_t guard_bytes = 64;

template <class World> class TransportConformance : public ::testing::Test {
  protected:
    static constexpr ContextId context = 0;

    Transport& from(int pe) { return world_.transport(pe); }
    template <class T> T* word(int pe, std::uint64_t offset) {
        return reinterpret_cast<T*>(world_.heap(pe) + offset);
    }
    template <class T> T found(int pe, std::uint64_t offset) {
        return detail::atomic_load(word<T>(pe, offset));
    }
    template <class T> void put(int me, int pe, std::uint64_t offset, T value, ContextId ctx = context) {
        from(me).put(ctx, pe, offset, &value, sizeof value, Completion::local);
    }
    template <class T>
    T atomic(int me, int pe, std::uint64_t offset, AtomicOp op, T value = T{}, T compare = T{}) {
        const std::uint64_t before = from(me).atomic(context, pe, offset, op, dtype<T>,
                                                     detail::to_word(value), detail::to_word(compare));
        return detail::from_word<T>(static_cast<detail::Word<T>>(before));
    }
    /// Waits like the library, as PE `me`.
    template <class Ready> void wait(int me, Ready&& ready) {
        while (!ready()) {
            from(me).progress();
            std::this_thread::yield();
        }
    }

    static std::vector<char> pattern(std::size_t bytes, int seed) {
        std::vector<char> data(bytes);
        std::iota(data.begin(), data.end(), static_cast<char>(seed));
        return data;
    }

    World world_{n_pes};
};

inline constexpr std::array<std::size_t, 24> sizes{
    1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 255, 1024, 4097, 65536, 100003};

TYPED_TEST_SUITE_P(TransportConformance);

TYPED_TEST_P(TransportConformance, SaysWhatItReaches) {
    EXPECT_FALSE(this->from(0).name().empty());
    for (int pe = 0; pe < n_pes; ++pe) EXPECT_TRUE(this->from(0).reaches(pe));
    EXPECT_FALSE(this->from(0).reaches(n_pes));
    EXPECT_FALSE(this->from(0).reaches(-1));
}

TYPED_TEST_P(TransportConformance, PutsEverySizeAndAlignmentAndNothingBeside) {
    for (const Completion completion : {Completion::local, Completion::at_quiet}) {
        for (const std::size_t bytes : sizes) {
            for (const std::size_t shift : {0, 1, 2, 4, 7}) {
                const std::uint64_t offset = guard_bytes + shift;
                char* target = this->world_.heap(1);
                std::memset(target, 0x55, offset + bytes + guard_bytes);
                std::vector<char> source = this->pattern(bytes, static_cast<int>(bytes + shift));
                const std::vector<char> expected = source;
                this->from(0).put(this->context, 1, offset, source.data(), bytes, completion);
                // A locally complete put no longer reads its source.
                if (completion == Completion::local) std::fill(source.begin(), source.end(), 0x7f);
                this->from(0).quiet(this->context, 1);
                ASSERT_EQ(std::memcmp(target + offset, expected.data(), bytes), 0)
                    << bytes << " bytes at " << offset;
                ASSERT_EQ(target[offset - 1], 0x55) << bytes;
                ASSERT_EQ(target[offset + bytes], 0x55) << bytes;
            }
        }
    }
}

TYPED_TEST_P(TransportConformance, GetsEverySizeAndAlignmentAndNothingBeside) {
    for (const Completion completion : {Completion::local, Completion::at_quiet}) {
        for (const std::size_t bytes : sizes) {
            for (const std::size_t shift : {0, 1, 2, 4, 7}) {
                const std::uint64_t offset = guard_bytes + shift;
                const std::vector<char> expected = this->pattern(bytes, static_cast<int>(bytes + shift));
                std::memcpy(this->world_.heap(2) + offset, expected.data(), bytes);
                std::vector<char> into(bytes + 2 * guard_bytes, 0x55);
                this->from(0).get(this->context, 2, offset, into.data() + guard_bytes, bytes, completion);
                if (completion == Completion::at_quiet) this->from(0).quiet(this->context, 2);
                ASSERT_EQ(std::memcmp(into.data() + guard_bytes, expected.data(), bytes), 0)
                    << bytes << " bytes at " << offset;
                ASSERT_EQ(into[guard_bytes - 1], 0x55) << bytes;
                ASSERT_EQ(into[guard_bytes + bytes], 0x55) << bytes;
            }
        }
    }
}

TYPED_TEST_P(TransportConformance, UnconfirmedPutsArriveInOrder) {
    constexpr std::uint64_t flag = 8, data = 64;
    std::uint64_t turn = 0;
    for (const std::size_t bytes : sizes) {
        const std::vector<char> expected = this->pattern(bytes, static_cast<int>(bytes));
        std::vector<char> source = expected;
        this->from(0).put(this->context, 1, data, source.data(), bytes, Completion::unconfirmed);
        std::fill(source.begin(), source.end(), 0x7f);
        this->from(0).fence(this->context, 1);
        ++turn;
        this->from(0).put(this->context, 1, flag, &turn, sizeof turn, Completion::unconfirmed);
        this->wait(1, [&] {
            this->from(0).progress();
            return this->template found<std::uint64_t>(1, flag) == turn;
        });
        ASSERT_EQ(std::memcmp(this->world_.heap(1) + data, expected.data(), bytes), 0) << bytes << " bytes";
    }
    this->from(0).quiet(this->context, -1);
}

TYPED_TEST_P(TransportConformance, AnEmptyPutConfirmsEarlierUnconfirmedPuts) {
    for (std::uint64_t turn = 1; turn <= 200; ++turn) {
        const std::uint64_t at = 8 * (turn % 7);
        this->from(0).put(this->context, 1, at, &turn, sizeof turn, Completion::unconfirmed);
        this->from(0).fence(this->context, 1);
        this->from(0).put(this->context, 1, 0, &turn, 0, Completion::local);
        this->from(0).quiet(this->context, 1);
        ASSERT_EQ(this->template found<std::uint64_t>(1, at), turn);
    }
}

TYPED_TEST_P(TransportConformance, ReachesItself) {
    this->put(1, 1, 8, std::uint64_t{42});
    this->from(1).quiet(this->context, -1);
    EXPECT_EQ(this->template found<std::uint64_t>(1, 8), 42u);
}

TYPED_TEST_P(TransportConformance, QuietCompletesOnePeOrAll) {
    constexpr std::uint64_t count = 1000;
    for (std::uint64_t i = 0; i < count; ++i)
        for (int pe = 1; pe < n_pes; ++pe) this->put(0, pe, 8 * i, i + static_cast<std::uint64_t>(pe));
    this->from(0).quiet(this->context, 1);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(this->template found<std::uint64_t>(1, 8 * i), i + 1);
    this->from(0).quiet(this->context, -1);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(this->template found<std::uint64_t>(2, 8 * i), i + 2);
}

TYPED_TEST_P(TransportConformance, ManyOutstandingPutsKeepTheirSources) {
    constexpr std::size_t count = 2000, bytes = 256;
    std::vector<std::vector<char>> sources;
    for (std::size_t i = 0; i < count; ++i) {
        sources.push_back(this->pattern(bytes, static_cast<int>(i)));
        this->from(0).put(this->context, 1, i * bytes, sources.back().data(), bytes, Completion::at_quiet);
    }
    this->from(0).quiet(this->context, -1);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(std::memcmp(this->world_.heap(1) + i * bytes, sources[i].data(), bytes), 0) << i;
}

TYPED_TEST_P(TransportConformance, TheLaterPutWinsAfterAFence) {
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 5; ++i) {
            this->put(0, 1, 0, 10 * round + i);
            this->from(0).fence(this->context, i % 2 ? 1 : -1);
        }
        this->from(0).quiet(this->context, 1);
        ASSERT_EQ(this->template found<int>(1, 0), 10 * round + 4);
    }
}

TYPED_TEST_P(TransportConformance, AFenceOrdersPutsAndAtomics) {
    for (int round = 0; round < 100; ++round) {
        const long base = 1000L * round;
        this->put(0, 1, 0, base);
        this->from(0).fence(this->context, 1);
        this->template atomic<long>(0, 1, 0, AtomicOp::add, 5);
        this->from(0).fence(this->context, 1);
        ASSERT_EQ(this->template atomic<long>(0, 1, 0, AtomicOp::fetch_add, 7), base + 5);
        this->from(0).fence(this->context, 1);
        this->put(0, 1, 0, base + 100);
        this->from(0).quiet(this->context, 1);
        ASSERT_EQ(this->template found<long>(1, 0), base + 100);
    }
}

TYPED_TEST_P(TransportConformance, DataArriveBeforeTheirFlag) {
    constexpr std::uint64_t flag = 0, data = 64, acknowledged = 0;
    constexpr std::size_t words = 100;
    constexpr std::uint64_t rounds = 300;
    std::thread reader([&] {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            this->wait(1, [&] { return this->template found<std::uint64_t>(1, flag) >= round; });
            for (std::size_t i = 0; i < words; ++i)
                ASSERT_EQ(*this->template word<std::uint64_t>(1, data + 8 * i), round + i);
            this->put(1, 0, acknowledged, round);
        }
        this->from(1).quiet(this->context, -1);
    });
    std::vector<std::uint64_t> source(words);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        for (std::size_t i = 0; i < words; ++i) source[i] = round + i;
        this->from(0).put(this->context, 1, data, source.data(), 8 * words, Completion::local);
        this->from(0).fence(this->context, 1);
        if (round % 2) {
            this->put(0, 1, flag, round);
        } else {
            this->template atomic<std::uint64_t>(0, 1, flag, AtomicOp::add, 1);
        }
        // No quiet: the update must arrive while the PE waits.
        this->wait(0, [&] { return this->template found<std::uint64_t>(0, acknowledged) >= round; });
    }
    reader.join();
}

TYPED_TEST_P(TransportConformance, PollingByGetOrFetchComesToAnEnd) {
    this->put(0, 1, 0, 1);
    int seen = 0;
    while (seen != 1) this->from(0).get(this->context, 1, 0, &seen, sizeof seen, Completion::local);
    this->template atomic<int>(0, 1, 0, AtomicOp::add, 1);
    while (this->template atomic<int>(0, 1, 0, AtomicOp::fetch) != 2) {
    }
}

TYPED_TEST_P(TransportConformance, ContextsAreIndependent) {
    Transport& transport = this->from(0);
    std::vector<ContextId> contexts;
    for (int i = 0; i < 5; ++i) contexts.push_back(transport.create_context());
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        EXPECT_NE(contexts[i], 0u);
        this->put(0, 1, 8 * i, static_cast<std::uint64_t>(i + 1), contexts[i]);
    }
    transport.quiet(contexts[3], 1);
    EXPECT_EQ(this->template found<std::uint64_t>(1, 24), 4u);
    for (const ContextId context : contexts) transport.destroy_context(context);
    for (std::size_t i = 0; i < contexts.size(); ++i)
        EXPECT_EQ(this->template found<std::uint64_t>(1, 8 * i), i + 1);
    const ContextId again = transport.create_context();
    this->put(0, 2, 0, 9, again);
    transport.destroy_context(again);
    EXPECT_EQ(this->template found<int>(2, 0), 9);
}

/// Compares every operation of type T with the same on an ordinary variable.
template <class T, class Test> void sweep_atomics(Test&& apply) {
    const T values[] = {T(0),
                        T(1),
                        T(-1),
                        T(77),
                        static_cast<T>(T(1) / T(3)),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest()};
    for (int op = 0; op <= static_cast<int>(AtomicOp::fetch_xor); ++op) {
        const auto operation = static_cast<AtomicOp>(op);
        if (transport::is_bitwise(operation) && !std::is_integral_v<T>) continue;
        for (const T start : values)
            for (const T value : values)
                for (const T compare : {start, T(5)}) apply(operation, start, value, compare);
    }
}

TYPED_TEST_P(TransportConformance, AtomicsOfAllOperationsAndTypes) {
    const auto sweep = [&]<class T>(T) {
        sweep_atomics<T>([&](AtomicOp op, T start, T value, T compare) {
            T expected = start;
            const T before = detail::atomic_apply(op, &expected, value, compare);
            for (const std::uint64_t offset : {std::uint64_t{64}, 64 + std::uint64_t{sizeof(T)}}) {
                *this->template word<T>(1, offset) = start;
                const T returned = this->template atomic<T>(0, 1, offset, op, value, compare);
                this->from(0).quiet(this->context, 1);
                ASSERT_EQ(detail::to_word(this->template found<T>(1, offset)), detail::to_word(expected))
                    << static_cast<int>(op);
                if (!transport::is_fetching(op)) continue;
                ASSERT_EQ(detail::to_word(returned), detail::to_word(before)) << static_cast<int>(op);
            }
        });
    };
    sweep(std::int32_t{});
    sweep(std::int64_t{});
    sweep(std::uint32_t{});
    sweep(std::uint64_t{});
    sweep(float{});
    sweep(double{});
}

TYPED_TEST_P(TransportConformance, AtomicsThatDoNotExistAreRefused) {
    const auto code = [&](AtomicOp op, DType type) {
        try {
            this->from(0).atomic(this->context, 1, 0, op, type, 0, 0);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode{};
    };
    EXPECT_EQ(code(AtomicOp::add, DType::int16), ErrorCode::dtype_mismatch);
    EXPECT_EQ(code(AtomicOp::fetch, DType::complex128), ErrorCode::dtype_mismatch);
    EXPECT_EQ(code(AtomicOp::bit_or, DType::float64), ErrorCode::dtype_mismatch);
    this->put(0, 1, 0, 3);
    this->from(0).quiet(this->context, -1);
    EXPECT_EQ(this->template found<int>(1, 0), 3);
}

TYPED_TEST_P(TransportConformance, AtomicsFromAllPesAndThreadsAddUp) {
    constexpr int rounds = 2000, threads_per_pe = 2;
    constexpr std::uint64_t integer = 0, real = 8, fetched = 16, exchanged = 24, bits = 32;
    std::vector<std::thread> threads;
    for (int pe = 0; pe < n_pes; ++pe)
        for (int t = 0; t < threads_per_pe; ++t)
            threads.emplace_back([&, pe] {
                for (int i = 0; i < rounds; ++i) {
                    this->template atomic<std::int64_t>(pe, 1, integer, AtomicOp::add, 1);
                    this->template atomic<double>(pe, 1, real, AtomicOp::add, 0.5);
                    this->template atomic<std::uint32_t>(pe, 1, fetched, AtomicOp::fetch_add, 2);
                    this->template atomic<std::uint64_t>(pe, 1, bits, AtomicOp::fetch_xor,
                                                         std::uint64_t{1} << (i % 64));
                    std::int32_t seen = 0;
                    for (;;) {
                        const auto before = this->template atomic<std::int32_t>(
                            pe, 1, exchanged, AtomicOp::compare_swap, seen + 1, seen);
                        if (before == seen) break;
                        seen = before;
                    }
                }
                this->from(pe).quiet(this->context, -1);
            });
    for (std::thread& thread : threads) thread.join();
    constexpr int total = rounds * threads_per_pe * n_pes;
    EXPECT_EQ(this->template found<std::int64_t>(1, integer), total);
    EXPECT_EQ(this->template found<double>(1, real), 0.5 * total);
    EXPECT_EQ(this->template found<std::uint32_t>(1, fetched), 2u * total);
    EXPECT_EQ(this->template found<std::int32_t>(1, exchanged), total);
    EXPECT_EQ(this->template found<std::uint64_t>(1, bits), 0u);  // an even number of times each
}

TYPED_TEST_P(TransportConformance, AlignedWordsAreNeverTorn) {
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (std::uint64_t i = 0; i < 3000; ++i) {
            const std::uint64_t half = i & 0xffffffffu;
            this->put(0, 1, 8, half << 32 | half);
            this->from(0).quiet(this->context, 1);
        }
        done = true;
    });
    while (!done) {
        std::uint64_t seen = 0;
        this->from(2).get(this->context, 1, 8, &seen, sizeof seen, Completion::local);
        ASSERT_EQ(seen >> 32, seen & 0xffffffffu);
    }
    writer.join();
}

TYPED_TEST_P(TransportConformance, ThreadsUseContextsAtOnce) {
    constexpr int threads_count = 4, rounds = 300;
    std::vector<std::thread> threads;
    for (int t = 0; t < threads_count; ++t)
        threads.emplace_back([&, t] {
            const ContextId mine = this->from(0).create_context();
            for (std::uint64_t i = 0; i < rounds; ++i) {
                const std::uint64_t offset = 8 * (static_cast<std::uint64_t>(t) * rounds + i);
                this->put(0, 1, offset, i + 1, mine);
                this->from(0).progress();
                std::uint64_t back = 0;
                this->from(0).quiet(mine, 1);
                this->from(0).get(mine, 1, offset, &back, sizeof back, Completion::local);
                ASSERT_EQ(back, i + 1);
            }
            this->from(0).destroy_context(mine);
        });
    for (std::thread& thread : threads) thread.join();
}

REGISTER_TYPED_TEST_SUITE_P(TransportConformance, SaysWhatItReaches,
                            PutsEverySizeAndAlignmentAndNothingBeside,
                            GetsEverySizeAndAlignmentAndNothingBeside, UnconfirmedPutsArriveInOrder,
                            AnEmptyPutConfirmsEarlierUnconfirmedPuts, ReachesItself, QuietCompletesOnePeOrAll,
                            ManyOutstandingPutsKeepTheirSources, TheLaterPutWinsAfterAFence,
                            AFenceOrdersPutsAndAtomics, DataArriveBeforeTheirFlag,
                            PollingByGetOrFetchComesToAnEnd, ContextsAreIndependent,
                            AtomicsOfAllOperationsAndTypes, AtomicsThatDoNotExistAreRefused,
                            AtomicsFromAllPesAndThreadsAddUp, AlignedWordsAreNeverTorn,
                            ThreadsUseContextsAtOnce);

}  // namespace atl::test
