// Host-blocking put and get on the device heap of two PEs, and in the same run what CUDA itself takes: a copy
// between two GPUs by cudaMemcpyPeerAsync, and one to the address in the peer's slot, each with its
// synchronisation. PE 0 measures; one line of JSON a row.
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

/// Other ways to bring one word from the host into a peer's slot.
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

/// Memory of the next GPU for CUDA's own copies; null where this process sees only one.
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

}  // namespace

int main() {
    atl::Job& job = atl::init();
    const auto start = std::chrono::steady_clock::now();
    Buffers b{static_cast<char*>(job.malloc(2 * most, atl::Memory::device)), nullptr, nullptr,
              std::vector<char>(most, 1)};
    const double heap_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    const int mine = job.device_heap_use().number;
    check(cudaSetDevice(mine));
    check(cudaMalloc(&b.cuda, most));
    check(cudaMallocHost(&b.pinned, most));
    job.world().barrier();
    if (job.my_pe() == 0) {
        std::printf(
            "{\"side\": \"atoll\", \"op\": \"first allocation, context included\", \"bytes\": %zu, "
            "\"pes\": %d, \"median_us\": %.1f}\n",
            2 * most, job.n_pes(), heap_ms * 1e3);
        int theirs = mine;
        void* other = on_another_gpu(mine, theirs);
        for (const std::size_t bytes : sizes) {
            measure_atoll(job, b, bytes);
            measure_cuda(job, b, bytes, other, mine, theirs);
        }
        measure_words(job, b.symmetric);
    }
    job.world().barrier();
    atl::finalize();
}
