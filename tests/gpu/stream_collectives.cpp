// Stream-ordered collectives. Every kind, small and large, odd sizes and alignments, types and operators,
// against values computed on the host; captured and replayed.
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/streams.hpp"
#include "stream/kernels/team_memory.hpp"
#include "support/multi_main.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

namespace atl::testing {
namespace {

class StreamCollectives : public OnStream {
  protected:
    /// Input of PE `pe`: whole numbers, so that any order gives the same sum.
    template <class T> static std::vector<T> input(int pe, std::size_t n) {
        std::vector<T> v(n);
        for (std::size_t i = 0; i < n; ++i)
            v[i] = static_cast<T>((i * 7 + static_cast<std::size_t>(pe) * 13) % 31 + 1);
        return v;
    }
    template <class T> static T combine(ReduceOp op, T a, T b) {
        if constexpr (requires { a < b; }) {
            if (op == ReduceOp::min) return std::min(a, b);
            if (op == ReduceOp::max) return std::max(a, b);
        }
        if constexpr (std::integral<T>) {
            if (op == ReduceOp::bit_and) return static_cast<T>(a & b);
            if (op == ReduceOp::bit_or) return static_cast<T>(a | b);
            if (op == ReduceOp::bit_xor) return static_cast<T>(a ^ b);
        }
        return static_cast<T>(op == ReduceOp::prod ? a * b : a + b);
    }
    template <class T> std::vector<T> expected(ReduceOp op, std::size_t n) const {
        std::vector<T> result = input<T>(0, n);
        for (int pe = 1; pe < job_.n_pes(); ++pe) {
            const std::vector<T> next = input<T>(pe, n);
            for (std::size_t i = 0; i < n; ++i) result[i] = combine(op, result[i], next[i]);
        }
        return result;
    }
    template <class T> void reduces(ReduceOp op, std::size_t n, std::size_t shift = 0) {
        T* src = zeros<T>(n + shift + 8);
        T* dst = zeros<T>(n + shift + 8);
        set(src + shift, input<T>(job_.my_pe(), n));
        job_.world().barrier();
        team_on_stream().reduce(std::span(dst + shift, n), std::span<const T>(src + shift, n), op);
        finish();
        EXPECT_TRUE(values(dst + shift, n) == expected<T>(op, n))
            << n << " elements of " << sizeof(T) << " bytes, operator " << static_cast<int>(op) << ", shift "
            << shift;
        EXPECT_EQ(values(dst + shift + n, 1)[0], T{}) << "past the end";
        job_.world().barrier();
        team_on_stream().reduce(std::span(src + shift, n), std::span<const T>(src + shift, n), op);
        finish();
        EXPECT_TRUE(values(src + shift, n) == expected<T>(op, n)) << "in place, " << n;
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
    template <class T> void all_operators(std::initializer_list<ReduceOp> ops) {
        for (const ReduceOp op : ops) {
            reduces<T>(op, 100);
            reduces<T>(op, (std::size_t{600} << 10) / sizeof(T) + 3);
        }
    }
    static constexpr std::size_t block_sizes[] = {
        1, 3, 16, 1000, 4096, 65536, (256 << 10) + 5, 1 << 20, (3 << 20) + 16};
};

TEST_F(StreamCollectives, ReduceSumsOfEverySize) {
    for (const std::size_t n : {1u, 2u, 5u, 1000u, 16384u, 65536u, 65537u, 300000u, 1u << 20, (4u << 20) + 1})
        reduces<float>(ReduceOp::sum, n);
    for (const std::size_t shift : {1u, 2u, 3u}) {
        reduces<float>(ReduceOp::sum, 1001, shift);
        reduces<float>(ReduceOp::sum, 300001, shift);
        reduces<signed char>(ReduceOp::sum, 700001, shift);
    }
}

TEST_F(StreamCollectives, ReduceOfEveryTypeAndOperator) {
    using enum ReduceOp;
    all_operators<std::int8_t>({sum, prod, min, max, bit_and, bit_or, bit_xor});
    all_operators<std::uint16_t>({sum, min, bit_xor});
    all_operators<std::int32_t>({sum, prod, min, max, bit_and, bit_or, bit_xor});
    all_operators<std::uint64_t>({sum, prod, max, bit_or});
    all_operators<float>({sum, prod, min, max});
    all_operators<double>({sum, prod, min, max});
    all_operators<std::complex<float>>({sum, prod});
    all_operators<std::complex<double>>({sum, prod});
}

TEST_F(StreamCollectives, HalvesAreSummedInFloat) {
    // 2048 + 1 is 2048 in half: only a wider sum keeps the ones.
    constexpr std::uint16_t big = 0x6800, one = 0x3c00, bf_big = 0x4380, bf_one = 0x3f80;
    for (const std::size_t n : {8u, 400000u}) {
        auto* x = zeros<float16>(n);
        auto* y = zeros<bfloat16>(n);
        set(x, std::vector<float16>(n, {job_.my_pe() == 0 ? big : one}));
        set(y, std::vector<bfloat16>(n, {job_.my_pe() == 0 ? bf_big : bf_one}));
        job_.world().barrier();
        team_on_stream().sum_reduce(std::span(x, n), std::span<const float16>(x, n));
        team_on_stream().sum_reduce(std::span(y, n), std::span<const bfloat16>(y, n));
        finish();
        const int ones = job_.n_pes() - 1;
        // Steps of 2 above 2048 (and above 256 in bfloat16), ties to even.
        const std::uint16_t steps = static_cast<std::uint16_t>(ones == 3 ? 2 : ones / 2);
        for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
            EXPECT_EQ(values(x, n)[i].bits, big + steps);
            EXPECT_EQ(values(y, n)[i].bits, bf_big + steps);
        }
        job_.world().barrier();
        job_.free(y);
        job_.free(x);
    }
}

TEST_F(StreamCollectives, BlocksGoWhereTheyBelong) {
    const auto n = static_cast<std::size_t>(job_.n_pes());
    const int me = job_.my_pe();
    for (const std::size_t block : block_sizes) {
        auto* src = zeros<unsigned char>(n * block);
        auto* dst = zeros<unsigned char>(n * block + 1);
        const StreamTeam team = team_on_stream();
        const auto part = [&](int pe, int index) { return noise(block, 1000 * pe + index); };
        const auto all = [&](auto&& make) {
            Bytes whole;
            for (int pe = 0; pe < job_.n_pes(); ++pe) {
                const Bytes one = make(pe);
                whole.insert(whole.end(), one.begin(), one.end());
            }
            return whole;
        };
        const auto fresh = [&] {
            job_.world().barrier();
            write(src, all([&](int pe) { return part(me, pe); }));
            write(dst, Bytes(n * block + 1, 0x33));
            job_.world().barrier();
        };
        const auto expect = [&](const Bytes& wanted, const char* what) {
            finish();
            EXPECT_TRUE(read(dst, wanted.size()) == wanted) << what << " of " << block << " bytes";
            EXPECT_EQ(read(dst + wanted.size(), 1)[0], 0x33)
                << what << " of " << block << " bytes, past the end";
        };
        using In = std::span<const unsigned char>;
        for (int root = 0; root < job_.n_pes(); root += std::max(1, job_.n_pes() - 1)) {
            fresh();
            team.broadcast(std::span(dst, block), me == root ? In(src, block) : In(), root);
            expect(part(root, 0), "broadcast");
            fresh();
            team.scatter(std::span(dst, block), me == root ? In(src, n * block) : In(), root);
            expect(part(root, me), "scatter");
            fresh();
            team.gather(me == root ? std::span(dst, n * block) : std::span<unsigned char>(), In(src, block),
                        root);
            expect(me == root ? all([&](int pe) { return part(pe, 0); }) : Bytes(), "gather");
        }
        fresh();
        team.fcollect(std::span(dst, n * block), In(src, block));
        expect(all([&](int pe) { return part(pe, 0); }), "fcollect");
        fresh();
        team.alltoall(std::span(dst, n * block), In(src, n * block));
        expect(all([&](int pe) { return part(pe, me); }), "alltoall");
        fresh();
        team.reduce_scatter(std::span(dst, block), In(src, n * block), ReduceOp::bit_xor);
        Bytes folded(block);
        for (int pe = 0; pe < job_.n_pes(); ++pe) {
            const Bytes theirs = part(pe, me);
            for (std::size_t i = 0; i < block; ++i) folded[i] ^= theirs[i];
        }
        expect(folded, "reduce_scatter");
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
}

/// Kinds and sizes in turn, without waits of the host: leftovers of one must not disturb the next.
TEST_F(StreamCollectives, MixedCallsFollowOneAnother) {
    const std::size_t most = 100000;
    auto* x = zeros<float>(most);
    auto* y = zeros<float>(most);
    auto* z = zeros<float>(1);
    job_.world().barrier();
    const StreamTeam team = team_on_stream();
    const int rounds = replays() / 5;
    for (int i = 0; i < rounds; ++i) {
        const std::size_t n = i % 7 == 0 ? most : 1 + static_cast<std::size_t>(i) * 37 % 5000;
        const int root = i % job_.n_pes();
        if (job_.my_pe() == root) on_stream().p(x, static_cast<float>(i), job_.my_pe());
        team.broadcast(std::span(y, n), std::span<const float>(x, n), root);
        if (i % 3 == 0) team.barrier();
        team.sum_reduce(std::span(z, 1), std::span<const float>(y, 1));
        team.broadcast(std::span(x + 1, n - 1), std::span<const float>(y + 1, n - 1), 0);
        if (i % 50 == 49) {
            finish();
            EXPECT_EQ(values(z, 1)[0], static_cast<float>(i * job_.n_pes()));
        }
    }
    finish();
    EXPECT_EQ(values(z, 1)[0], static_cast<float>((rounds - 1) * job_.n_pes()));
    job_.world().barrier();
    for (float* block : {z, y, x}) job_.free(block);
}

TEST_F(StreamCollectives, ACapturedStepIsReplayedAThousandTimes) {
    const std::size_t large = 200000;
    auto* small = zeros<double>(4);
    auto* big = zeros<float>(large);
    set(small, std::vector<double>(4, 1.0));
    set(big, std::vector<float>(large, 1.0f));
    auto* bits = zeros<unsigned>(3);
    set(bits, std::vector<unsigned>(3, 1u << job_.my_pe()));
    auto* one = zeros<double>(4);
    set(one, std::vector<double>(4, 0.0));
    job_.world().barrier();
    const StreamTeam team = team_on_stream();
    const int rounds = replays();
    Graph graph(stream_, [&] {
        on_stream().atomic_add(one, 1.0, job_.my_pe());
        team.sum_reduce(std::span(small, 4), std::span<const double>(one, 4));
        team.max_reduce(std::span(big, large), std::span<const float>(big, large));
        team.or_reduce(std::span(bits, 3), std::span<const unsigned>(bits, 3));
        team.barrier();
    });
    for (int i = 0; i < rounds; ++i) graph.launch();
    finish();
    EXPECT_EQ(values(small, 1)[0], 1.0 * rounds * job_.n_pes());
    EXPECT_EQ(values(big, large), std::vector<float>(large, 1.0f));
    EXPECT_EQ(values(bits, 3), std::vector<unsigned>(3, (1u << job_.n_pes()) - 1));
    job_.world().barrier();
    job_.free(one);
    job_.free(bits);
    job_.free(big);
    job_.free(small);
}

/// A block counts its meetings in 32 bits, which are also flags of words. Words that small messages never
/// wrote must not match a larger one when the same flags return.
TEST_F(StreamCollectives, NumbersBeginAgain) {
    constexpr std::size_t most = 1024, large = 400000;  // one block; many blocks, by addresses
    auto* x = zeros<float>(large);
    auto* y = zeros<float>(large);
    const core::TeamState& world = job_.world().state();
    const gpu::TeamRanges::Range place = stream::team_memory(world);
    const gpu::GroupMemory memory{job_.n_pes(), place.words_bytes};
    const StreamTeam team = team_on_stream();
    const auto begin_at = [&](std::uint32_t number) {
        finish();
        job_.world().barrier();
        set(reinterpret_cast<std::uint32_t*>(place.address),
            std::vector<std::uint32_t>(memory.flag_at(gpu::GroupMemory::most_blocks, 0) / 4, number));
        job_.world().barrier();
    };
    const auto sums = [&](int round, std::size_t n) {
        set(x, std::vector<float>(n, static_cast<float>(round)));
        if (n == large) job_.world().barrier();  // others read x itself
        team.sum_reduce(std::span(y, n), std::span<const float>(x, n));
        finish();
        const auto sum = static_cast<float>(round * job_.n_pes());
        ASSERT_TRUE(values(y, n) == std::vector<float>(n, sum)) << n << " in round " << round;
        if (n == large) job_.world().barrier();
    };
    // A block renews the flags of its words once in 2^30 meetings. The numbers below pass such meetings.
    for (const std::uint32_t first : {0xbffffffdu, 0x3ffffffcu, 0x7fffffffu}) {
        begin_at(first);
        for (int round = 1; round < 6; ++round) {
            sums(round, 1);
            if (first == 0x7fffffffu) team.sync();
            if (first == 0x3ffffffcu) sums(round, large);
        }
        begin_at(0xfffffff8u);
        for (int round = 1; round < 20; ++round)
            sums(round, round == 12 ? large : round % 4 == 0 ? 1 : round % 4 == 1 ? 300 : most);
    }
    job_.world().barrier();
    job_.free(y);
    job_.free(x);
}

/// Arrays from cudaMalloc, on either side or both, in messages of all sizes; also captured.
TEST_F(StreamCollectives, OrdinaryArraysOnEitherSide) {
    const auto n_pes = static_cast<std::size_t>(job_.n_pes());
    const int me = job_.my_pe();
    constexpr std::size_t most = 300001;
    int *plain_in = nullptr, *plain_out = nullptr;
    check_cuda(cudaMalloc(&plain_in, n_pes * most * sizeof(int)));
    check_cuda(cudaMalloc(&plain_out, n_pes * most * sizeof(int)));
    auto* in = zeros<int>(n_pes * most);
    auto* out = zeros<int>(n_pes * most);
    const StreamTeam team = team_on_stream();
    for (const std::size_t n : {std::size_t{1}, std::size_t{5000}, most})
        for (const auto& [src, dst] : {std::pair{plain_in, plain_out}, {plain_in, out}, {in, plain_out}}) {
            std::vector<int> mine(n * n_pes);
            for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = me * 1000 + static_cast<int>(i % 999);
            set(src, mine);
            const auto word = [&](int pe, std::size_t i) { return pe * 1000 + static_cast<int>(i % 999); };
            const auto expect = [&](const char* what, std::size_t count, const auto& expected) {
                finish();
                const std::vector<int> found = values(dst, count);
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_EQ(found[i], expected(i)) << what << " of " << n << ", element " << i;
                job_.world().barrier();
            };
            const std::span<const int> one(src, n), all(src, n * n_pes);
            team.sum_reduce(std::span(dst, n), one);
            expect("reduce", n, [&](std::size_t i) {
                int sum = 0;
                for (int pe = 0; pe < job_.n_pes(); ++pe) sum += word(pe, i);
                return sum;
            });
            team.broadcast(std::span(dst, n), one, job_.n_pes() - 1);
            expect("broadcast", n, [&](std::size_t i) { return word(job_.n_pes() - 1, i); });
            team.fcollect(std::span(dst, n * n_pes), one);
            expect("fcollect", n * n_pes,
                   [&](std::size_t i) { return word(static_cast<int>(i / n), i % n); });
            team.alltoall(std::span(dst, n * n_pes), all);
            expect("alltoall", n * n_pes, [&](std::size_t i) {
                return word(static_cast<int>(i / n), static_cast<std::size_t>(me) * n + i % n);
            });
        }
    EXPECT_EQ(code_of([&] { team.collect(std::span(out, most), std::span<const int>(plain_in, 1)); }),
              ErrorCode::not_symmetric);
    job_.free(out);
    job_.free(in);
    check_cuda(cudaFree(plain_out));
    check_cuda(cudaFree(plain_in));
}

TEST_F(StreamCollectives, TeamsOfAllShapesOneAfterAnother) {
    constexpr std::size_t most = 300000;
    auto* x = zeros<int>(most);
    auto* y = zeros<int>(most);
    for (int round = 0; round < 3; ++round) {
        // Teams: all PEs in reverse, even PEs, and PEs from 1. The next team reuses a destroyed team's
        // memory.
        Team reversed = job_.world().split(0, -job_.my_pe());
        Team even = job_.world().split_strided(0, 2, (job_.n_pes() + 1) / 2);
        Team rest = job_.world().split(job_.my_pe() == 0 ? -1 : 0);
        for (Team* team : {&reversed, &even, &rest}) {
            if (!*team) continue;
            for (const std::size_t n : {std::size_t{1}, std::size_t{5000}, most}) {
                set(x, std::vector<int>(n, job_.my_pe() + 1));
                team->sync();
                StreamTeam(*team, {stream_}).sum_reduce(std::span(y, n), std::span<const int>(x, n));
                finish();
                int sum = 0;
                for (int i = 0; i < team->n_pes(); ++i) sum += team->world_pe(i) + 1;
                EXPECT_TRUE(values(y, n) == std::vector<int>(n, sum))
                    << n << " of " << team->n_pes() << " PEs";
                StreamTeam(*team, {stream_}).broadcast(std::span(y, n), std::span<const int>(x, n), 0);
                finish();
                EXPECT_TRUE(values(y, n) == std::vector<int>(n, team->world_pe(0) + 1)) << n;
                team->sync();
            }
            team->destroy();
        }
        job_.world().barrier();
    }
    job_.free(y);
    job_.free(x);
}

TEST_F(StreamCollectives, WrongCallsAreRefusedByName) {
    auto* x = zeros<float>(64);
    std::vector<float> ordinary(64);
    const StreamTeam team = team_on_stream();
    const std::span<const float> in(x, 8);
    EXPECT_EQ(code_of([&] { team.sum_reduce(std::span(x, 4), in); }), ErrorCode::shape_mismatch);
    EXPECT_EQ(code_of([&] { team.broadcast(std::span(x, 8), in, job_.n_pes()); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { team.sum_reduce(std::span(ordinary), std::span<const float>(ordinary)); }),
              ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { team.sum_reduce(std::span(x, 65), std::span<const float>(x, 65)); }),
              ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { team.reduce(std::span(x, 8), in, ReduceOp::bit_and); }),
              ErrorCode::dtype_mismatch);
    EXPECT_EQ(code_of([&] {
                  auto* wide = reinterpret_cast<long double*>(x);
                  team.sum_reduce(std::span(wide, 1), std::span<const long double>(wide, 1));
              }),
              ErrorCode::dtype_mismatch);
    job_.world().barrier();
    team.sum_reduce(std::span(x, 8), in);
    finish();
    job_.world().barrier();
    job_.free(x);
    EXPECT_EQ(code_of([&] { team.sum_reduce(std::span(x, 8), in); }), ErrorCode::use_after_free);
}

}  // namespace
}  // namespace atl::testing
