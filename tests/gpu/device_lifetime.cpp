// A job takes GPU memory only when needed, and finalize returns all of it. The next job starts fresh.
#include "gpu/support.hpp"

#include "atoll/stream.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using namespace atl;
namespace gpu = atl::testing;
using gpu::check_cuda;

constexpr std::size_t block_bytes = std::size_t{512} << 20;
constexpr std::size_t slack_bytes = std::size_t{96} << 20;  // contexts and pools of PEs on the same GPU
/// Memory that the driver keeps for a context after kernels, whatever the number of jobs: 2 MiB were
/// seen.
constexpr std::size_t kept_bytes = std::size_t{4} << 20;
constexpr int rounds = 5;

std::size_t free_bytes() {
    std::size_t free = 0, all = 0;
    check_cuda(cudaMemGetInfo(&free, &all));
    return free;
}

/// Memory is returned when the last PE has unmapped it, and no PE waits for that.
bool comes_back(std::size_t wanted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (free_bytes() < wanted) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

int fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    return 1;
}

/// Uses all kinds of the library's resources: copies, words, collectives of both kinds, pinned memory.
void use_everything(Job& job, cudaStream_t stream) {
    auto* x = static_cast<std::uint64_t*>(job.calloc(1 << 20, 8, Memory::device));
    const std::uint64_t one = 1;
    job.context().put(x, &one, 1, 0);
    job.context().atomic_add(x, one, 0);
    job.context().iput(x, &one, 2, 1, 1, 0);
    std::vector<std::uint64_t> ordinary(1000, 1);
    job.world().sum_reduce(std::span(x, 1000), std::span<const std::uint64_t>(ordinary));
    const StreamTeam team(job.world(), {stream});
    team.sum_reduce(std::span(x, 100), std::span<const std::uint64_t>(x, 100));
    team.fcollect(std::span(x, 100000 * static_cast<std::size_t>(job.n_pes())),
                  std::span<const std::uint64_t>(x + (1 << 19), 100000));
    check_cuda(cudaStreamSynchronize(stream));
    job.world().barrier();
    job.free(x);
}

int run() {
    std::size_t before = 0;
    bool alone = false;
    cudaStream_t stream = nullptr;
    for (int round = 0; round < rounds; ++round) {
        Job& job = init();
        if (job.device_heap_use().number != -1) return fail("a job opened a GPU that nobody asked for");
        int gpus = 0;
        if (round == 0 && cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0 &&
            !std::getenv("ATOLL_DEVICE")) {
            check_cuda(cudaSetDevice(job.my_pe() % gpus));  // the one that it will take
            check_cuda(cudaFree(nullptr));
            check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            job.world().barrier();
            before = free_bytes();
            job.world().barrier();
        }
        try {
            job.free(job.malloc(1, Memory::device));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unsupported) return fail(error.what());
            if (job.my_pe() == 0) std::printf("[  SKIPPED ] %s\n", error.what());
            finalize();
            return 0;
        }
        alone = job.device_heap_use().n_pes == 1;
        job.world().barrier();
        const std::size_t free_before = free_bytes();
        job.world().barrier();
        void* block = job.malloc(block_bytes, Memory::device);
        if (free_before - free_bytes() + slack_bytes < block_bytes)
            return fail("where does this memory come from?");
        job.world().barrier();
        use_everything(job, stream);
        if (round % 2 == 0) job.free(block);  // otherwise finalize finds it in use
        const int pe = job.my_pe();
        finalize();
        const std::size_t spared = alone ? kept_bytes : slack_bytes;
        if (before > spared && !comes_back(before - spared))
            return fail("finalize did not give the GPU's memory back");
        std::printf("PE %d, job %d: %lld bytes less are free than before the first\n", pe, round,
                    static_cast<long long>(before) - static_cast<long long>(free_bytes()));
    }
    return 0;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
