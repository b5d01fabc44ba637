// A GPU of CUDA. Its memory is CUDA's virtual memory: a reserved range of addresses (the window), in which
// chunks of all PEs' GPUs are mapped.
#pragma once

#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/kernels.hpp"
#include "gpu/gpu.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

namespace atl::cuda {

/// A GPU's primary context, which CUDA's runtime, PyTorch and CuPy use too.
class PrimaryContext {
  public:
    PrimaryContext(const Driver& driver, CUdevice device);
    ~PrimaryContext() { driver_.release_context(device_); }
    PrimaryContext(const PrimaryContext&) = delete;
    PrimaryContext& operator=(const PrimaryContext&) = delete;

    CUcontext get() const noexcept { return context_; }

    /// Makes a context current for the calling thread, and restores the previous one at the end of its life.
    class Current {
      public:
        explicit Current(const PrimaryContext& context);
        ~Current();
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

      private:
        const Driver& driver_;
        bool pushed_ = false;  ///< most callers have it current already
    };

  private:
    const Driver& driver_;
    CUdevice device_;
    CUcontext context_ = nullptr;
};

/// Its parts are in files of their own: memory and pinning in cuda_gpu.cpp, existing memory in views.cpp, the
/// executor in streams.cpp.
class CudaGpu final : public gpu::Gpu, gpu::GpuMemory, gpu::GpuExecutor, gpu::GpuPinning {
  public:
    explicit CudaGpu(const gpu::DeviceChoice& choice);
    ~CudaGpu() override;
    CudaGpu(const CudaGpu&) = delete;
    CudaGpu& operator=(const CudaGpu&) = delete;

    const gpu::DeviceFacts& facts() const noexcept override { return facts_; }
    gpu::GpuMemory& memory() noexcept override { return *this; }
    gpu::GpuExecutor& executor() noexcept override { return *this; }
    gpu::GpuPinning& pinning() noexcept override { return *this; }

  private:
    void check_peer(const gpu::DeviceUuid& peer) const override;
    void limit_blocks(unsigned blocks) override { kernels_->limit_blocks(blocks); }
    gpu::DeviceWindow reserve(int n_slots, int my_slot) override;
    common::Fd extend(std::size_t bytes) override;
    void map_peer(int slot, const common::Fd& chunk) override;
    void withdraw() noexcept override;
    gpu::DeviceRange enclosing(const void* memory, std::size_t bytes) const override;
    std::vector<std::size_t> parts(const void* memory, std::size_t bytes) const override;
    common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) override;
    void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& memory) override;
    void unmap_view(std::size_t offset) noexcept override;
    void* show(void* pages, std::size_t bytes) override;
    void hide(void* pages) noexcept override;
    void copy(void* dst, const void* src, std::size_t bytes) override;
    void fill(void* dst, unsigned char value, std::size_t bytes) override;
    void begin_copy(void* dst, const void* src, std::size_t bytes, gpu::StreamHandle stream) override;
    void check_stream(gpu::StreamHandle stream) const override;
    bool is_capturing(gpu::StreamHandle stream) const override;
    void start(const gpu::DeviceCall& call, gpu::StreamHandle stream) override;
    std::uint64_t run_word(gpu::WordCall call) override;
    gpu::StreamHandle make_stream() override;
    void finish(gpu::StreamHandle stream) override;
    void* pin(std::size_t bytes) override;
    void show_network_puts() override;
    void make_current() const override;
    bool reaches(const void* address) const override;
    bool is_on_gpu(const void* address) const override;

    /// Larger than the memory of any GPU; reserved addresses cost nothing.
    static constexpr std::size_t stride_bytes = std::size_t{1} << 40;
    struct Chunk {
        std::size_t offset;
        std::size_t bytes;
        std::vector<bool> mapped;  ///< by slot
    };
    char* slot(int i) const noexcept;
    void map(Chunk& chunk, int slot, CUmemGenericAllocationHandle memory);
    void unmap(const Chunk& chunk) noexcept;
    common::Fd export_memory(CUmemGenericAllocationHandle memory) const;
    CUmemGenericAllocationHandle import_memory(int slot, const common::Fd& memory) const;
    CUmemGenericAllocationHandle retained(const void* memory, std::size_t bytes) const;
    std::uint64_t physical_block(const char* address) const noexcept;
    void copy_on(const gpu::CopyCall& call, CUstream stream);
    bool in_window(const void* address) const noexcept;
    /// Waits for the copy that was enqueued last.
    void finish_copy(CUresult started, const char* doing, const void* dst, std::size_t bytes) const;
    CUmemGenericAllocationHandle create(std::size_t bytes) const;

    const Driver& driver_;
    CUdevice device_;
    gpu::DeviceFacts facts_;
    PrimaryContext context_;
    CUstream stream_ = nullptr;  ///< does not synchronize with any other stream
    CUdeviceptr window_ = 0;
    int n_slots_ = 0;
    int my_slot_ = 0;
    std::optional<Kernels> kernels_;
    /// The last stream that was found to belong to this GPU; the next call mostly has the same.
    mutable std::atomic<gpu::StreamHandle> known_stream_{nullptr};  // cache: saves a call of the driver
    std::mutex word_mutex_;
    std::uint64_t* word_ = nullptr;  ///< pinned: where a kernel leaves what an atomic found
    std::vector<Chunk> chunks_;
    std::vector<Chunk> views_;  ///< mappings of memory that existed already (views.cpp)
    std::mutex made_mutex_;     ///< guards the next three
    std::vector<CUstream> streams_;
    std::vector<void*> pinned_;
    std::vector<void*> shown_;
};

}  // namespace atl::cuda
