// DeviceCopies: copies between memory of GPUs and of the host, for PEs in the window.
#pragma once

#include "atoll/types.hpp"
#include "gpu/gpu.hpp"
#include "gpu/pinned_heap.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::gpu {

class DeviceMemory;

void copy_on_host(const StridedCall& copy);

struct LocalRange {
    const void* low;
    std::size_t bytes;
};
/// The range of a strided put's source or get's target. Its stride may have any sign.
LocalRange local_range(const StridedCall& copy, bool is_put) noexcept;

/// All calls are local. They are complete, and visible to every PE, on return.
class DeviceCopies {
  public:
    DeviceCopies(const DeviceMemory& device, Gpu& gpu, const PinnedHeap& pinned)
        : device_(device), gpu_(gpu), pinned_(pinned) {}

    /// `local` is memory of any kind.
    void put(void* dst, const void* local, std::size_t bytes, int pe) const;
    void get(void* local, const void* src, std::size_t bytes, int pe) const;
    /// Strides and sizes in bytes. `dst` (is_put) or `src` is symmetric; the other memory is of any kind.
    void strided(const StridedCall& copy, int pe, bool is_put) const;
    /// Like `strided`, between memory of a GPU and the host heap of any PE in the window.
    void strided_with_host(const StridedCall& copy, bool from_gpu) const;
    /// Like `strided`, between memories that kernels of this GPU reach.
    void strided_here(const StridedCall& copy) const;
    void fill(void* dst, unsigned char value, std::size_t bytes) const;
    /// Copies between any two memories of this PE.
    void copy(void* dst, const void* src, std::size_t bytes) const;
    // Like `copy`, to or from host memory that others may read: words are not torn.
    void copy_to_host(void* dst, const void* src, std::size_t bytes) const;
    void copy_from_host(void* dst, const void* src, std::size_t bytes) const;
    /// Runs on this PE's GPU; returns the previous value.
    std::uint64_t atomic(AtomicOp op, DType type, void* dst, std::uint64_t value, std::uint64_t compare,
                         int pe) const;

  private:
    const DeviceMemory& device_;
    Gpu& gpu_;
    const PinnedHeap& pinned_;
};

}  // namespace atl::gpu
