// NVSHMEM on what bench/gpu/flag.cu and team.cu measure, on the same two GPUs: two processes, one kernel
// each. Built on the machine by bench/gpu/peers/build.sh, run with NVSHMEM_DISABLE_NVLS=1. PE 0 prints one
// line of JSON a row.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using Word = std::uint64_t;
constexpr int batches = 15;
constexpr int rounds = 2000;
constexpr std::size_t large = std::size_t{64} << 20;

void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
    std::exit(1);
}

__global__ void flags(int me, Word* flag, Word from) {
    for (Word i = from; i < from + rounds; ++i) {
        if (me == 0) nvshmem_uint64_p(flag, i, 1);
        nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_GE, i);
        if (me == 1) nvshmem_uint64_p(flag, i, 0);
    }
}

__global__ void put_signals(int me, char* dst, const char* src, std::size_t bytes, Word* flag, Word from) {
    for (Word i = from; i < from + rounds; ++i) {
        if (me == 0) nvshmemx_putmem_signal_block(dst, src, bytes, flag, i, NVSHMEM_SIGNAL_SET, 1);
        if (threadIdx.x == 0) nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, i);
        __syncthreads();
        if (me == 1) nvshmemx_putmem_signal_block(dst, src, bytes, flag, i, NVSHMEM_SIGNAL_SET, 0);
    }
}

__global__ void syncs() {
    for (int i = 0; i < rounds; ++i) nvshmemx_sync_all_block();
}

__global__ void barriers(int me, Word* data) {
    for (int i = 0; i < rounds; ++i) {
        nvshmem_uint64_p(data + threadIdx.x, static_cast<Word>(i), 1 - me);
        nvshmemx_barrier_all_block();
    }
}

__global__ void fetch_adds(int me, Word* word) {
    Word sum = 0;
    if (me == 0)
        for (int i = 0; i < rounds; ++i) sum += nvshmem_uint64_atomic_fetch_add(word, 1 + (sum & 1), 1);
    if (sum == 1) *word = sum;
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
    int me;
    cudaStream_t stream;
    cudaEvent_t begin, end;

    template <class Launch> double us(Launch&& launch) {
        check(cudaEventRecord(begin, stream));
        launch();
        check(cudaGetLastError());
        check(cudaEventRecord(end, stream));
        check(cudaStreamSynchronize(stream));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end));
        return ms * 1e3;
    }
    void report(const char* operation, std::size_t bytes, std::vector<double> us) const {
        if (me != 0) return;
        std::sort(us.begin(), us.end());
        const double median = us[us.size() / 2];
        std::printf(
            "{\"side\": \"nvshmem\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": 2, \"median_us\": %.4f, "
            "\"p10_us\": %.4f, \"p90_us\": %.4f, \"gb_per_s\": %.2f}\n",
            operation, bytes, median, us[us.size() / 10], us[us.size() - 1 - us.size() / 10],
            static_cast<double>(bytes) / median * 1e-3);
        std::fflush(stdout);
    }
    /// `calls` in a round, of which a launch makes `per`.
    template <class Launch> void each(const char* operation, std::size_t bytes, int per, Launch launch) {
        std::vector<double> all;
        for (int i = 0; i < batches + 2; ++i) {
            nvshmem_barrier_all();
            const double total = us(launch);
            if (i >= 2) all.push_back(total / per);
        }
        report(operation, bytes, all);
    }
};

void measure(Bench& b) {
    auto* block = static_cast<char*>(nvshmem_calloc(1, 2 * large + 4096));
    auto* flag = reinterpret_cast<Word*>(block);
    char *dst = block + 4096, *src = dst + large;
    Word epoch = 1;
    const auto next = [&] { return (epoch += rounds) - rounds; };
    b.each("flag one way (p, wait_until)", 8, 2 * rounds,
           [&] { flags<<<1, 1, 0, b.stream>>>(b.me, flag, next()); });
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{16384}}) {
        const unsigned threads = bytes < 1024 ? 32 : bytes == 1024 ? 64 : 1024;
        b.each("put_signal, block", bytes, 2 * rounds,
               [&] { put_signals<<<1, threads, 0, b.stream>>>(b.me, dst, src, bytes, flag, next()); });
    }
    b.each("sync, block", 0, rounds, [&] { syncs<<<1, 32, 0, b.stream>>>(); });
    b.each("barrier after 8 B a thread, block", 0, rounds,
           [&] { barriers<<<1, 32, 0, b.stream>>>(b.me, reinterpret_cast<Word*>(dst)); });
    b.each("atomic_fetch_add", 8, rounds,
           [&] { fetch_adds<<<1, 1, 0, b.stream>>>(b.me, reinterpret_cast<Word*>(dst)); });
    for (const std::size_t count : {std::size_t{2}, std::size_t{512}, std::size_t{16384}}) {
        constexpr unsigned threads = 256;  // more need more registers than there are
        auto* sum = reinterpret_cast<float*>(dst);
        const auto* part = reinterpret_cast<const float*>(src);
        b.each("reduce float, block", 4 * count, rounds,
               [&] { reduces<<<1, threads, 0, b.stream>>>(sum, part, count); });
    }
    for (const unsigned blocks : {8u, 16u, 32u}) {
        const auto only_first = [&](auto kernel) {
            return [&, kernel] {
                if (b.me == 0) kernel<<<blocks, 1024, 0, b.stream>>>(dst, src, large);
            };
        };
        b.each(("put in a kernel, " + std::to_string(blocks) + " blocks").c_str(), large, 1,
               only_first(puts));
        b.each(("get in a kernel, " + std::to_string(blocks) + " blocks").c_str(), large, 1,
               only_first(gets));
    }
    nvshmem_free(block);
}

}  // namespace

int main() {
    struct Shared {
        nvshmemx_uniqueid_t id;
        volatile int ready;
    };
    auto* shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const pid_t child = fork();
    const int me = child == 0 ? 1 : 0;
    check(cudaSetDevice(me));
    if (me == 0) {
        shared->id = NVSHMEMX_UNIQUEID_INITIALIZER;
        nvshmemx_get_uniqueid(&shared->id);
        shared->ready = 1;
    }
    while (!shared->ready) usleep(1000);
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_set_attr_uniqueid_args(me, 2, &shared->id, &attributes);
    nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
    Bench b{me, nullptr, nullptr, nullptr};
    check(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    check(cudaEventCreate(&b.begin));
    check(cudaEventCreate(&b.end));
    measure(b);
    nvshmem_finalize();
    int status = 0;
    if (me == 0) waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
}
