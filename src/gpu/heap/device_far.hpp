// DeviceFar: operations on device heaps that only a transport reaches.
#pragma once

#include "atoll/types.hpp"
#include "gpu/gpu.hpp"
#include "gpu/heap/lanes.hpp"
#include "gpu/job_view.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::gpu {

class DeviceMemory;

/// A PE whose device heap only a transport reaches.
struct Far {
    transport::Transport& transport;
    transport::ContextId context;
    int pe;
    const Lane* lane = nullptr;  ///< the caller's own, already pinned
};

/// Memory on this PE's own GPU is staged in pinned memory. All calls are local.
class DeviceFar {
  public:
    /// `by_transport`: ATOLL_TRANSPORT is forced, so operations to all other PEs use it.
    DeviceFar(const DeviceMemory& device, Gpu& gpu, const JobFacts& job, bool by_transport)
        : device_(device), gpu_(gpu), job_(job), by_transport_(by_transport) {}

    /// True if host operations reach this world PE's device heap through the transport, not the window.
    bool has(int pe) const noexcept;
    /// Offset on a far PE of an address in this PE's slot.
    std::uint64_t offset(const void* symmetric) const noexcept;
    /// `src` is memory of any kind and reusable on return; `signal` follows the data. `offset` may be in the
    /// host heap.
    void put(const Far& far, std::uint64_t offset, const void* src, std::size_t bytes,
             const transport::Signal* signal = nullptr) const;
    void get(const Far& far, void* dst, std::uint64_t offset, std::size_t bytes) const;
    std::uint64_t atomic(const Far& far, AtomicOp op, DType type, const void* dst, std::uint64_t value,
                         std::uint64_t compare) const;
    /// Like DeviceCopies::strided; `offset` as in put.
    void strided(const Far& far, const StridedCall& copy, std::uint64_t offset, bool is_put) const;

  private:
    const DeviceMemory& device_;
    Gpu& gpu_;
    const JobFacts& job_;
    const bool by_transport_;
};

}  // namespace atl::gpu
