// GpuMemory: the window of all PEs' GPU memory, as one PE's GPU maps it.
#pragma once

#include "common/descriptors/fd.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace atl::gpu {

/// Identifies a GPU to every process, however each of them numbers its visible GPUs.
using DeviceUuid = std::array<unsigned char, 16>;

/// Alignment of slots.
inline constexpr std::size_t device_alignment = std::size_t{2} << 20;

struct DeviceRange {
    const char* begin = nullptr;
    std::size_t bytes = 0;
};

/// The stride of slots for GPUs of at most so much memory. Half is for the heap, and half for views of memory
/// that exists. Views may overlap, so they get 256 GiB at least. A process has 128 TiB of addresses, and each
/// of its groups reserves some.
inline constexpr std::size_t device_stride(std::size_t memory_bytes) {
    constexpr std::size_t gib = std::size_t{1} << 30, unit = 16 * gib;
    return std::max((memory_bytes + memory_bytes / 8 + unit - 1) / unit * unit, 256 * gib) * 2;
}

/// The reserved addresses of all PEs' GPU memory.
struct DeviceWindow {
    char* begin = nullptr;
    std::size_t stride = 0;  ///< distance between slots, which is also the capacity of a slot

    char* slot(int i) const noexcept { return begin + stride * static_cast<std::size_t>(i); }
};

/// A slot is filled from its start by chunks of physical memory, with the same sizes in the same order on all
/// PEs. All calls are local, and complete on return. Throws Error: unsupported, out_of_memory, system.
class GpuMemory {
  public:
    virtual ~GpuMemory() = default;
    /// Reserves addresses for all slots, without memory. `stride`: of the window; simulated GPUs have their
    /// own.
    virtual DeviceWindow reserve(int n_slots, int my_slot, std::size_t stride) = 0;
    /// Adds a chunk to this PE's slot; the result lets the others map it.
    virtual common::Fd extend(std::size_t bytes) = 0;
    /// Maps the last chunk of another PE's slot.
    virtual void map_peer(int slot, const common::Fd& chunk) = 0;
    /// Removes the last chunk, as far as it was mapped.
    virtual void withdraw() noexcept = 0;
    /// The adjacent allocations that contain a range, all of them whole. Throws Error(invalid_argument) for
    /// memory that `adopt` would not accept.
    virtual DeviceRange enclosing(const void* memory, std::size_t bytes) const {
        return {static_cast<const char*>(memory), bytes};
    }
    /// The sizes of the allocations of a range.
    virtual std::vector<std::size_t> parts(const void*, std::size_t bytes) const { return {bytes}; }
    /// Maps existing memory of this GPU, a whole allocation, also at `offset` of this PE's slot. By the
    /// returned descriptor other PEs can map it. Also throws Error(invalid_argument) for memory that cannot
    /// be shared.
    virtual common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) = 0;
    /// Maps memory that another PE adopted, in its slot.
    virtual void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& memory) = 0;
    /// Unmaps a view from all slots, as far as it was mapped.
    virtual void unmap_view(std::size_t offset) noexcept = 0;
    /// Maps memory by which another process extended its slot, at `offset` of a slot. It stays mapped.
    virtual void map_chunk(int slot, std::size_t offset, std::size_t bytes, const common::Fd& chunk) = 0;
};

}  // namespace atl::gpu
