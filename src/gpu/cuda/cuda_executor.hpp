// CudaExecutor: copies and kernels of a GPU, complete on return or in stream order.
#pragma once

#include "gpu/cuda/cuda_pinning.hpp"
#include "gpu/cuda/kernels.hpp"
#include "gpu/cuda/primary_context.hpp"
#include "gpu/gpu_executor.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

namespace atl::cuda {

class CudaExecutor final : public gpu::GpuExecutor {
  public:
    /// Loads the kernels, and completes the facts of the GPU. `pinning` checks the memory of later calls.
    CudaExecutor(CudaDevice& device, const CudaPinning& pinning);
    ~CudaExecutor() override;
    CudaExecutor(const CudaExecutor&) = delete;
    CudaExecutor& operator=(const CudaExecutor&) = delete;

    void limit_blocks(unsigned blocks) override { kernels_->limit_blocks(blocks); }
    void copy(void* dst, const void* src, std::size_t bytes) override;
    void fill(void* dst, unsigned char value, std::size_t bytes) override;
    std::uint64_t run_word(gpu::WordCall call) override;
    /// See Gpu::clock_ns.
    std::uint64_t clock_ns();
    gpu::StreamHandle make_stream() override;
    void check_stream(gpu::StreamHandle stream) const override;
    bool is_capturing(gpu::StreamHandle stream) const override;
    void start(const gpu::DeviceCall& call, gpu::StreamHandle stream) override;
    void begin_copy(void* dst, const void* src, std::size_t bytes, gpu::StreamHandle stream) override;
    void finish(gpu::StreamHandle stream) override;

  private:
    void copy_on(const gpu::CopyCall& call, CUstream stream);
    /// Waits for the copy that was enqueued last.
    void finish_copy(CUresult started, const char* doing, const void* dst, std::size_t bytes) const;

    const CudaDevice& device_;
    const CudaPinning& pinning_;
    std::mutex streams_mutex_;  // guards the next one
    std::vector<CUstream> streams_;
    CUstream stream_ = nullptr;  ///< does not synchronize with any other stream
    std::optional<Kernels> kernels_;
    /// The last stream that was found to belong to this GPU; the next call mostly has the same.
    mutable std::atomic<gpu::StreamHandle> known_stream_{nullptr};  // cache: saves a call of the driver
    std::mutex word_mutex_;
    std::uint64_t* word_ = nullptr;  ///< pinned memory for the result of an atomic, or the GPU's time
};

}  // namespace atl::cuda
