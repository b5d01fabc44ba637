// Blocking put and get of the host on the device heaps of two PEs. The same run measures CUDA itself: a copy
// between two GPUs, and one to the address in the peer's slot, each with its synchronisation. PE 0 prints one
// line of JSON a row.
#include "atoll/atoll.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t sizes[] = {8, 1024, 65536, 1 << 20, 16 << 20, std::size_t{256} << 20};
constexpr std::size_t most = sizes[std::size(sizes) - 1];
constexpr int batches = 21;

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

double seconds(const std::function<void()>& call, int repeats) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void row(const char* side, const char* operation, std::size_t bytes, int n_pes,
         const std::function<void()>& call) {
    const double once = std::max(seconds(call, 3) / 3, 1e-7);
    const int repeats = std::max(1, static_cast<int>(5e-3 / once));
    std::vector<double> us;
    for (int i = 0; i < batches; ++i) us.push_back(seconds(call, repeats) / repeats * 1e6);
    std::sort(us.begin(), us.end());
    const double median = us[batches / 2];
    std::printf(
        "{\"side\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": %d, \"median_us\": %.3f, \"p10_us\": "
        "%.3f, "
        "\"p90_us\": %.3f, \"gb_per_s\": %.2f}\n",
        side, operation, bytes, n_pes, median, us[batches / 10], us[batches - 1 - batches / 10],
        static_cast<double>(bytes) / median * 1e-3);
    std::fflush(stdout);
}

struct Buffers {
    char* symmetric;
    void* cuda;
    void* pinned;
    std::vector<char> ordinary;
};

void measure_atoll(const atl::Job& job, Buffers& b, std::size_t bytes) {
    const atl::Context& context = job.context();
    const int peer = job.n_pes() - 1;
    char* remote = b.symmetric;
    char* local = b.symmetric + most;
    const auto put = [&](const char* name, const void* from) {
        row("atoll", name, bytes, job.n_pes(), [&, from] { context.put_bytes(remote, from, bytes, peer); });
    };
    put("put device heap", local);
    put("put cudaMalloc", b.cuda);
    put("put pinned host", b.pinned);
    put("put ordinary host", b.ordinary.data());
    row("atoll", "get device heap", bytes, job.n_pes(),
        [&] { context.get_bytes(local, remote, bytes, peer); });
    row("atoll", "get pinned host", bytes, job.n_pes(),
        [&] { context.get_bytes(b.pinned, remote, bytes, peer); });
    row("atoll", "get ordinary host", bytes, job.n_pes(),
        [&] { context.get_bytes(b.ordinary.data(), remote, bytes, peer); });
}

void measure_cuda(const atl::Job& job, Buffers& b, std::size_t bytes, void* other, int mine, int theirs) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (other)
        row("cuda", "cudaMemcpyPeerAsync", bytes, job.n_pes(), [&] {
            check(cudaMemcpyPeerAsync(other, theirs, b.cuda, mine, bytes, stream));
            check(cudaStreamSynchronize(stream));
        });
    void* slot = job.context().ptr(b.symmetric, job.n_pes() - 1);
    row("cuda", "cudaMemcpyAsync to the slot", bytes, job.n_pes(), [&] {
        check(cudaMemcpyAsync(slot, b.cuda, bytes, cudaMemcpyDefault, stream));
        check(cudaStreamSynchronize(stream));
    });
    row("cuda", "cudaMemcpyAsync to the slot, pinned", bytes, job.n_pes(), [&] {
        check(cudaMemcpyAsync(slot, b.pinned, bytes, cudaMemcpyDefault, stream));
        check(cudaStreamSynchronize(stream));
    });
    check(cudaStreamDestroy(stream));
}

/// Puts `bytes` in blocks of `block`, to every third block of the target; and the same by CUDA.
void measure_strided(const atl::Job& job, Buffers& b, std::size_t block, std::size_t count) {
    const atl::Context& context = job.context();
    const int peer = job.n_pes() - 1;
    const std::size_t bytes = block * count;
    const auto n = static_cast<std::ptrdiff_t>(block / 8);
    auto* to = reinterpret_cast<std::uint64_t*>(b.symmetric);
    const std::string of = " of blocks of " + std::to_string(block);
    const auto put = [&](const char* from_where, const void* from) {
        row("atoll", ("strided put, " + (from_where + of)).c_str(), bytes, job.n_pes(), [&, from] {
            context.ibput(to, static_cast<const std::uint64_t*>(from), 3 * n, n, block / 8, count, peer);
        });
    };
    put("device heap", b.symmetric + most);
    put("pinned host", b.pinned);
    put("ordinary host", b.ordinary.data());
    row("atoll", ("strided get, ordinary host" + of).c_str(), bytes, job.n_pes(), [&] {
        context.ibget(reinterpret_cast<std::uint64_t*>(b.ordinary.data()), to, n, 3 * n, block / 8, count,
                      peer);
    });
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    void* slot = context.ptr(b.symmetric, peer);
    for (const void* from : {static_cast<const void*>(b.cuda), static_cast<const void*>(b.pinned)})
        row("cuda",
            ((from == b.cuda ? "cudaMemcpy2DAsync, device" : "cudaMemcpy2DAsync, pinned") + of).c_str(),
            bytes, job.n_pes(), [&] {
                check(
                    cudaMemcpy2DAsync(slot, 3 * block, from, block, block, count, cudaMemcpyDefault, stream));
                check(cudaStreamSynchronize(stream));
            });
    check(cudaStreamDestroy(stream));
}

