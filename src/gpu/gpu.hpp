// Gpu: a PE's GPU, by three interfaces. The plug-in libatoll_cuda.so implements them and is loaded when a GPU
// is first used. So the rest of the library contains no CUDA.
#pragma once

#include "atoll/version.hpp"
#include "gpu/gpu_executor.hpp"
#include "gpu/gpu_memory.hpp"
#include "gpu/gpu_pinning.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace atl::gpu {

/// The GPU of a PE, among those that its process sees.
struct DeviceChoice {
    int number = 0;
    bool exact = false;  ///< else modulo their number
};

struct DeviceFacts {
    int number = -1;  ///< among those that this process sees
    std::string name;
    DeviceUuid uuid{};
    std::size_t memory_bytes = 0;       ///< memory of the GPU
    std::size_t granularity_bytes = 0;  ///< chunks are multiples of it
    unsigned resident_blocks = 0;       ///< blocks of the library's collective kernels that run at once
    bool is_gpu_memory = true;          ///< the host cannot load and store it
    /// Processes time-slice the GPU, since MPS is not running. False if that is unknown.
    bool takes_turns = false;
    /// Networks can read and write its memory, and their writes can be made visible to every PE.
    bool admits_networks = false;
};

/// Each interface lives as long as the GPU.
class Gpu {
  public:
    virtual ~Gpu() = default;
    virtual const DeviceFacts& facts() const noexcept = 0;
    /// Throws Error(unsupported) if this GPU is known to be unable to reach that one.
    virtual void check_peer(const DeviceUuid& peer) const = 0;
    /// The clock that kernels read (globaltimer). 0: it cannot be read. Throws Error(system).
    virtual std::uint64_t clock_ns() { return 0; }
    virtual GpuMemory& memory() noexcept = 0;
    virtual GpuExecutor& executor() noexcept = 0;
    virtual GpuPinning& pinning() noexcept = 0;
};

/// The symbol `device_plugin_symbol` of libatoll_cuda.so. Both sides must be of one release: the interface
/// between them is not stable.
struct DevicePlugin {
    const char* release;  ///< ATOLL_VERSION
    std::unique_ptr<Gpu> (*open)(const DeviceChoice& choice);
    const char* built;  ///< human-readable: "CUDA 13.0, kernels for sm_90"
};
inline constexpr const char* device_plugin_symbol = "atoll_device_plugin";

}  // namespace atl::gpu
