#include "gpu/gpu_sharing.hpp"

#include "atoll/device/resident.hpp"
#include "common/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>

namespace atl {

namespace gpu {

namespace {

/// The PEs of this process that use a GPU, and the number of PEs that run on it at once.
struct Users {
    std::atomic<int> owners{0};
    std::atomic<int> at_once{0};
};
/// Indexed by the GPU's number within this process.
std::array<Users, 64> users_of;

bool is_counted(int gpu) noexcept { return gpu >= 0 && gpu < static_cast<int>(users_of.size()); }

}  // namespace

std::uint32_t GpuUse::this_process() {
    static const std::uint32_t number = std::random_device{}();
    return number;
}

std::vector<GpuSharing> sharing_of(const std::vector<GpuUse>& uses) {
    struct Gpu {
        int n_pes = 0, first_pe = 0;
        bool takes_turns = true;
        std::map<std::uint32_t, int> by_process;
    };
    std::map<DeviceUuid, Gpu> gpus;
    for (std::size_t pe = 0; pe < uses.size(); ++pe) {
        Gpu& gpu = gpus[uses[pe].uuid];
        if (gpu.n_pes++ == 0) gpu.first_pe = static_cast<int>(pe);
        gpu.takes_turns = gpu.takes_turns && uses[pe].takes_turns;
        ++gpu.by_process[uses[pe].process];
    }
    std::vector<GpuSharing> result;
    result.reserve(uses.size());
    for (const GpuUse& use : uses) {
        const Gpu& gpu = gpus[use.uuid];
        result.push_back(
            {gpu.n_pes, gpu.takes_turns ? gpu.by_process.at(use.process) : gpu.n_pes, gpu.first_pe});
    }
    return result;
}

unsigned share_of(unsigned blocks, int at_once) noexcept {
    if (at_once <= 1 || blocks == 0) return blocks;
    return (blocks - std::max(1u, blocks / 16)) / static_cast<unsigned>(at_once);
}

std::string turns_text(const GpuSharing& sharing, const DeviceFacts& facts) {
    return std::to_string(sharing.n_pes) + " PEs share GPU " + std::to_string(facts.number) + " (" +
           facts.name +
           ") by time slices, and each switch between them takes about 2 ms. Under NVIDIA's MPS they run at "
           "once: use `atoll run --mps`, or start `nvidia-cuda-mps-control -d` before the job.";
}

SharedGpu::SharedGpu(int gpu, int at_once) noexcept : gpu_(gpu) {
    if (!is_counted(gpu_)) return;
    Users& users = users_of[static_cast<std::size_t>(gpu_)];
    users.owners.fetch_add(1, std::memory_order_relaxed);
    users.at_once.store(at_once, std::memory_order_relaxed);
}

SharedGpu::~SharedGpu() {
    if (is_counted(gpu_))
        users_of[static_cast<std::size_t>(gpu_)].owners.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace gpu

namespace detail {

ATOLL_API int pes_at_once(int gpu) noexcept {
    if (!gpu::is_counted(gpu)) return 1;
    const gpu::Users& users = gpu::users_of[static_cast<std::size_t>(gpu)];
    if (users.owners.load(std::memory_order_relaxed) == 0) return 1;
    return std::max(1, users.at_once.load(std::memory_order_relaxed));
}

ATOLL_API int resident_share(int gpu, int blocks) noexcept {
    return static_cast<int>(gpu::share_of(static_cast<unsigned>(std::max(blocks, 0)), pes_at_once(gpu)));
}

}  // namespace detail

namespace gpu {

std::string grid_refusal(int gpu, unsigned long long blocks, unsigned threads, int whole) {
    std::string text = std::to_string(blocks) + (blocks == 1 ? " block of " : " blocks of ") +
                       std::to_string(threads) + " threads cannot run at once; GPU " + std::to_string(gpu) +
                       " holds " + std::to_string(whole);
    const int pes = detail::pes_at_once(gpu);
    if (pes > 1)
        text += ", and " + std::to_string(pes) +
                " PEs run on it at once (by MPS, or as threads), so each may have " +
                std::to_string(detail::resident_share(gpu, whole)) + ": ask most_resident_blocks";
    return text;
}

}  // namespace gpu

namespace detail {

ATOLL_API void say_grid_refused(int gpu, unsigned long long blocks, unsigned threads, int whole) {
    common::say("cooperative_launch: " + gpu::grid_refusal(gpu, blocks, threads, whole) + ".");
}

}  // namespace detail

}  // namespace atl