/// Other methods to write one word of the host into a peer's slot.
void measure_words(const atl::Job& job, char* symmetric) {
    using WriteValue = int (*)(cudaStream_t, unsigned long long address, std::uint64_t value, unsigned flags);
    void* found = nullptr;
    cudaDriverEntryPointQueryResult why{};
    check(cudaGetDriverEntryPointByVersion("cuStreamWriteValue64", &found, 12000, cudaEnableDefault, &why));
    const auto write_value = reinterpret_cast<WriteValue>(found);
    const std::uint64_t value = 1;
    char* word = job.context().ptr(symmetric, job.n_pes() - 1);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    row("cuda", "cudaMemcpyAsync of a word", 8, job.n_pes(), [&] {
        check(cudaMemcpyAsync(word, &value, 8, cudaMemcpyDefault, stream));
        check(cudaStreamSynchronize(stream));
    });
    row("cuda", "cudaMemcpy (legacy stream) of a word", 8, job.n_pes(),
        [&] { check(cudaMemcpy(word, &value, 8, cudaMemcpyDefault)); });
    row("cuda", "cuStreamWriteValue64", 8, job.n_pes(), [&] {
        if (write_value(stream, reinterpret_cast<unsigned long long>(word), 1, 0) != 0)
            throw std::runtime_error("cuStreamWriteValue64");
        check(cudaStreamSynchronize(stream));
    });
    row("cuda", "cudaStreamSynchronize alone", 8, job.n_pes(), [&] { check(cudaStreamSynchronize(stream)); });
    check(cudaStreamDestroy(stream));
}

/// Memory of the next GPU for CUDA's own copies; null if this process sees only one.
void* on_another_gpu(int mine, int& theirs) {
    int count = 0, reaches = 0;
    check(cudaGetDeviceCount(&count));
    theirs = (mine + 1) % count;
    if (theirs == mine) return nullptr;
    check(cudaDeviceCanAccessPeer(&reaches, mine, theirs));
    if (!reaches) return nullptr;
    void* memory = nullptr;
    check(cudaSetDevice(theirs));
    check(cudaMalloc(&memory, most));
    check(cudaSetDevice(mine));
    check(cudaDeviceEnablePeerAccess(theirs, 0));
    return memory;
}

/// Measures the start of a job: its time, and the GPU memory that it uses beyond the GPU's context.
void measure_start(atl::Job& job) {
    int gpus = 0;
    check(cudaGetDeviceCount(&gpus));
    check(cudaSetDevice(job.my_pe() % gpus));
    const double context_s = seconds([] { check(cudaFree(nullptr)); }, 1);
    std::size_t before = 0, after = 0, all = 0;
    check(cudaMemGetInfo(&before, &all));
    job.world().barrier();
    const double heap_s = seconds([&] { job.free(job.malloc(1, atl::Memory::device)); }, 1);
    check(cudaMemGetInfo(&after, &all));
    if (job.my_pe() == 0)
        std::printf(
            "{\"side\": \"cuda\", \"op\": \"context\", \"bytes\": 0, \"pes\": %d, \"median_us\": %.1f}\n"
            "{\"side\": \"atoll\", \"op\": \"first allocation, context there\", \"bytes\": %zu, \"pes\": %d, "
            "\"median_us\": %.1f}\n",
            job.n_pes(), context_s * 1e6, before - after, job.n_pes(), heap_s * 1e6);
    job.world().barrier();
}

}  // namespace

/// An argument (`strided`) selects the strided rows alone.
int main(int count, char**) {
    atl::Job& job = atl::init();
    measure_start(job);
    Buffers b{static_cast<char*>(job.malloc(2 * most, atl::Memory::device)), nullptr, nullptr,
              std::vector<char>(most, 1)};
    const int mine = job.device_heap_use().number;
    check(cudaSetDevice(mine));
    check(cudaMalloc(&b.cuda, most));
    check(cudaMallocHost(&b.pinned, most));
    job.world().barrier();
    if (job.my_pe() == 0) {
        int theirs = mine;
        void* other = on_another_gpu(mine, theirs);
        for (const std::size_t bytes : sizes) {
            if (count > 1) break;
            measure_atoll(job, b, bytes);
            measure_cuda(job, b, bytes, other, mine, theirs);
        }
        if (count == 1) measure_words(job, b.symmetric);
        measure_strided(job, b, 8, 10000);
        measure_strided(job, b, 1024, 10000);
    }
    job.world().barrier();
    atl::finalize();
}
