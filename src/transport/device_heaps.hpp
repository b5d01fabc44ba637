// DeviceHeaps: the role of a transport that reaches GPU memory of other PEs. DeviceOwner is a PE's own part.
#pragma once

#include "atoll/anywhere.hpp"
#include "atoll/types.hpp"
#include "transport/movement.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::transport {

/// A flag in an offset: the offset counts from the start of the PE's device heap.
inline constexpr std::uint64_t in_device_heap = std::uint64_t{1} << 63;

/// A PE's own device heap, on which a transport carries out operations of other PEs. Operations begin in
/// order. Their effects are visible to every PE after `settle`, or after a later call that returns a value.
/// Called by one thread at a time. Throws Error: system, kernel.
class DeviceOwner {
  public:
    /// The largest get.
    static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    /// The largest put.
    static constexpr std::size_t put_bytes = std::size_t{64} << 10;

    virtual ~DeviceOwner() = default;
    /// `src` may be reused on return.
    virtual void put(std::uint64_t offset, const void* src, std::size_t bytes) = 0;
    virtual void get(void* dst, std::uint64_t offset, std::size_t bytes) = 0;
    /// `src` and `dst` hold the blocks contiguously, at most put_bytes in all.
    virtual void put_blocks(std::uint64_t offset, const void* src, const Blocks& blocks) = 0;
    virtual void get_blocks(void* dst, std::uint64_t offset, const Blocks& blocks) = 0;
    /// Takes and returns the same as Atomics::atomic.
    virtual std::uint64_t atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                                 std::uint64_t compare) = 0;
    virtual void settle() = 0;
    /// Returns pinned host memory of piece_bytes, valid as long as this object.
    virtual char* pin_piece() = 0;

    // ---- for networks that read and write this memory themselves

    /// True if `show_network_puts` can make a network's writes visible to every PE.
    virtual bool admits_networks() const { return false; }
    virtual void show_network_puts() {}
    /// True if the host cannot load and store the memory.
    virtual bool is_gpu_memory() const { return true; }
    /// Makes the GPU current for the calling thread, for libraries that use the current GPU.
    virtual void make_current() const {}
};

/// Access to device heaps of other PEs. The default has no such access.
class DeviceHeaps {
  public:
    virtual ~DeviceHeaps() = default;
    /// True if offsets may be in_device_heap. Gets are then at most DeviceOwner::piece_bytes. Blocks longer
    /// than a message are moved one by one.
    virtual bool carries_device_heaps() const { return false; }
    /// Sets the owner of this PE's device heap, which from now on carries out operations of other PEs. Null
    /// removes it.
    virtual void serve_device_heap(DeviceOwner* owner) { static_cast<void>(owner); }
    /// Adds memory at `offset` to the served device heap of this PE. It is one allocation, valid until the
    /// owner is removed.
    virtual void add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes) {
        static_cast<void>(offset), static_cast<void>(memory), static_cast<void>(bytes);
    }
};

}  // namespace atl::transport
