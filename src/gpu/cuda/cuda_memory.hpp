// CudaMemory: the window of GPU memory. It is CUDA's virtual memory: a reserved range of addresses, in which
// chunks of all PEs' GPUs are mapped.
#pragma once

#include "gpu/cuda/primary_context.hpp"
#include "gpu/gpu_memory.hpp"

#include <vector>

namespace atl::cuda {

/// Existing memory that it maps is in views.cpp.
class CudaMemory final : public gpu::GpuMemory {
  public:
    explicit CudaMemory(const CudaDevice& device) : device_(device) {}
    ~CudaMemory() override;
    CudaMemory(const CudaMemory&) = delete;
    CudaMemory& operator=(const CudaMemory&) = delete;

    bool in_window(const void* address) const noexcept {
        return reinterpret_cast<CUdeviceptr>(address) - window_ <
               stride_ * static_cast<std::size_t>(n_slots_);
    }

    gpu::DeviceWindow reserve(int n_slots, int my_slot, std::size_t stride) override;
    common::Fd extend(std::size_t bytes) override;
    void map_peer(int slot, const common::Fd& chunk) override;
    void withdraw() noexcept override;
    gpu::DeviceRange enclosing(const void* memory, std::size_t bytes) const override;
    std::vector<std::size_t> parts(const void* memory, std::size_t bytes) const override;
    common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) override;
    void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& memory) override;
    void unmap_view(std::size_t offset) noexcept override;
    void map_chunk(int slot, std::size_t offset, std::size_t bytes, const common::Fd& chunk) override;

  private:
    struct Chunk {
        std::size_t offset;
        std::size_t bytes;
        std::vector<bool> mapped;  ///< by slot
    };
    char* slot(int i) const noexcept {
        return reinterpret_cast<char*>(window_ + stride_ * static_cast<std::size_t>(i));
    }
    void map(Chunk& chunk, int slot, CUmemGenericAllocationHandle memory);
    void unmap(const Chunk& chunk) noexcept;
    common::Fd export_memory(CUmemGenericAllocationHandle memory) const;
    CUmemGenericAllocationHandle import_memory(int slot, const common::Fd& memory) const;
    CUmemGenericAllocationHandle retained(const void* memory, std::size_t bytes) const;
    std::uint64_t physical_block(const char* address) const noexcept;
    CUmemGenericAllocationHandle create(std::size_t bytes) const;

    const CudaDevice& device_;
    CUdeviceptr window_ = 0;
    std::size_t stride_ = 0;
    int n_slots_ = 0;
    int my_slot_ = 0;
    std::vector<Chunk> chunks_;
    std::vector<Chunk> views_;    ///< mappings of memory that existed already (views.cpp)
    std::vector<Chunk> foreign_;  ///< chunks of other processes' own slots
};

}  // namespace atl::cuda
