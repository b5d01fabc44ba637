// PrimaryContext: a GPU's context. CudaDevice: the GPU, as the parts of CudaGpu share it.
#pragma once

#include "gpu/cuda/driver.hpp"
#include "gpu/gpu.hpp"

namespace atl::cuda {

/// A GPU's primary context, which CUDA's runtime, PyTorch and CuPy use too.
///
/// A thread that has no context yet keeps this one as its current context. CUDA's runtime would choose GPU 0,
/// whose kernels cannot access memory of the heap on another GPU.
class PrimaryContext {
  public:
    PrimaryContext(const Driver& driver, CUdevice device);
    ~PrimaryContext();
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

    /// The same for destructors. Errors are ignored: at the end of a process the driver may already be
    /// unloaded.
    class Ending {
      public:
        explicit Ending(const PrimaryContext& context) noexcept;
        ~Ending();
        Ending(const Ending&) = delete;
        Ending& operator=(const Ending&) = delete;

      private:
        const Driver& driver_;
        bool pushed_;
    };

  private:
    const Driver& driver_;
    CUdevice device_;
    CUcontext context_ = nullptr;
    bool is_kept_ = false;  ///< by the thread that constructed it
};

struct CudaDevice {
    explicit CudaDevice(const gpu::DeviceChoice& choice);
    /// See Gpu::check_peer.
    void check_peer(const gpu::DeviceUuid& peer) const;

    const Driver& driver;
    const CUdevice number;
    gpu::DeviceFacts facts;
    const PrimaryContext context;
};

}  // namespace atl::cuda
