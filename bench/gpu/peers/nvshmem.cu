// NVSHMEM's times for the rows of bench/gpu/flag.cu and team.cu, on the same GPUs. Usage: `nvshmem [PEs]`, by
// default 2, with one kernel each. Rows in one direction run between PEs 0 and 1. Built on the machine by
// bench/gpu/peers/build.sh, run with NVSHMEM_DISABLE_NVLS=1. PE 0 prints one line of JSON a row.
#include "nvshmem_job.cuh"

#include <algorithm>
#include <string>

#if !defined(SIDE)
#define SIDE "nvshmem"  // another name for a build with Atoll's nvshmem.h
#endif

namespace {

using peers::Word;
constexpr int batches = 15;
constexpr int rounds = 2000;
constexpr std::size_t large = std::size_t{64} << 20;
/// The time to reach a word depends on its address. So rounds use words at these places in turn.
constexpr std::size_t places = 16, bytes_between = 4096 + 64;
__device__ Word* place(Word* words, Word round) {
    return words + round % places * (bytes_between / sizeof(Word));
}

__global__ void flags(int me, Word* words, Word from) {
    for (Word i = from; i < from + rounds; ++i) {
        Word* const flag = place(words, i);
        if (me == 0) nvshmem_uint64_p(flag, i, 1);
        nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_GE, i);
        if (me == 1) nvshmem_uint64_p(flag, i, 0);
    }
}

__global__ void put_signals(int me, char* dst, const char* src, std::size_t bytes, Word* words, Word from) {
    for (Word i = from; i < from + rounds; ++i) {
        Word* const flag = place(words, i);
        if (me == 0) nvshmemx_putmem_signal_block(dst, src, bytes, flag, i, NVSHMEM_SIGNAL_SET, 1);
        if (threadIdx.x == 0) nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, i);
        __syncthreads();
        if (me == 1) nvshmemx_putmem_signal_block(dst, src, bytes, flag, i, NVSHMEM_SIGNAL_SET, 0);
    }
}

__global__ void syncs() {
    for (int i = 0; i < rounds; ++i) nvshmemx_sync_all_block();
}

__global__ void barriers(int beside, Word* data) {
    for (int i = 0; i < rounds; ++i) {
        nvshmem_uint64_p(data + threadIdx.x, static_cast<Word>(i), beside);
        nvshmemx_barrier_all_block();
    }
}

__global__ void fetch_adds(int me, Word* words) {
    Word sum = 0;
    if (me == 0)
        for (Word i = 0; i < rounds; ++i)
            sum += nvshmem_uint64_atomic_fetch_add(place(words, i), 1 + (sum & 1), 1);
    if (sum == 1) *words = sum;
}

__global__ void reduces(float* dst, const float* src, std::size_t count) {
    for (int i = 0; i < rounds; ++i) nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, dst, src, count);
}

__global__ void puts(char* dst, const char* src, std::size_t bytes) {
    const std::size_t part = bytes / gridDim.x, at = blockIdx.x * part;
    nvshmemx_putmem_block(dst + at, src + at, part, 1);
}
__global__ void gets(char* dst, const char* src, std::size_t bytes) {
    const std::size_t part = bytes / gridDim.x, at = blockIdx.x * part;
    nvshmemx_getmem_block(dst + at, src + at, part, 1);
}

struct Bench {
    int me, n_pes;
    peers::Timer timer{};
    void report(const char* operation, std::size_t bytes, std::vector<double> us) const {
        if (me != 0) return;
        std::sort(us.begin(), us.end());
        const double median = us[us.size() / 2];
        std::printf("{\"side\": \"" SIDE
                    "\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": %d, \"median_us\": %.4f, "
                    "\"p10_us\": %.4f, \"p90_us\": %.4f, \"gb_per_s\": %.2f}\n",
                    operation, bytes, n_pes, median, us[us.size() / 10], us[us.size() - 1 - us.size() / 10],
                    static_cast<double>(bytes) / median * 1e-3);
        std::fflush(stdout);
    }
    /// Measures a launch that makes `per` calls, on the first `members` PEs.
    template <class Launch>
    void each(const char* operation, std::size_t bytes, int per, int members, Launch launch) {
        std::vector<double> all;
        for (int i = 0; i < batches + 2; ++i) {
            nvshmem_barrier_all();
            const double total = me < members ? timer.us(launch) : 0;
            if (i >= 2) all.push_back(total / per);
        }
        report(operation, bytes, all);
    }
};

void measure(Bench& b) {
    auto* block = static_cast<char*>(nvshmem_calloc(1, 2 * large + places * bytes_between));
    auto* words = reinterpret_cast<Word*>(block);
    char *dst = block + places * bytes_between, *src = dst + large;
    Word epoch = 1;
    const auto next = [&] { return (epoch += rounds) - rounds; };
    b.each("flag one way (p, wait_until)", 8, 2 * rounds, 2,
           [&](cudaStream_t s) { flags<<<1, 1, 0, s>>>(b.me, words, next()); });
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{16384}}) {
        const unsigned threads = bytes < 1024 ? 32 : bytes == 1024 ? 64 : 1024;
        b.each("put_signal, block", bytes, 2 * rounds, 2, [&](cudaStream_t s) {
            put_signals<<<1, threads, 0, s>>>(b.me, dst, src, bytes, words, next());
        });
    }
    b.each("sync, block", 0, rounds, b.n_pes, [&](cudaStream_t s) { syncs<<<1, 32, 0, s>>>(); });
    b.each("barrier after 8 B a thread, block", 0, rounds, b.n_pes, [&](cudaStream_t s) {
        barriers<<<1, 32, 0, s>>>((b.me + 1) % b.n_pes, reinterpret_cast<Word*>(dst));
    });
    b.each("atomic_fetch_add", 8, rounds, 1,
           [&](cudaStream_t s) { fetch_adds<<<1, 1, 0, s>>>(b.me, words); });
    for (const std::size_t count : {std::size_t{2}, std::size_t{512}, std::size_t{16384}}) {
        constexpr unsigned threads = 256;  // more threads would need more registers than there are
        auto* sum = reinterpret_cast<float*>(dst);
        const auto* part = reinterpret_cast<const float*>(src);
        b.each("reduce float, block", 4 * count, rounds, b.n_pes,
               [&](cudaStream_t s) { reduces<<<1, threads, 0, s>>>(sum, part, count); });
    }
    for (const unsigned blocks : {8u, 16u, 32u}) {
        const auto of = [&](auto kernel) {
            return [&, kernel](cudaStream_t s) { kernel<<<blocks, 1024, 0, s>>>(dst, src, large); };
        };
        b.each(("put in a kernel, " + std::to_string(blocks) + " blocks").c_str(), large, 1, 1, of(puts));
        b.each(("get in a kernel, " + std::to_string(blocks) + " blocks").c_str(), large, 1, 1, of(gets));
    }
    nvshmem_free(block);
}

}  // namespace

int main(int count, char** words) {
    return peers::run(count > 1 ? std::atoi(words[1]) : 2, [](int me, int n) {
        Bench b{me, n};
        measure(b);
        return true;
    });
}
