// send and recv on streams: sizes, order between a pair, groups, graphs, and wrong calls.
#include "gpu/streams.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

class StreamMessages : public OnStream {
  protected:
    StreamMessageGroup group() const { return {job_.world(), {stream_}}; }
};

TEST_F(StreamMessages, RingsOfEverySize) {
    constexpr std::size_t most = (std::size_t{32} << 20) + 64;
    auto* x = zeros<unsigned char>(most);
    auto* y = zeros<unsigned char>(most);
    void* plain = nullptr;
    check_cuda(cudaMalloc(&plain, most));
    int round = 0;
    for (const std::size_t bytes : {0u, 1u, 8u, 15u, 4096u, 100001u, 1u << 20, 32u << 20})
        for (const std::size_t shift : {0u, 5u})
            for (auto* into : {y, static_cast<unsigned char*>(plain)}) {
                ++round;
                write(x + shift, noise(bytes, 10 * round + job_.my_pe()));
                write(into, Bytes(most, 0x55));
                StreamMessageGroup messages = group();
                messages.send_bytes(x + shift, bytes, right_of(job_));
                messages.recv_bytes(into, bytes, left_of(job_));
                messages.run();
                finish();
                EXPECT_TRUE(read(into, bytes) == noise(bytes, 10 * round + left_of(job_)))
                    << bytes << " bytes, shifted by " << shift;
                EXPECT_EQ(read(into + bytes, 8), Bytes(8, 0x55)) << bytes;
                job_.world().barrier();
            }
    check_cuda(cudaFree(plain));
    job_.free(y);
    job_.free(x);
}

TEST_F(StreamMessages, EveryPeToEveryPeInOrder) {
    const int n = job_.n_pes();
    constexpr int each = 5;  // messages of a pair in one group
    auto* x = zeros<int>(static_cast<std::size_t>(n * each));
    auto* y = zeros<int>(static_cast<std::size_t>(n * each));
    for (int round = 0; round < 40; ++round) {
        std::vector<int> mine;
        for (int i = 0; i < n * each; ++i) mine.push_back(10000 * round + 100 * job_.my_pe() + i);
        set(x, mine);
        StreamMessageGroup messages = group();
        for (int k = 0; k < each; ++k)
            for (int pe = 0; pe < n; ++pe) {
                messages.send_bytes(x + pe * each + k, sizeof(int), pe);
                messages.recv_bytes(y + pe * each + k, sizeof(int), pe);
            }
        messages.run();
        finish();
        std::vector<int> wanted;
        for (int pe = 0; pe < n; ++pe)
            for (int k = 0; k < each; ++k)
                wanted.push_back(10000 * round + 100 * pe + job_.my_pe() * each + k);
        ASSERT_EQ(values(y, wanted.size()), wanted) << "round " << round;
    }
    job_.world().barrier();
    job_.free(y);
    job_.free(x);
}

TEST_F(StreamMessages, OneByOneAndReplayed) {
    const int n = job_.n_pes(), me = job_.my_pe();
    auto* x = zeros<std::uint64_t>(1);
    auto* y = zeros<std::uint64_t>(1);
    const StreamTeam team = team_on_stream();
    const StreamContext stream = on_stream();
    const int rounds = replays();
    if (n > 1) {
        // PE 0 counts, and a message passes once around the ring.
        Graph graph(stream_, [&] {
            if (me == 0) {
                stream.atomic_inc(x, 0);
                team.send(std::span<const std::uint64_t>(x, 1), 1);
                team.recv(std::span(y, 1), n - 1);
            } else {
                team.recv(std::span(x, 1), me - 1);
                team.send(std::span<const std::uint64_t>(x, 1), (me + 1) % n);
            }
        });
        for (int i = 0; i < rounds; ++i) graph.launch();
        finish();
        EXPECT_EQ(values(me == 0 ? y : x, 1)[0], static_cast<std::uint64_t>(rounds));
    }
    Team even = job_.world().split_strided(0, 2, (n + 1) / 2);
    if (even) {
        StreamMessageGroup messages(even, {stream_});
        set(x, std::vector<std::uint64_t>{77});
        messages.send_bytes(x, 8, even.my_pe());
        messages.recv_bytes(y, 8, even.my_pe());
        messages.run();
        finish();
        EXPECT_EQ(values(y, 1)[0], 77u) << "to oneself";
        even.destroy();
    }
    job_.world().barrier();
    job_.free(y);
    job_.free(x);
}

TEST_F(StreamMessages, WrongCallsAreRefusedByName) {
    auto* x = zeros<int>(4);
    int ordinary = 0;
    void* plain = nullptr;
    check_cuda(cudaMalloc(&plain, 64));
    const StreamTeam team = team_on_stream();
    EXPECT_EQ(code_of([&] { team.send_bytes(x, 4, job_.n_pes()); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { team.recv_bytes(x, 4, -1); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { team.send_bytes(plain, 4, 0); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { team.recv_bytes(&ordinary, 4, 0); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] {
                  StreamMessageGroup many = group();
                  for (int i = 0; i < 65; ++i) many.send_bytes(x, 4, 0);
                  many.run();
              }),
              ErrorCode::invalid_argument);
    group().run();  // empty
    Team fresh = job_.world().split(0);
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    EXPECT_EQ(code_of([&] { StreamTeam(fresh, {stream_}); }), ErrorCode::invalid_argument) << "captured";
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream_, &graph));
    check_cuda(cudaGraphDestroy(graph));
    StreamTeam(fresh, {stream_}).sync();
    finish();
    fresh.destroy();
    job_.world().barrier();
    check_cuda(cudaFree(plain));
    job_.free(x);
}

}  // namespace
}  // namespace atl::testing
