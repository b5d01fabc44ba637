// Stream-ordered operations: data, signals, atomics, waits; captured and replayed; and wrong calls.
#include "gpu/streams.hpp"
#include "atoll/stream.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

class Streams : public OnStream {};

TEST_F(Streams, PutsAndGetsOfEverySizeFromEveryMemory) {
    constexpr std::size_t most = (std::size_t{4} << 20) + 64;
    auto* target = zeros<unsigned char>(most);
    auto* heap_source = zeros<unsigned char>(most);
    void* plain = nullptr;
    void* pinned = nullptr;
    check_cuda(cudaMalloc(&plain, most));
    check_cuda(cudaMallocHost(&pinned, most));
    const StreamContext stream = on_stream();
    int round = 0;
    for (void* source : {static_cast<void*>(heap_source), plain, pinned})
        for (const std::size_t bytes : {0u, 1u, 7u, 8u, 1000u, 65535u, 65536u, 65537u, 4u << 20})
            for (const std::size_t shift : {0u, 3u, 4u}) {
                ++round;
                auto* from = static_cast<unsigned char*>(source) + shift;
                write(from, noise(bytes, 10 * round + job_.my_pe()));
                write(target, Bytes(most, 0x11));
                job_.world().barrier();
                stream.put(target + shift, from, bytes, right_of(job_));
                finish();
                job_.world().barrier();
                const Bytes theirs = noise(bytes, 10 * round + left_of(job_));
                EXPECT_EQ(read(target + shift, bytes), theirs) << bytes << " bytes, shifted by " << shift;
                EXPECT_EQ(read(target + shift + bytes, 8), Bytes(8, 0x11));
                write(from, Bytes(bytes, 0x22));
                stream.get(from, target + shift, bytes, right_of(job_));
                finish();
                EXPECT_EQ(read(from, bytes), noise(bytes, 10 * round + job_.my_pe()));
                job_.world().barrier();
            }
    check_cuda(cudaFree(plain));
    check_cuda(cudaFreeHost(pinned));
    job_.free(heap_source);
    job_.free(target);
}

TEST_F(Streams, StridedFormsAndSingleElements) {
    constexpr std::size_t n = 300;
    auto* target = zeros<int>(4 * n);
    auto* source = zeros<int>(4 * n);
    std::vector<int> mine(4 * n);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<int>(i) + 100000 * job_.my_pe();
    check_cuda(cudaMemcpy(source, mine.data(), mine.size() * 4, cudaMemcpyDefault));
    job_.world().barrier();
    const StreamContext stream = on_stream();
    stream.iput(target, source, 3, 2, n, right_of(job_));
    finish();
    job_.world().barrier();
    std::vector<int> got = values(target, 4 * n);
    for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(got[3 * i], static_cast<int>(2 * i) + 100000 * left_of(job_));
    EXPECT_EQ(got[1], 0);
    job_.world().barrier();
    stream.ibget(target, source, 3, 4, 2, n, right_of(job_));
    stream.p(target + 4 * n - 1, 77, job_.my_pe());
    finish();
    got = values(target, 4 * n);
    for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(got[3 * i], static_cast<int>(4 * i) + 100000 * right_of(job_));
        ASSERT_EQ(got[3 * i + 1], static_cast<int>(4 * i) + 1 + 100000 * right_of(job_));
    }
    EXPECT_EQ(got[4 * n - 1], 77);
    auto* narrow = reinterpret_cast<std::uint16_t*>(target);
    stream.p(narrow + 1, std::uint16_t{0xbeef}, job_.my_pe());
    finish();
    EXPECT_EQ(values(narrow, 2)[1], 0xbeef);
    job_.world().barrier();
    job_.free(source);
    job_.free(target);
}

