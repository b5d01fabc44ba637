// GpuPinning: memory that a GPU and others share: pinned memory of the host, and its own for networks.
#pragma once

#include "atoll/error.hpp"
#include "common/text.hpp"

#include <cstddef>

namespace atl::gpu {

/// Throws Error: unsupported, out_of_memory, system.
class GpuPinning {
  public:
    virtual ~GpuPinning() = default;
    /// Allocates host memory that kernels can access, for the lifetime of this object.
    virtual void* pin(std::size_t bytes) = 0;
    /// Maps whole pages of the host on this GPU, for the lifetime of this object. Returns their address for
    /// kernels.
    virtual void* show(void* pages, std::size_t bytes) = 0;
    /// Undoes `show`. May wait for kernels.
    virtual void hide(void* pages) noexcept = 0;
    /// False for ordinary memory of the host. Throws Error(invalid_argument) for memory of another GPU.
    virtual bool reaches(const void* address) const = 0;
    /// True for memory of this or another GPU that the host cannot load and store.
    virtual bool is_on_gpu(const void* address) const = 0;
    /// Makes earlier writes of networks to this memory visible to every PE.
    virtual void show_network_puts() {}
    /// Makes this GPU the calling thread's current one, for libraries that use that.
    virtual void make_current() const {}

    /// Throws Error(invalid_argument) for ordinary host memory: it would stop the host, or the kernel.
    void check_local(const void* address) const {
        if (!reaches(address))
            throw Error(
                ErrorCode::invalid_argument,
                "Operations on a stream need local memory that the GPU reaches by itself: the device heap, "
                "cudaMalloc, or pinned host memory (cudaMallocHost, Job::pin). " +
                    common::address_text(address) + " is other memory.");
    }
};

}  // namespace atl::gpu
