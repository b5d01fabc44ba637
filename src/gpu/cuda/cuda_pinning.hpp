// CudaPinning: pinned memory of the host, and what a GPU's memory is to networks and other libraries.
#pragma once

#include "gpu/cuda/cuda_memory.hpp"
#include "gpu/gpu_pinning.hpp"

#include <mutex>
#include <vector>

namespace atl::cuda {

class CudaPinning final : public gpu::GpuPinning {
  public:
    CudaPinning(const CudaDevice& device, const CudaMemory& memory) : device_(device), memory_(memory) {}
    ~CudaPinning() override;
    CudaPinning(const CudaPinning&) = delete;
    CudaPinning& operator=(const CudaPinning&) = delete;

    void* pin(std::size_t bytes) override;
    void* show(void* pages, std::size_t bytes) override;
    void hide(void* pages) noexcept override;
    bool reaches(const void* address) const override;
    bool is_on_gpu(const void* address) const override;
    void show_network_puts() override;
    void make_current() const override;

  private:
    const CudaDevice& device_;
    const CudaMemory& memory_;
    std::mutex mutex_;  // guards the next two
    std::vector<void*> pinned_;
    std::vector<void*> shown_;
};

}  // namespace atl::cuda