TEST_F(Streams, AtomicsOfAllPesMeetInOneWord) {
    auto* sums = zeros<std::int64_t>(4);
    auto* real = zeros<double>(1);
    auto* fetched = zeros<std::int64_t>(64);
    job_.world().barrier();
    const StreamContext stream = on_stream();
    const int n = job_.n_pes();
    for (int i = 0; i < 50; ++i) {
        stream.atomic_add(sums, 3, 0);
        stream.atomic_inc(sums + 1, 0);
        stream.atomic_fetch_add(fetched + i, sums + 2, 1, 0);
        stream.atomic_add(real, 0.5, 0);
    }
    stream.atomic_or(sums + 3, std::int64_t{1} << job_.my_pe(), 0);
    finish();
    job_.world().barrier();
    if (job_.my_pe() == 0) {
        EXPECT_EQ(values(sums, 4), (std::vector<std::int64_t>{150 * n, 50 * n, 50 * n, (1 << n) - 1}));
        EXPECT_EQ(values(real, 1)[0], 25.0 * n);
    }
    const auto seen = values(fetched, 50);
    for (int i = 1; i < 50; ++i)
        EXPECT_LT(seen[static_cast<std::size_t>(i - 1)], seen[static_cast<std::size_t>(i)]);
    job_.world().barrier();
    auto* word = zeros<std::uint32_t>(1);
    auto* found = zeros<std::uint32_t>(4);
    stream.atomic_set(word, 5, job_.my_pe());
    stream.atomic_compare_swap(found, word, 5, 9, job_.my_pe());
    stream.atomic_swap(found + 1, word, 12, job_.my_pe());
    stream.atomic_fetch_xor(found + 2, word, 10, job_.my_pe());
    stream.atomic_fetch(found + 3, word, job_.my_pe());
    finish();
    EXPECT_EQ(values(found, 4), (std::vector<std::uint32_t>{5, 9, 12, 6}));
    job_.world().barrier();
    for (void* block : {static_cast<void*>(found), static_cast<void*>(word), static_cast<void*>(fetched),
                        static_cast<void*>(real), static_cast<void*>(sums)})
        job_.free(block);
}

TEST_F(Streams, SignalsBringTheirDataRoundTheRing) {
    for (const std::size_t count : {1u, 1000u, 100000u}) {
        auto* data = zeros<int>(count);
        auto* source = zeros<int>(count);
        auto* signals = zeros<std::uint64_t>(2);
        job_.world().barrier();
        const StreamContext stream = on_stream();
        for (int round = 1; round <= 5; ++round) {
            check_cuda(cudaMemsetAsync(source, 16 * round + job_.my_pe(), count * 4, stream_));
            stream.put_signal(data, source, count, signals, 1, SignalOp::add, right_of(job_));
            stream.signal_consume(signals, 1);
            stream.get(source, data, count, job_.my_pe());
            finish();
            const Bytes seen = read(source, count * 4);
            EXPECT_EQ(seen, Bytes(count * 4, static_cast<unsigned char>(16 * round + left_of(job_))));
            stream.signal_set(signals + 1, static_cast<std::uint64_t>(round), left_of(job_));
            stream.signal_wait_until(signals + 1, Compare::ge, static_cast<std::uint64_t>(round));
        }
        finish();
        EXPECT_EQ(values(signals, 2), (std::vector<std::uint64_t>{0, 5}));
        job_.world().barrier();
        job_.free(signals);
        job_.free(source);
        job_.free(data);
    }
}

TEST_F(Streams, WaitsKnowSignsAndNarrowWords) {
    auto* word = zeros<std::int32_t>(1);
    auto* narrow = zeros<std::int16_t>(4);
    const StreamContext stream = on_stream();
    stream.p(word, -5, job_.my_pe());
    stream.wait_until(word, Compare::lt, 0);
    stream.wait_until(word, Compare::ne, 7);
    stream.p(narrow + 1, std::int16_t{-2}, job_.my_pe());
    stream.wait_until(narrow + 1, Compare::eq, std::int16_t{-2});
    stream.wait_until(narrow, Compare::eq, std::int16_t{0});
    finish();
    // The host's put ends a wait of the stream.
    stream.wait_until(word, Compare::gt, 41);
    context_.p(word, 42, job_.my_pe());
    finish();
    job_.world().barrier();
    job_.free(narrow);
    job_.free(word);
}

TEST_F(Streams, ACapturedRingIsReplayedAThousandTimes) {
    auto* data = zeros<std::uint64_t>(1);
    auto* count = zeros<std::uint64_t>(1);
    auto* signal = zeros<std::uint64_t>(1);
    job_.world().barrier();
    const StreamContext stream = on_stream();
    const int rounds = replays();
    Graph graph(stream_, [&] {
        stream.atomic_inc(count, job_.my_pe());
        stream.put_signal(data, count, 1, signal, 1, SignalOp::add, right_of(job_));
        stream.signal_consume(signal, 1);
    });
    for (int i = 0; i < rounds; ++i) graph.launch();
    finish();
    EXPECT_EQ(values(data, 1)[0], static_cast<std::uint64_t>(rounds));
    EXPECT_EQ(values(signal, 1)[0], 0u);
    job_.world().barrier();
    job_.free(signal);
    job_.free(count);
    job_.free(data);
}

