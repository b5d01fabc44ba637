// LocalMemory: the kinds of this PE's addresses, and pinned memory of the host.
#pragma once

#include "atoll/export.hpp"
#include "gpu/gpu.hpp"
#include "gpu/host_memory.hpp"
#include "gpu/pinned_heap.hpp"

#include <cstddef>

namespace atl::gpu {

class DeviceMemory;

/// Any memory of this PE: of the device heap, of another allocator of GPUs, or of the host. All calls are
/// local.
class LocalMemory {
  public:
    LocalMemory(const DeviceMemory& device, Gpu& gpu, PinnedHeap& pinned)
        : device_(device), gpu_(gpu), pinned_(pinned) {}

    /// True for memory of any GPU, in the device heap or not. The host cannot load and store it.
    bool is_on_gpu(const void* address) const;
    /// True if kernels can access the whole range. Throws Error(invalid_argument) for memory of another GPU.
    ATOLL_API bool reaches(const void* address, std::size_t bytes) const;
    /// Throws Error(invalid_argument) for ordinary host memory: it would stop the host, or the kernel.
    void check_reached(const void* address) const { gpu_.pinning().check_local(address); }
    /// Checks that memory of the host heap for streams is pinned. Throws Error(invalid_argument).
    void check_pinned(const void* address, std::size_t bytes) const;
    /// The pinned parts of the host heap.
    PinnedHeap& pinned() const { return pinned_; }
    /// Allocates pinned memory of the host, for requests to far PEs.
    void* pin(std::size_t bytes) const { return gpu_.pinning().pin(bytes); }

  private:
    const DeviceMemory& device_;
    Gpu& gpu_;
    PinnedHeap& pinned_;
    HostMemory host_;
};

}  // namespace atl::gpu
