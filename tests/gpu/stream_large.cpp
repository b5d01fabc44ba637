// Reductions so large that copy engines distribute the result: sizes on both sides of the limit, odd ones, in
// place. In teams of all shapes, from the host, on two streams at once; captured and replayed.
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/streams.hpp"
#include "stream/kernels/team_memory.hpp"
#include "stream/stream_team.hpp"
#include "support/multi_main.hpp"

#include <algorithm>
#include <cstdlib>

namespace atl::testing {
namespace {

/// Read by init, which runs later. Less than the default, with which tests would take long; each part is
/// still large enough for copy engines.
[[maybe_unused]] const int lowered = ::setenv("ATOLL_REDUCE_ENGINES", "16M", 0);

class StreamLarge : public OnStream {
  protected:
    std::size_t limit() const { return stream::reduce_engines_bytes(job_.world().state()); }

    template <class T> static std::vector<T> input(int pe, std::size_t n) {
        std::vector<T> v(n);
        for (std::size_t i = 0; i < n; ++i)
            v[i] = static_cast<T>(static_cast<std::uint32_t>(i) * 7 % 31 + static_cast<unsigned>(pe) * 3 + 1);
        return v;
    }
    template <class T> static std::vector<T> sum(const Team& team, std::size_t n, T factor = 1) {
        std::vector<T> result(n);
        for (int i = 0; i < team.n_pes(); ++i) {
            const std::vector<T> theirs = input<T>(team.world_pe(i), n);
            for (std::size_t k = 0; k < n; ++k) result[k] = static_cast<T>(result[k] + theirs[k] * factor);
        }
        return result;
    }
    /// On `team`, out of place and in place; `shift` elements from the block's start.
    template <class T> void sums(const Team& team, std::size_t n, std::size_t shift = 0) {
        T* src = zeros<T>(limit() / sizeof(T) + 64);
        T* dst = zeros<T>(limit() / sizeof(T) + 64);
        if (team) {
            const std::vector<T> expected = sum<T>(team, n);
            const std::span<const T> from(src + shift, n);
            const StreamTeam on(team, {stream_});
            set(src + shift, input<T>(job_.my_pe(), n));
            team.sync();
            on.sum_reduce(std::span(dst + shift, n), from);
            finish();
            EXPECT_TRUE(values(dst + shift, n) == expected)
                << n << " of " << sizeof(T) << ", shift " << shift;
            EXPECT_TRUE(values(src + shift, n) == input<T>(job_.my_pe(), n)) << "the source of " << n;
            EXPECT_EQ(values(dst + shift + n, 1)[0], T{}) << "past the end of " << n;
            team.sync();
            on.sum_reduce(std::span(src + shift, n), from);
            finish();
            EXPECT_TRUE(values(src + shift, n) == expected) << n << " in place, shift " << shift;
        }
        job_.world().barrier();
        job_.free(dst);
        job_.free(src);
    }
};

TEST_F(StreamLarge, BothSidesOfTheLimit) {
    const std::size_t n = limit() / sizeof(int);
    for (const std::size_t count : {n - 1, n, n + 1, n + 7}) sums<int>(job_.world(), count);
    sums<signed char>(job_.world(), limit() + 5, 3);
    sums<std::uint16_t>(job_.world(), limit() / 2 + 9, 1);
}

TEST_F(StreamLarge, TeamsOfAllShapes) {
    Team reversed = job_.world().split(0, -job_.my_pe());
    Team even = job_.world().split_strided(0, 2, (job_.n_pes() + 1) / 2);
    Team rest = job_.world().split(job_.my_pe() == 0 ? -1 : 0);
    for (Team* team : {&reversed, &even, &rest}) {
        const std::size_t n = limit() / sizeof(int);
        sums<int>(*team, n);
        sums<int>(*team, n - 1);
        if (*team) team->destroy();
    }
}

/// Element by element in PE order: the same bits on all PEs and by every algorithm.
TEST_F(StreamLarge, FloatsAreAddedInTheOrderOfPEs) {
    const std::size_t n = limit() / sizeof(float) + 5;
    const auto random = [&](int pe) {
        const Bytes bytes = noise(n, pe);
        std::vector<float> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(bytes[i]) / 7.0f + 1e-4f;
        return v;
    };
    float* x = zeros<float>(n);
    std::vector<float> expected = random(0);
    for (int pe = 1; pe < job_.n_pes(); ++pe) {
        const std::vector<float> theirs = random(pe);
        for (std::size_t i = 0; i < n; ++i) expected[i] += theirs[i];
    }
    for (const std::size_t count : {n, n - 6}) {
        set(x, random(job_.my_pe()));
        job_.world().barrier();
        team_on_stream().sum_reduce(std::span(x, count), std::span<const float>(x, count));
        finish();
        expected.resize(count);
        EXPECT_TRUE(values(x, count) == expected);
        job_.world().barrier();
    }
    job_.free(x);
}

TEST_F(StreamLarge, AveragesScaledSumsAndHalves) {
    const std::size_t n = limit() / sizeof(bfloat16) + 3;
    auto* x = zeros<float>(n);
    auto* half = zeros<bfloat16>(n);
    const StreamTeam team = team_on_stream();
    constexpr std::uint16_t one = 0x3f80;
    set(x, input<float>(job_.my_pe(), n));
    set(half, std::vector<bfloat16>(n, {one}));
    job_.world().barrier();
    team.premul_sum_reduce(std::span(x, n), std::span<const float>(x, n), 0.5);
    team.avg_reduce(std::span(half, n), std::span<const bfloat16>(half, n));
    finish();
    EXPECT_TRUE(values(x, n) == sum<float>(job_.world(), n, 0.5f));
    const std::vector<bfloat16> mean = values(half, n);
    EXPECT_TRUE(std::all_of(mean.begin(), mean.end(), [](bfloat16 v) { return v.bits == one; }));
    job_.world().barrier();
    job_.free(half);
    job_.free(x);
}

/// In place: each replay uses the result of the last, changed in every PE's part in between.
TEST_F(StreamLarge, ACapturedReduceIsReplayedAThousandTimes) {
    const std::size_t n = limit() / sizeof(std::uint32_t);
    const auto pes = static_cast<std::size_t>(job_.n_pes());
    auto* x = zeros<std::uint32_t>(n);
    auto* count = zeros<std::uint64_t>(1);
    job_.world().barrier();
    const StreamTeam team = team_on_stream();
    Graph graph(stream_, [&] {
        for (std::size_t part = 0; part < pes; ++part)
            on_stream().atomic_add(x + part * n / pes + 5, static_cast<std::uint32_t>(job_.my_pe() + 1),
                                   job_.my_pe());
        team.sum_reduce(std::span(x, n), std::span<const std::uint32_t>(x, n));
        on_stream().atomic_inc(count, 0);
        team.sum_reduce(std::span(x, 4), std::span<const std::uint32_t>(x, 4));
    });
    std::uint32_t expected = 0;
    const int batches = 20, rounds = replays() / batches;
    for (int batch = 0; batch < batches; ++batch) {
        for (int i = 0; i < rounds; ++i) {
            graph.launch();
            expected =
                static_cast<std::uint32_t>(pes) * expected + static_cast<std::uint32_t>(pes * (pes + 1) / 2);
        }
        finish();
        for (std::size_t part = 0; part < pes; ++part)
            ASSERT_EQ(values(x + part * n / pes + 5, 1)[0], expected)
                << "part " << part << ", batch " << batch;
        job_.world().barrier();
    }
    EXPECT_EQ(context_.atomic_fetch(count, 0), static_cast<std::uint64_t>(batches * rounds) * pes);
    job_.world().barrier();
    job_.free(count);
    job_.free(x);
}

/// Two teams of the same PEs: neither waits for the other.
TEST_F(StreamLarge, TwoStreamsAtOnce) {
    const std::size_t n = limit() / sizeof(int);
    Team other = job_.world().split(0, job_.my_pe());
    cudaStream_t second = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    int* x = zeros<int>(n);
    int* y = zeros<int>(n);
    int* a = zeros<int>(n);
    int* b = zeros<int>(n);
    set(x, input<int>(job_.my_pe(), n));
    set(y, input<int>(job_.my_pe(), n));
    job_.world().barrier();
    for (int i = 0; i < replays() / 10; ++i) {
        const bool swapped = (i + job_.my_pe()) % 2 != 0;  // enqueued in either order
        for (const bool first : {!swapped, swapped})
            if (first)
                team_on_stream().sum_reduce(std::span(a, n), std::span<const int>(x, n));
            else
                StreamTeam(other, {second}).sum_reduce(std::span(b, n), std::span<const int>(y, n));
    }
    finish();
    check_cuda(cudaStreamSynchronize(second));
    EXPECT_TRUE(values(a, n) == sum<int>(job_.world(), n));
    EXPECT_TRUE(values(b, n) == sum<int>(job_.world(), n));
    job_.world().barrier();
    check_cuda(cudaStreamDestroy(second));
    other.destroy();
    for (int* block : {b, a, y, x}) job_.free(block);
}

TEST_F(StreamLarge, CallsOfTheHost) {
    const std::size_t n = limit() / sizeof(int) + 1;
    int* x = zeros<int>(n);
    int* y = zeros<int>(n + 8);
    set(x, input<int>(job_.my_pe(), n));
    const std::vector<int> expected = sum<int>(job_.world(), n);
    // Arrays at one offset on all PEs go by copy engines; those at different offsets go in pieces.
    for (const int shift : {0, job_.my_pe()}) {
        job_.world().sum_reduce(std::span(y + shift, n), std::span<const int>(x, n));
        EXPECT_TRUE(values(y + shift, n) == expected) << shift;
        job_.world().barrier();
    }
    job_.free(y);
    job_.free(x);
}

/// Like StreamCollectives.NumbersBeginAgain, for large calls, which count a meeting for each of their blocks.
TEST_F(StreamLarge, NumbersBeginAgain) {
    const std::size_t larger = limit() / sizeof(float);
    auto* x = zeros<float>(larger);
    auto* y = zeros<float>(larger);
    const core::TeamState& world = job_.world().state();
    const gpu::TeamRanges::Range place = stream::team_memory(world);
    const gpu::GroupMemory memory{job_.n_pes(), place.words_bytes};
    const StreamTeam team = team_on_stream();
    for (const std::uint32_t first : {0xfffffff8u, 0x3ffffffcu, 0x7ffffffdu, 0xfffffffau}) {
        finish();
        job_.world().barrier();
        set(reinterpret_cast<std::uint32_t*>(place.address),
            std::vector<std::uint32_t>(memory.flag_at(gpu::GroupMemory::most_blocks, 0) / 4, first));
        job_.world().barrier();
        for (int round = 1; round < 13; ++round) {
            const std::size_t n = round % 3 == 0 ? larger : round % 3 == 1 ? 1024 : 1;
            set(x, std::vector<float>(n, static_cast<float>(round)));
            job_.world().barrier();
            team.sum_reduce(std::span(y, n), std::span<const float>(x, n));
            finish();
            const auto expected = static_cast<float>(round * job_.n_pes());
            ASSERT_TRUE(values(y, n) == std::vector<float>(n, expected)) << n << " in round " << round;
            job_.world().barrier();
        }
    }
    job_.free(y);
    job_.free(x);
}

}  // namespace
}  // namespace atl::testing
