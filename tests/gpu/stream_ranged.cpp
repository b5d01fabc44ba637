// Stream-ordered collectives with different results or inputs per member: reductions to one root, scans,
// collect and alltoalls. Checked against values computed on the host; between other calls, captured and
// replayed.
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/streams.hpp"
#include "stream/kernels/team_memory.hpp"
#include "support/multi_main.hpp"

#include <algorithm>
#include <complex>

namespace atl::testing {
namespace {

class StreamRanged : public OnStream {
  protected:
    /// Input of PE `pe`: whole numbers, so that any order gives the same sum.
    template <class T> static std::vector<T> input(int pe, std::size_t n) {
        std::vector<T> v(n);
        for (std::size_t i = 0; i < n; ++i)
            v[i] = static_cast<T>((i * 7 + static_cast<std::size_t>(pe) * 13) % 11 + 1);
        return v;
    }
    /// Folds the inputs of the first `members`; zeros if there is no member.
    template <class T> static std::vector<T> folded(ReduceOp op, int members, std::size_t n) {
        std::vector<T> result = members == 0 ? std::vector<T>(n) : input<T>(0, n);
        for (int pe = 1; pe < members; ++pe) {
            const std::vector<T> next = input<T>(pe, n);
            for (std::size_t i = 0; i < n; ++i) {
                if constexpr (std::integral<T>)
                    if (op == ReduceOp::bit_xor) {
                        result[i] = static_cast<T>(result[i] ^ next[i]);
                        continue;
                    }
                if constexpr (requires { result[i] < next[i]; })
                    if (op == ReduceOp::max) {
                        result[i] = std::max(result[i], next[i]);
                        continue;
                    }
                result[i] = static_cast<T>(op == ReduceOp::prod ? result[i] * next[i] : result[i] + next[i]);
            }
        }
        return result;
    }
    template <class T> void folds(ReduceOp op, std::size_t n, std::size_t shift = 0) {
        const int me = job_.my_pe(), pes = job_.n_pes();
        T* memory[2] = {zeros<T>(n + shift + 8), zeros<T>(n + shift + 8)};
        const StreamTeam team = team_on_stream();
        T* const src = memory[0] + shift;
        for (T* const dst : {memory[1] + shift, src}) {
            const char* const where = dst == src ? "in place" : "apart";
            const auto fresh = [&] {
                finish();
                job_.world().barrier();
                set(src, input<T>(me, n));
                job_.world().barrier();
            };
            const auto expect = [&](const std::vector<T>& wanted, const char* what) {
                finish();
                EXPECT_TRUE(values(dst, n) == wanted)
                    << what << " of " << n << " elements of " << sizeof(T) << " bytes, operator "
                    << static_cast<int>(op) << ", shift " << shift << ", " << where;
                EXPECT_EQ(values(dst + n, 1)[0], T{}) << what << ", past the end";
            };
            fresh();
            team.scan_erased(dst, src, n, dtype<T>, op, true);
            expect(folded<T>(op, me + 1, n), "inscan");
            if (op == ReduceOp::sum) {
                fresh();
                team.sum_exscan(std::span(dst, n), std::span<const T>(src, n));
                expect(folded<T>(op, me, n), "exscan");
            }
            for (int root = 0; root < pes; root += std::max(1, pes - 1)) {
                fresh();
                const std::vector<T> before = values(dst, n);
                team.reduce_to(me == root ? std::span(dst, n) : std::span<T>(), std::span<const T>(src, n),
                               op, root);
                expect(me == root ? folded<T>(op, pes, n) : before, "reduce_to");
            }
        }
        job_.world().barrier();
        job_.free(memory[1]);
        job_.free(memory[0]);
    }
    template <class T> void all_operators(std::initializer_list<ReduceOp> ops) {
        for (const ReduceOp op : ops) {
            folds<T>(op, 100);
            folds<T>(op, (std::size_t{600} << 10) / sizeof(T) + 3);
        }
    }
    /// Number of elements that PE `pe` contributes to collect.
    static std::size_t share(int pe, std::size_t most) {
        return pe % 3 == 1 ? 0 : most - static_cast<std::size_t>(pe) % most;
    }
    static constexpr std::size_t sizes[] = {1, 7, 4096, (1 << 20) + 5};
};

TEST_F(StreamRanged, FoldsOfEverySize) {
    for (const std::size_t n : sizes) folds<float>(ReduceOp::sum, n);
    for (const std::size_t n : {16384u, 65536u, 65537u, 300000u}) folds<float>(ReduceOp::sum, n);
    for (const std::size_t shift : {1u, 3u}) {
        folds<float>(ReduceOp::sum, 1001, shift);
        folds<float>(ReduceOp::sum, 300001, shift);
        folds<signed char>(ReduceOp::sum, 700001, shift);
    }
}

TEST_F(StreamRanged, FoldsOfEveryTypeAndOperator) {
    using enum ReduceOp;
    all_operators<std::int8_t>({sum, max, bit_xor});
    all_operators<std::uint16_t>({sum, bit_xor});
    all_operators<std::int32_t>({sum, prod, max, bit_xor});
    all_operators<std::uint64_t>({sum, prod});
    all_operators<float>({sum, max});
    all_operators<double>({sum, prod});
    all_operators<std::complex<float>>({sum});
    all_operators<std::complex<double>>({sum, prod});
}

TEST_F(StreamRanged, HalvesAndMeans) {
    constexpr std::uint16_t one_and_a_half = 0x3e00, bf_one_and_a_half = 0x3fc0;
    for (const std::size_t n : {8u, 400001u}) {
        auto* x = zeros<float16>(n);
        auto* y = zeros<float16>(n);
        auto* z = zeros<bfloat16>(n);
        set(x, std::vector<float16>(n, {one_and_a_half}));
        set(z, std::vector<bfloat16>(n, {bf_one_and_a_half}));
        job_.world().barrier();
        team_on_stream().reduce(std::span(y, n), std::span<const float16>(x, n), ReduceOp::sum);
        team_on_stream().scan_erased(x, x, n, DType::float16, ReduceOp::sum, true);
        team_on_stream().reduce_to(std::span(z, n), std::span<const bfloat16>(z, n), ReduceOp::avg, 0);
        finish();
        for (const std::size_t i : {std::size_t{0}, n - 1}) {
            EXPECT_EQ(values(z, n)[i].bits, bf_one_and_a_half);
            if (job_.my_pe() == 0) {
                EXPECT_EQ(values(x, n)[i].bits, one_and_a_half);
            }
            if (job_.my_pe() == job_.n_pes() - 1) {
                EXPECT_EQ(values(x, n)[i].bits, values(y, n)[i].bits) << "the last PE's is everybody's sum";
            }
        }
        job_.world().barrier();
        job_.free(z);
        job_.free(y);
        job_.free(x);
    }
}

TEST_F(StreamRanged, CollectOfAnySizeFromAnyPlace) {
    const int me = job_.my_pe();
    for (const std::size_t most : sizes) {
        auto* src = zeros<short>(most + 8);
        auto* dst = zeros<short>(most * static_cast<std::size_t>(job_.n_pes()) + 1);
        short* const mine = src + me;  // a different offset on each PE
        set(mine, input<short>(me, share(me, most)));
        std::vector<short> wanted;
        for (int pe = 0; pe < job_.n_pes(); ++pe) {
            const std::vector<short> theirs = input<short>(pe, share(pe, most));
            wanted.insert(wanted.end(), theirs.begin(), theirs.end());
        }
        job_.world().barrier();
        for (int round = 0; round < 3; ++round) {
            team_on_stream().collect(std::span(dst, wanted.size()),
                                     std::span<const short>(mine, share(me, most)));
            finish();
            EXPECT_TRUE(values(dst, wanted.size()) == wanted) << most;
            EXPECT_EQ(values(dst + wanted.size(), 1)[0], 0) << "past the end";
            set(dst, std::vector<short>(wanted.size()));
        }
        EXPECT_EQ(job_.world().collect(std::span(dst, wanted.size()),
                                       std::span<const short>(mine, share(me, most))),
                  wanted.size());
        EXPECT_TRUE(values(dst, wanted.size()) == wanted) << most << ", not on a stream";
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
}

TEST_F(StreamRanged, AlltoallsByStrides) {
    const auto n = static_cast<std::size_t>(job_.n_pes()), me = static_cast<std::size_t>(job_.my_pe());
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{300001}}) {
        auto* src = zeros<int>(n * count * 3);
        auto* dst = zeros<int>(n * count * 2);
        set(src, input<int>(job_.my_pe(), n * count * 3));
        std::vector<int> wanted(n * count * 2);
        for (std::size_t pe = 0; pe < n; ++pe) {
            const std::vector<int> theirs = input<int>(static_cast<int>(pe), n * count * 3);
            for (std::size_t i = 0; i < count; ++i)
                wanted[(pe * count + i) * 2] = theirs[(me * count + i) * 3];
        }
        job_.world().barrier();
        team_on_stream().alltoalls(dst, src, 2, 3, count);
        finish();
        EXPECT_TRUE(values(dst, wanted.size()) == wanted) << count;
        set(dst, std::vector<int>(wanted.size()));
        job_.world().barrier();
        job_.world().alltoalls(dst, src, 2, 3, count);
        EXPECT_TRUE(values(dst, wanted.size()) == wanted) << count << ", not on a stream";
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
}

/// Small and large scans and reductions among other collectives of the team. The host does not wait between
/// them. Then all again as a graph.
TEST_F(StreamRanged, BetweenOthersAndReplayed) {
    constexpr std::size_t large = 300000;
    const int me = job_.my_pe(), pes = job_.n_pes();
    auto* x = zeros<double>(large);
    auto* y = zeros<double>(large);
    auto* all = zeros<double>(large * static_cast<std::size_t>(pes));
    set(x, std::vector<double>(large, me + 1.0));
    job_.world().barrier();
    const StreamTeam team = team_on_stream();
    const auto step = [&](std::size_t n) {
        const std::span<const double> in(x, n), got(y, n);
        team.sum_exscan(std::span(y, n), in);
        team.sum_reduce(std::span(all, n), got);
        team.reduce_to(std::span(y, n), in, ReduceOp::sum, pes - 1);
        team.broadcast(std::span(y, n), got, pes - 1);
        team.collect(std::span(all, large * static_cast<std::size_t>(pes)),
                     got.first(n - std::min(n, static_cast<std::size_t>(me))));
        team.sum_inscan(std::span(y, n), got);
        team.alltoalls(all, y, 1, 1, n / static_cast<std::size_t>(pes));
    };
    const auto check = [&](std::size_t n) {
        finish();
        EXPECT_EQ(values(y, n), std::vector<double>(n, (me + 1) * pes * (pes + 1) / 2.0)) << n;
        for (std::size_t pe = 0, each = n / static_cast<std::size_t>(pes); pe * each < n && each > 0; ++pe) {
            if (pe == static_cast<std::size_t>(pes)) break;
            EXPECT_EQ(values(all + pe * each, 1)[0],
                      static_cast<double>(pe + 1) * static_cast<double>(pes * (pes + 1)) / 2.0)
                << n;
        }
        set(y, std::vector<double>(large, -1.0));
        job_.world().barrier();
    };
    for (int round = 0; round < replays() / 20; ++round)
        for (const std::size_t n : {std::size_t{5}, std::size_t{4000}, large}) step(n);
    check(large);
    for (const std::size_t n : {std::size_t{5}, large}) {
        Graph graph(stream_, [&] { step(n); });
        for (int round = 0; round < 2; ++round) {
            graph.launch();
            check(n);
        }
    }
    job_.free(all);
    job_.free(y);
    job_.free(x);
}

/// Like StreamCollectives.NumbersBeginAgain: the counts of these wrap like the others'.
TEST_F(StreamRanged, NumbersBeginAgain) {
    constexpr std::size_t large = 400000;
    auto* x = zeros<float>(large);
    auto* y = zeros<float>(large);
    const core::TeamState& world = job_.world().state();
    const gpu::TeamRanges::Range place = stream::team_memory(world);
    const gpu::GroupMemory memory{job_.n_pes(), place.words_bytes};
    const StreamTeam team = team_on_stream();
    for (const std::uint32_t first : {0xbffffffdu, 0xfffffff8u}) {
        finish();
        job_.world().barrier();
        set(reinterpret_cast<std::uint32_t*>(place.address),
            std::vector<std::uint32_t>(memory.flag_at(gpu::GroupMemory::most_blocks, 0) / 4, first));
        job_.world().barrier();
        for (int round = 1; round < 20; ++round) {
            const std::size_t n = round == 12 ? large : round % 4 == 0 ? 1 : round % 4 == 1 ? 300 : 1024;
            set(x, std::vector<float>(n, static_cast<float>(round)));
            job_.world().barrier();
            team.sum_inscan(std::span(y, n), std::span<const float>(x, n));
            finish();
            ASSERT_TRUE(values(y, n) == std::vector<float>(n, static_cast<float>(round * (job_.my_pe() + 1))))
                << n << " in round " << round;
            job_.world().barrier();
        }
    }
    job_.free(y);
    job_.free(x);
}

}  // namespace
}  // namespace atl::testing
