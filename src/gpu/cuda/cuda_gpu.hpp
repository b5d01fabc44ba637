// CudaGpu: a GPU of CUDA, which consists of an executor, a pinning and a memory.
#pragma once

#include "gpu/cuda/cuda_executor.hpp"
#include "gpu/cuda/cuda_memory.hpp"
#include "gpu/cuda/cuda_pinning.hpp"
#include "gpu/gpu.hpp"

namespace atl::cuda {

class CudaGpu final : public gpu::Gpu {
  public:
    explicit CudaGpu(const gpu::DeviceChoice& choice)
        : device_(choice), executor_(device_, pinning_), pinning_(device_, memory_), memory_(device_) {}

    const gpu::DeviceFacts& facts() const noexcept override { return device_.facts; }
    void check_peer(const gpu::DeviceUuid& peer) const override { device_.check_peer(peer); }
    std::uint64_t clock_ns() override { return executor_.clock_ns(); }
    gpu::GpuMemory& memory() noexcept override { return memory_; }
    gpu::GpuExecutor& executor() noexcept override { return executor_; }
    gpu::GpuPinning& pinning() noexcept override { return pinning_; }

  private:
    // Destroyed from the last to the first: the mapped memory, then pinned memory, then streams and kernels.
    CudaDevice device_;
    CudaExecutor executor_;
    CudaPinning pinning_;
    CudaMemory memory_;
};

}  // namespace atl::cuda
