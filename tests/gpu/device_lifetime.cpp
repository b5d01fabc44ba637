// A job takes GPU memory only when it is asked for, finalize gives all of it back, and the next job starts
// anew.
#include "gpu/support.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

constexpr std::size_t block_bytes = std::size_t{512} << 20;
constexpr std::size_t slack_bytes = std::size_t{96} << 20;  // contexts and pools of PEs on the same GPU

std::size_t free_bytes() {
    std::size_t free = 0, all = 0;
    atl::testing::check_cuda(cudaMemGetInfo(&free, &all));
    return free;
}

/// Memory is gone when the last PE has unmapped it, and no PE waits for that.
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

}  // namespace

int main() {
    using namespace atl;
    std::size_t before = 0;
    for (int round = 0; round < 2; ++round) {
        Job& job = init();
        if (job.device_heap_use().number != -1) return fail("a job opened a GPU that nobody asked for");
        try {
            job.free(job.malloc(1, Memory::device));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unsupported) return fail(error.what());
            if (job.my_pe() == 0) std::printf("[  SKIPPED ] %s\n", error.what());
            finalize();
            return 0;
        }
        atl::testing::check_cuda(cudaSetDevice(job.device_heap_use().number));
        atl::testing::check_cuda(cudaFree(nullptr));
        job.world().barrier();
        if (round == 0) before = free_bytes();
        job.world().barrier();
        void* block = job.malloc(block_bytes, Memory::device);
        if (before - free_bytes() + slack_bytes < block_bytes)
            return fail("where does this memory come from?");
        job.world().barrier();
        if (round == 0) job.free(block);  // the second time finalize finds it in use
        finalize();
        if (!comes_back(before - slack_bytes)) return fail("finalize did not give the GPU's memory back");
    }
    return 0;
}
