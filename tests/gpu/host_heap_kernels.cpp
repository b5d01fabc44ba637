// The host heap and GPUs. Kernels and streams wait for pinned words that other PEs' hosts write. GPU memory
// is the local side of operations on the host heap.
#include "atoll/stream.hpp"
#include "gpu/host_words.hpp"
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

#include <chrono>
#include <cstdio>
#include <numeric>

namespace atl::testing {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class HostHeap : public OnDevice {
  protected:
    void SetUp() override {
        OnDevice::SetUp();
        if (IsSkipped()) return;
        check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        team_ = job_.world().device(Memory::device);
        wrong_ = static_cast<unsigned long long*>(job_.calloc(1, 8, Memory::device));
    }
    void TearDown() override {
        if (!wrong_) return;
        check_cuda(cudaStreamSynchronize(stream_));
        EXPECT_EQ(context_.g(wrong_, job_.my_pe()), 0u);
        check_cuda(cudaStreamDestroy(stream_));
        job_.world().barrier();
        job_.free(wrong_);
    }
    template <class T> T* zeros(std::size_t n) { return static_cast<T*>(job_.calloc(n, sizeof(T))); }
    void free(std::initializer_list<void*> blocks) {
        job_.world().barrier();
        for (void* block : blocks) job_.free(block);
    }
    cudaStream_t stream_ = nullptr;
    device::Team team_{};
    unsigned long long* wrong_ = nullptr;
};

TEST_F(HostHeap, AKernelFollowsWhatAnotherPesHostPuts) {
    constexpr int n = 5000;
    const int rounds = takes_turns(job_) ? 20 : 200;
    auto* data = zeros<int>(n);
    auto* signal = zeros<std::uint64_t>(1);
    auto* answer = static_cast<std::uint64_t*>(job_.calloc(1, 8, Memory::device));
    EXPECT_EQ(job_.pin(data, n), data);
    job_.pin(signal, 1);
    job_.world().barrier();
    follow_host(team_, {signal, data, n, 1000 * left_of(job_), rounds, answer, left_of(job_), wrong_},
                stream_);
    std::vector<int> mine(n);
    for (int round = 1; round <= rounds; ++round) {
        mine.assign(n, 1000 * job_.my_pe() + round);
        const auto value = static_cast<std::uint64_t>(round);
        if (round % 3 == 0) {
            context_.put(data, mine.data(), n, right_of(job_));
            context_.fence();
            context_.signal_set(signal, value, right_of(job_));
        } else if (round % 3 == 1) {
            context_.put_signal(data, mine.data(), n, signal, 1, SignalOp::add, right_of(job_));
        } else {
            context_.put(data, mine.data(), n, right_of(job_));
            context_.fence();
            context_.atomic_inc(signal, right_of(job_));
        }
        context_.wait_until(answer, Compare::ge, value);
    }
    check_cuda(cudaStreamSynchronize(stream_));
    free({data, signal, answer});
}

TEST_F(HostHeap, WaitsAndTestsOfSmallerWords) {
    auto* words = zeros<std::int32_t>(2);
    job_.pin(words, 2);
    job_.world().barrier();
    wait_for_words(team_, words, wrong_, stream_);
    context_.p(words + 1, 5, right_of(job_));
    context_.p(words, 7, right_of(job_));
    check_cuda(cudaStreamSynchronize(stream_));
    free({words});
}

TEST_F(HostHeap, AHostSeesWhatItsOwnKernelStores) {
    auto* word = zeros<std::uint64_t>(1);
    job_.pin(word, 1);
    store_for_host(word, 41, stream_);
    EXPECT_EQ(context_.wait_until(word, Compare::ge, 41), 41u);
    check_cuda(cudaStreamSynchronize(stream_));
    free({word});
}

TEST_F(HostHeap, StreamsWaitForPinnedWords) {
    auto* words = zeros<std::uint64_t>(2);
    auto* there = static_cast<std::uint64_t*>(job_.calloc(1, 8, Memory::device));
    job_.pin(words, 2);
    const StreamContext on(context_, {stream_});
    on.signal_wait_until(words, Compare::ge, 3);
    on.put(there, words + 1, 1, job_.my_pe());  // the data before the signal
    job_.world().barrier();
    const std::uint64_t mine = 77;
    context_.put_signal(words + 1, &mine, 1, words, 3, SignalOp::add, right_of(job_));
    check_cuda(cudaStreamSynchronize(stream_));
    EXPECT_EQ(context_.g(there, job_.my_pe()), 77u);
    free({words, there});
}

/// Copies across the end of pinned memory, both ways, and by kernels that copy block by block.
TEST_F(HostHeap, BlocksThatArePinnedInPart) {
    constexpr std::size_t bytes = 11 * mib;
    auto* block = static_cast<unsigned char*>(job_.malloc(bytes));
    auto* there = static_cast<unsigned char*>(job_.malloc(bytes, Memory::device));
    job_.pin(block + 5 * mib, 1);
    job_.pin(block + 7 * mib, 1);
    const Bytes mine = noise(bytes, job_.my_pe());
    std::memcpy(block, mine.data(), bytes);
    context_.put(there, block, bytes, right_of(job_));
    job_.world().barrier();
    std::memset(block, 0, bytes);
    context_.get(block, there, bytes, job_.my_pe());
    EXPECT_TRUE(std::equal(block, block + bytes, noise(bytes, left_of(job_)).begin()));
    context_.iput(there, block, 2, 2, bytes / 2, job_.my_pe());
    context_.iget(block + 1, there, 2, 2, bytes / 2, job_.my_pe());
    for (std::size_t i = 0; i + 1 < bytes; i += 2) ASSERT_EQ(block[i + 1], block[i]);
    free({block, there});
}

TEST_F(HostHeap, FreedBlocksAreReleased) {
    for (int i = 0; i < 5; ++i) {
        auto* block = zeros<std::uint64_t>(8 * mib / 8);
        job_.pin(block, 8 * mib / 8);
        store_for_host(block + 4 * mib / 8, 40 + static_cast<std::uint64_t>(i), stream_);
        EXPECT_EQ(context_.wait_until(block + 4 * mib / 8, Compare::ne, 0), 40u + static_cast<unsigned>(i));
        check_cuda(cudaStreamSynchronize(stream_));
        free({block});
    }
}

enum class Side { cuda, device_heap };
class LocalOnGpu : public HostHeap, public ::testing::WithParamInterface<Side> {
  protected:
    static constexpr std::size_t most = 6 * mib;
    void SetUp() override {
        HostHeap::SetUp();
        if (IsSkipped()) return;
        if (GetParam() == Side::cuda)
            check_cuda(cudaMalloc(&local_, most));
        else
            local_ = job_.malloc(most, Memory::device);
    }
    void TearDown() override {
        if (local_ && GetParam() == Side::cuda)
            cudaFree(local_);
        else if (local_)
            job_.free(local_);
        HostHeap::TearDown();
    }
    int* ints() const { return static_cast<int*>(local_); }
    void* local_ = nullptr;
};

TEST_P(LocalOnGpu, PutsAndGetsOfTheHostHeap) {
    auto* x = static_cast<unsigned char*>(job_.calloc(1, most));
    auto* local = static_cast<unsigned char*>(local_);
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{8}, std::size_t{100}, std::size_t{65537}, most}) {
        write(local, noise(bytes, job_.my_pe()));
        context_.put(x, local, bytes, right_of(job_));
        job_.world().barrier();
        const Bytes came = noise(bytes, left_of(job_));
        EXPECT_TRUE(std::equal(came.begin(), came.end(), x)) << bytes;
        write(local, Bytes(bytes, 0xee));
        context_.get(local, x, bytes, right_of(job_));
        EXPECT_TRUE(read(local, bytes) == noise(bytes, job_.my_pe())) << bytes;
        job_.world().barrier();
    }
    free({x});
}