/// The program decides which GPU is current, and calls do not change it.
TEST_F(Streams, AnotherGpuMayBeCurrent) {
    int gpus = 0;
    check_cuda(cudaGetDeviceCount(&gpus));
    const int mine = job_.device_heap_use().number, other = (mine + 1) % gpus;
    auto* x = zeros<std::uint64_t>(4);
    job_.world().barrier();
    check_cuda(cudaSetDevice(other));
    const std::uint64_t value = 7;
    context_.put(x, &value, 1, right_of(job_));
    context_.atomic_add(x + 1, std::uint64_t{2}, right_of(job_));
    on_stream().p(x + 2, std::uint64_t{3}, right_of(job_));
    job_.world().barrier();
    auto* sums = zeros<std::uint64_t>(8);
    job_.world().sum_reduce(std::span(sums, 2), std::span<const std::uint64_t>(x, 2));
    team_on_stream().sum_reduce(std::span(sums + 4, 2), std::span<const std::uint64_t>(x, 2));
    on_stream().synchronize();
    int current = -1;
    check_cuda(cudaGetDevice(&current));
    EXPECT_EQ(current, other);
    check_cuda(cudaSetDevice(mine));
    EXPECT_EQ(values(x, 3), (std::vector<std::uint64_t>{7, 2, 3}));
    const auto n = static_cast<std::uint64_t>(job_.n_pes());
    EXPECT_EQ(values(sums, 2), (std::vector<std::uint64_t>{7 * n, 2 * n}));
    EXPECT_EQ(values(sums + 4, 2), (std::vector<std::uint64_t>{7 * n, 2 * n}));
    job_.world().barrier();
    job_.free(sums);
    job_.free(x);
}

/// Calls that wait for the GPU, write to it themselves or allocate cannot be captured. The error reports it,
/// and the next capture works.
TEST_F(Streams, CallsThatCannotBeCapturedReportIt) {
    auto* x = zeros<std::uint64_t>(4);
    Team again = job_.world().split(0);
    const auto refused = [&](const char* what, const std::function<void()>& call) {
        check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
        std::string said;
        try {
            call();
        } catch (const Error& error) {
            said = error.what();
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << said;
        }
        EXPECT_NE(said.find("captured"), std::string::npos) << what << ": " << said;
        cudaGraph_t graph = nullptr;
        cudaStreamEndCapture(stream_, &graph);  // an error where the call ended the capture
        static_cast<void>(cudaGetLastError());
        if (graph) check_cuda(cudaGraphDestroy(graph));
    };
    refused("synchronize", [&] { on_stream().synchronize(); });
    refused("a team's first use", [&] { StreamTeam(again, {stream_}).sync(); });
    Graph graph(stream_, [&] { on_stream().p(x, std::uint64_t{5}, job_.my_pe()); });
    graph.launch();
    StreamTeam(again, {stream_}).sync();
    finish();
    EXPECT_EQ(values(x, 1)[0], 5u);
    job_.world().barrier();
    again.destroy();
    job_.free(x);
}

TEST_F(Streams, WrongCallsAreRefusedAndTheRestWorks) {
    auto* x = zeros<std::uint64_t>(8);
    auto* host = static_cast<std::uint64_t*>(job_.malloc(64));
    std::uint64_t ordinary = 1;
    const StreamContext stream = on_stream();
    EXPECT_EQ(code_of([&] { stream.put(x, x + 4, 1, job_.n_pes()); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { stream.put(x, x + 4, 1, -1); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { stream.put(host, x, 1, 0); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { stream.put(x, x, 9, 0); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] { stream.put(x, &ordinary, 1, 0); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.iput(x, x, 0, 1, 2, 0); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.iput(x, x, 8, 1, 2, 0); }), ErrorCode::not_symmetric);
    EXPECT_EQ(code_of([&] {
                  stream.signal_set(reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(x) + 4), 1, 0);
              }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.atomic_fetch_add(&ordinary, x, 1, 0); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { stream.atomic_fetch_add<std::uint64_t>(nullptr, x, 1, 0); }),
              ErrorCode::invalid_argument);
    int gpus = 0;
    check_cuda(cudaGetDeviceCount(&gpus));
    if (gpus > 1) {
        const int mine = job_.device_heap_use().number;
        check_cuda(cudaSetDevice((mine + 1) % gpus));
        cudaStream_t other = nullptr;
        check_cuda(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        EXPECT_EQ(code_of([&] { StreamContext(context_, {other}).put(x, x + 4, 1, 0); }),
                  ErrorCode::invalid_argument);
        EXPECT_EQ(code_of([&] { StreamTeam(job_.world(), {other}).sync(); }), ErrorCode::invalid_argument);
        check_cuda(cudaStreamDestroy(other));
        check_cuda(cudaSetDevice(mine));
    }
    job_.free(x);
    EXPECT_EQ(code_of([&] { stream.put(x, x, 1, 0); }), ErrorCode::use_after_free);
    x = zeros<std::uint64_t>(8);
    stream.p(x, std::uint64_t{3}, job_.my_pe());
    finish();
    EXPECT_EQ(values(x, 1)[0], 3u);
    job_.free(x);
    job_.free(host);
}

}  // namespace
}  // namespace atl::testing
