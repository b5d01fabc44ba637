// Two streams at once, each with a separate team (the world, and a copy of it). A user's kernel runs between
// one operation and the next: called directly, and as replayed graphs. Every round a PE passes an array to
// its right neighbour, and the team adds up or gathers. The expected result is computed on the host.
#include "gpu/streams.hpp"
#include "gpu/two_streams.hpp"
#include "support/multi_main.hpp"

#include <array>

namespace atl::testing {
namespace {

class TwoStreams : public OnStream {
  protected:
    void SetUp() override {
        OnStream::SetUp();
        if (IsSkipped()) return;
        check_cuda(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking));
        copy_ = job_.world().split(0);
        // Loaded while no kernel waits for another PE: CUDA may load a kernel at its first launch, and waits
        // for running kernels then.
        for (const auto user_kernel : {stir, mix, absorb}) user_kernel(Strand{}, stream_);
        check_cuda(cudaStreamSynchronize(stream_));
    }
    void TearDown() override {
        if (!other_) return OnStream::TearDown();
        check_cuda(cudaStreamDestroy(other_));
        copy_.destroy();
        OnStream::TearDown();
    }

    Strand strand(std::size_t n, std::size_t n_parts, std::uint64_t salt) {
        Strand s{zeros<std::uint64_t>(n),
                 zeros<std::uint64_t>(n),
                 zeros<std::uint64_t>(n),
                 zeros<std::uint64_t>(n * n_parts),
                 zeros<std::uint64_t>(1),
                 n,
                 n_parts,
                 salt};
        std::vector<std::uint64_t> begin(n);
        for (std::size_t i = 0; i < n; ++i) begin[i] = initial(job_.my_pe(), i);
        set(s.own, begin);
        return s;
    }
    void free(const Strand& s) {
        for (std::uint64_t* array : {s.arrived, s.all, s.mixed, s.from, s.own}) job_.free(array);
    }

    /// The collective ensures that no PE writes `from` before all PEs have mixed.
    void round(const Strand& s, const Team& team, cudaStream_t handle) const {
        const StreamContext stream(context_, {handle});
        const StreamTeam together(team, {handle});
        stir(s, handle);
        stream.put_signal(s.from, s.own, s.n, s.arrived, 1, SignalOp::add, right_of(job_));
        stream.signal_consume(s.arrived, 1);
        mix(s, handle);
        const std::span<const std::uint64_t> mine(s.mixed, s.n);
        if (s.n_parts == 1)
            together.sum_reduce(std::span(s.all, s.n), mine);
        else
            together.fcollect(std::span(s.all, s.n * s.n_parts), mine);
        absorb(s, handle);
    }

    static std::uint64_t initial(int pe, std::size_t i) { return 1000003u * static_cast<unsigned>(pe) + i; }

    /// Word i of this PE's `own` after this many rounds.
    std::uint64_t expected(const Strand& s, std::size_t i, int rounds) const {
        const int n = job_.n_pes();
        std::vector<std::uint64_t> own, mixed(static_cast<std::size_t>(n));
        for (int pe = 0; pe < n; ++pe) own.push_back(initial(pe, i));
        for (int round = 0; round < rounds; ++round) {
            for (std::uint64_t& word : own) word = word * 6364136223846793005u + s.salt;
            for (std::size_t pe = 0; pe < own.size(); ++pe)
                mixed[pe] = own[pe] ^ (own[(pe + own.size() - 1) % own.size()] >> 1);
            std::uint64_t sum = 0;
            for (std::size_t pe = 0; pe < own.size(); ++pe) sum += mixed[pe] * (s.n_parts == 1 ? 1 : pe + 1);
            for (std::uint64_t& word : own) word += sum;
        }
        return own[static_cast<std::size_t>(job_.my_pe())];
    }
    void check(const Strand& s, int rounds) const {
        const std::vector<std::uint64_t> found = values(s.own, s.n);
        for (std::size_t i = 0; i < s.n; i += s.n < 1000 ? 1 : s.n / 97)
            ASSERT_EQ(found[i], expected(s, i, rounds)) << "word " << i << " of stream " << s.salt;
        EXPECT_EQ(found.back(), expected(s, s.n - 1, rounds)) << "stream " << s.salt;
        EXPECT_EQ(values(s.arrived, 1)[0], 0u) << "all signals are consumed";
    }

    /// Calls `work(k)` for both streams, on odd PEs for the second one first. Calls on different streams need
    /// not have the same order on all PEs.
    template <class Work> void both(Work work) const {
        const std::size_t first = job_.my_pe() % 2 == 0 ? 0 : 1;
        work(first);
        work(1 - first);
    }

    void run(std::size_t n, int eager, int replayed) {
        constexpr int in_graph = 3;
        const std::array strands{strand(n, 1, 1), strand(n, static_cast<std::size_t>(job_.n_pes()), 2)};
        const std::array teams{job_.world(), copy_};
        const std::array handles{stream_, other_};
        for (std::size_t k = 0; k < 2; ++k)
            StreamTeam(teams[k], {handles[k]}).sync();  // first use, before a capture
        job_.world().barrier();
        for (int i = 0; i < eager; ++i) both([&](std::size_t k) { round(strands[k], teams[k], handles[k]); });
        for (cudaStream_t handle : handles) check_cuda(cudaStreamSynchronize(handle));
        for (const Strand& s : strands) check(s, eager);
        job_.world().barrier();  // no PE signals again before all have checked

        const auto record = [&](std::size_t k) {
            return [&, k] {
                for (int i = 0; i < in_graph; ++i) round(strands[k], teams[k], handles[k]);
            };
        };
        std::array<Graph, 2> graphs{Graph(stream_, record(0)), Graph(other_, record(1))};
        for (int i = 0; i < replayed; ++i) both([&](std::size_t k) { graphs[k].launch(); });
        // Direct calls continue after the graphs.
        both([&](std::size_t k) { round(strands[k], teams[k], handles[k]); });
        for (cudaStream_t handle : handles) check_cuda(cudaStreamSynchronize(handle));
        for (const Strand& s : strands) check(s, eager + in_graph * replayed + 1);
        job_.world().barrier();
        for (const Strand& s : {strands[1], strands[0]}) free(s);
    }

    cudaStream_t other_ = nullptr;
    Team copy_;
};

TEST_F(TwoStreams, SmallArrays) { run(100, replays() / 5, replays()); }

/// Large arrays: puts by copy engines, collectives with meetings.
TEST_F(TwoStreams, LargeArrays) { run(200000, 10, replays() / 10); }

}  // namespace
}  // namespace atl::testing