TEST_P(LocalOnGpu, StridedFormsSignalsAndCollectives) {
    constexpr std::size_t n = 20000;
    auto* x = zeros<int>(3 * n);
    auto* signal = zeros<std::uint64_t>(1);
    std::vector<int> mine(2 * n);
    std::iota(mine.begin(), mine.end(), 100000 * job_.my_pe());
    check_cuda(cudaMemcpy(local_, mine.data(), mine.size() * sizeof(int), cudaMemcpyDefault));
    check_cuda(cudaDeviceSynchronize());
    context_.iput(x, ints(), 3, 2, n, right_of(job_));
    job_.world().barrier();
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(x[3 * i], 100000 * left_of(job_) + static_cast<int>(2 * i));
    context_.iget(ints() + 1, x, 2, 3, n, right_of(job_));
    const Bytes got = read(local_, 2 * n * sizeof(int));
    std::memcpy(mine.data(), got.data(), got.size());
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(mine[2 * i + 1], mine[2 * i]);
    job_.world().barrier();
    context_.put_signal(x, ints(), n, signal, 1, SignalOp::add, right_of(job_));
    context_.signal_wait_until(signal, Compare::eq, 1);
    EXPECT_EQ(x[0], 100000 * left_of(job_));
    job_.world().barrier();
    job_.world().sum_reduce(std::span(x, 2), std::span<const int>(ints(), 2));
    EXPECT_EQ(x[0], 100000 * (job_.n_pes() * (job_.n_pes() - 1) / 2));
    free({x, signal});
}

std::string side_name(const ::testing::TestParamInfo<Side>& info) {
    return info.param == Side::cuda ? "CudaMalloc" : "DeviceHeap";
}
INSTANTIATE_TEST_SUITE_P(From, LocalOnGpu, ::testing::Values(Side::cuda, Side::device_heap), side_name);

/// Prints the time of a host put in a job with a device heap, by the kind of memory of `src`.
TEST_F(HostHeap, PutsFromWhereNoGpuIs) {
    auto* x = zeros<std::uint64_t>(8);
    const std::uint64_t on_stack = 1;
    auto* symmetric = zeros<std::uint64_t>(1);
    *symmetric = 2;
    const std::vector<std::uint64_t> mapped(mib, 3);
    struct From {
        const char* where;
        const std::uint64_t* src;
    };
    for (const auto& [where, src] :
         {From{"stack", &on_stack}, From{"host heap", symmetric}, From{"mapped memory", mapped.data()}}) {
        constexpr int puts = 100000;
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < puts; ++i) context_.put(x, src, 1, right_of(job_));
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
        EXPECT_EQ(context_.g(x, right_of(job_)), *src);
        if (job_.my_pe() == 0) std::printf("put of 8 bytes from %s: %.1f ns\n", where, took.count() / puts);
    }
    free({x, symmetric});
}

}  // namespace
}  // namespace atl::testing
