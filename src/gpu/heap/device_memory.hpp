// DeviceMemory: the device heap of a job. GPU memory of all PEs in one window, at a constant stride.
// `device_memory.cpp`: opening, blocks, addresses.
// `device_growth.cpp`: physical memory: chunks on all GPUs, registered buffers.
// Its parts are classes of their own: DeviceCopies, DeviceFar, LocalMemory, DeviceStreams, TeamRanges, Lanes.
#pragma once

#include "atoll/export.hpp"
#include "atoll/job_values.hpp"
#include "common/descriptors/fd_channel.hpp"
#include "gpu/gpu.hpp"
#include "gpu/gpu_sharing.hpp"
#include "gpu/heap/device_copies.hpp"
#include "gpu/heap/device_far.hpp"
#include "gpu/heap/device_streams.hpp"
#include "gpu/heap/lanes.hpp"
#include "gpu/heap/local_memory.hpp"
#include "gpu/heap/team_ranges.hpp"
#include "gpu/job_view.hpp"
#include "gpu/pinned_heap.hpp"
#include "memory/allocator.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace atl::device {
struct Watch;
}

namespace atl::gpu {

class DeviceServer;

/// Opens a GPU and its part of the device heap: libatoll_cuda.so, or a test in its place.
using OpenDevice = std::function<std::unique_ptr<Gpu>(const DeviceChoice&)>;

class DeviceMemory {
  public:
    /// Collective over the world: every PE opens its GPU. Takes only `control_bytes` of zeroed GPU memory, at
    /// the start of every slot, for kernels (see src/stream/kernels). An error is thrown on all PEs.
    DeviceMemory(JobView& job, const OpenDevice& open, std::size_t control_bytes = 0);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    // ---- collective: the same calls on all PEs
    void* allocate(std::size_t bytes, std::size_t align, std::uint64_t serial);
    void free(void* block);
    /// Resizes a block, and keeps its contents up to the smaller size.
    void* reallocate(void* block, std::size_t bytes);
    /// True if `serial` is one of this heap's blocks, which is then freed.
    bool reclaim(std::uint64_t serial);
    /// Registers existing memory of the PEs' GPUs as symmetric. Freeing the block unmaps it and keeps the
    /// memory.
    void* register_buffer(const void* memory, std::size_t bytes, std::uint64_t serial);
    /// The whole allocations that contain the memory, each PE's own.
    DeviceRange enclosing(const void* memory, std::size_t bytes) const;
    /// Frees all blocks and views except the library's own, and returns their chunks.
    void reset();
    /// Throws on all PEs if one failed.
    void fill_on_all(void* dst, unsigned char value, std::size_t bytes) const;
    /// Allocates zeroed memory for collectives on streams, once.
    void reserve_group_memory();

    // ---- local: addresses
    /// Offset of an address in this PE's slot; SIZE_MAX if it lies outside.
    ATOLL_API std::size_t offset_of(const void* address) const noexcept;
    bool holds(const void* address) const noexcept { return offset_of(address) != SIZE_MAX; }
    ATOLL_API bool in_window(const void* address) const noexcept;
    bool is_allocated(const void* address, std::size_t bytes) const;
    /// Throws Error: not_symmetric, use_after_free, unless the range lies in one block.
    void check(const void* address, std::size_t bytes) const;
    /// The offset of a block that starts at `block`. Throws like `check`.
    std::size_t checked_block(const void* block, const char* operation) const;
    const DeviceWindow& window() const noexcept { return window_; }
    char* mine() const noexcept { return window_.slot(slot_of(me_).number()); }
    /// The same offset in a PE's slot: an address for kernels. Null outside the window.
    ATOLL_API void* at(const void* local, int pe) const noexcept;
    DeviceHeapUse use() const;

    // ---- local: parts
    const DeviceCopies& copies() const noexcept { return *copies_; }
    const DeviceFar& far() const noexcept { return *far_; }
    const LocalMemory& local() const noexcept { return *local_; }
    const DeviceStreams& streams() const noexcept { return *streams_; }
    const TeamRanges& team_ranges() const noexcept { return team_ranges_; }
    Lanes& lanes() const noexcept { return *lanes_; }

  private:
    /// Slot of a world PE in the window; none for another domain's.
    detail::Slot slot_of(int pe) const noexcept;
    void serve_others();
    void grow_to(std::size_t end);
    bool extend(std::size_t bytes, bool last_try);
    void send_chunk(const common::Fd& chunk);
    void map_chunks(const std::function<void(const common::FdChannel::Received&)>& map);
    void settle(const std::string& what, const std::exception_ptr& mine) const;
    int first_failed(const std::exception_ptr& mine, ErrorCode& code) const;
    void forget(std::size_t offset);
    void share_part(std::size_t offset, const char* memory, std::size_t bytes);
    void unmap_parts(std::size_t offset) noexcept;
    /// Views use the second half of a slot, blocks the first.
    std::size_t views_offset() const noexcept { return window_.stride / 2; }
    std::size_t views_bytes() const noexcept { return window_.stride - views_offset(); }
    bool is_view(std::size_t offset) const noexcept { return offset >= views_offset(); }
    memory::Allocator& allocator_of(std::size_t& offset) const;

    void open_control();
    void open_trace();
    void share_gpu(const std::vector<GpuUse>& uses, const std::vector<unsigned>& resident_blocks);

    JobView& view_;
    const JobFacts& job_;
    const int me_;
    std::size_t control_bytes_;
    std::unique_ptr<KernelWatch> watch_;  // before the heap, which pins its pages
    const device::Watch* seen_watch_ = nullptr;
    std::unique_ptr<Gpu> gpu_;
    DeviceWindow window_;
    GpuSharing sharing_;
    std::optional<SharedGpu> shared_gpu_;
    std::unique_ptr<PinnedHeap> pinned_;
    std::unique_ptr<Lanes> lanes_;
    std::unique_ptr<LocalMemory> local_;
    std::unique_ptr<DeviceCopies> copies_;
    std::unique_ptr<DeviceFar> far_;
    std::unique_ptr<KernelTrace> trace_;
    std::unique_ptr<DeviceStreams> streams_;
    TeamRanges team_ranges_;
    std::unique_ptr<DeviceServer> server_;
    std::optional<common::FdChannel> fd_channel_;
    std::vector<common::FdChannel::Address> fd_channels_;  // by PE
    std::vector<common::FdChannel::Received> arrived_;
    std::size_t group_bytes_ = 0;  ///< size of the block of team_ranges_; 0: none yet
    std::uint64_t chunks_ = 0;     ///< number of chunks tried so far: the tag of descriptors
    std::size_t taken_bytes_ = 0;  ///< end of physical memory in each slot
    std::vector<std::size_t> chunk_bytes_;
    std::size_t own_chunks_ = 0;  ///< number of leading chunks that are the library's

    mutable std::mutex mutex_;  // guards the members below
    std::unique_ptr<memory::Allocator> blocks_;
    std::unique_ptr<memory::Allocator> views_;
    std::map<std::size_t, std::uint64_t> serial_of_;  // offset → serial
    std::map<std::uint64_t, std::size_t> offset_of_serial_;
    std::map<std::size_t, std::vector<std::size_t>> view_parts_;  // offset of a view → offsets of its parts
};

}  // namespace atl::gpu
