// DeviceMemory: the device heap of a job. GPU memory of all PEs in one window, at a constant stride.
// `device_memory.cpp`: opening; blocks, the library's streams ("lanes"), addresses.
// `device_growth.cpp`: physical memory: chunks on all GPUs, registered buffers.
// `device_copies.cpp`: put, get and copies between any two memories, for PEs in the window.
// `device_strided.cpp`: the same for strided arrays.
// `device_groups.cpp`: memory for collectives on streams.
// `device_far.cpp`: operations on PEs that a transport reaches.
#pragma once

#include "atoll/export.hpp"
#include "atoll/job.hpp"
#include "common/descriptors/fd_courier.hpp"
#include "gpu/gpu.hpp"
#include "gpu/gpu_sharing.hpp"
#include "gpu/heap/group_pages.hpp"
#include "gpu/host_memory.hpp"
#include "gpu/job_view.hpp"
#include "gpu/pinned_heap.hpp"
#include "memory/allocator.hpp"
#include "transport/transport.hpp"

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
class KernelWatch;

/// Opens a GPU and its part of the device heap: libatoll_cuda.so, or a test in its place.
using OpenDevice = std::function<std::unique_ptr<Gpu>(const DeviceChoice&)>;

void copy_on_host(const StridedCall& copy);

struct LocalRange {
    const void* low;
    std::size_t bytes;
};
/// The range of a strided put's source or get's target. Its stride may have any sign.
LocalRange local_range(const StridedCall& copy, bool is_put) noexcept;

class DeviceMemory {
  public:
    /// Collective over the world: every PE opens its GPU. Takes only `control_bytes` of zeroed GPU memory, at
    /// the start of every slot, for kernels (see kernel_control.hpp). An error is thrown on all PEs.
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
    /// Maps memory that the PEs' GPUs hold already as a symmetric view. Freed like a block, which keeps the
    /// memory itself.
    void* register_buffer(const void* memory, std::size_t bytes, std::uint64_t serial);
    /// The whole allocations that contain the memory, each PE's own.
    DeviceRange enclosing(const void* memory, std::size_t bytes) const;
    /// Frees all blocks and views except the library's own, and returns their chunks.
    void reset();
    /// Throws on all PEs if one failed.
    void fill_on_all(void* dst, unsigned char value, std::size_t bytes) const;

    // ---- local
    /// The PEs that share this PE's GPU.
    const GpuSharing& sharing() const noexcept { return sharing_; }
    /// Offset of an address in this PE's slot; SIZE_MAX if it lies outside.
    std::size_t offset_of(const void* address) const noexcept;
    bool holds(const void* address) const noexcept { return offset_of(address) != SIZE_MAX; }
    ATOLL_API bool in_window(const void* address) const noexcept;
    bool is_allocated(const void* address, std::size_t bytes) const;
    /// Throws Error: not_symmetric, use_after_free, unless the range lies in one block.
    void check(const void* address, std::size_t bytes) const;
    /// The offset of a block that starts at `block`. Throws like `check`.
    std::size_t checked_block(const void* block, const char* operation) const;
    /// The words that waiting kernels poll, at their address for kernels. Null if there is no room for
    /// control blocks.
    const device::Watch* watch() const noexcept { return seen_watch_; }
    /// Implements Job::check_kernels.
    void check_kernels() const;
    /// Implements Job::note_kernel.
    void note_kernel(std::string_view name, unsigned blocks, unsigned threads) const;
    char* slot(int i) const noexcept { return window_.slot(i); }
    char* mine() const noexcept { return window_.slot(slot_of(me_)); }
    std::size_t stride() const noexcept { return window_.stride; }
    /// The same offset in a PE's slot: an address for kernels. Null outside the window.
    void* at(const void* local, int pe) const noexcept;
    /// `local` is memory of any kind. Complete, and visible to every PE, on return.
    void put(void* dst, const void* local, std::size_t bytes, int pe) const;
    void get(void* local, const void* src, std::size_t bytes, int pe) const;
    /// Strides and sizes in bytes. `dst` (is_put) or `src` is symmetric; the other memory is of any kind.
    void strided(const StridedCall& copy, int pe, bool is_put) const;
    void fill(void* dst, unsigned char value, std::size_t bytes) const;
    /// Copies between any two memories of this PE.
    void copy(void* dst, const void* src, std::size_t bytes) const;
    /// True for memory of any GPU, in the device heap or not. The host cannot load and store it.
    bool is_on_gpu(const void* address) const;
    // Like `copy`, to or from host memory that others may read: words are not torn.
    void copy_to_host(void* dst, const void* src, std::size_t bytes) const;
    void copy_from_host(void* dst, const void* src, std::size_t bytes) const;
    /// Like `strided`, between memory of a GPU and the host heap of any PE in the window.
    void strided_with_host(const StridedCall& copy, bool from_gpu) const;
    /// Runs on this PE's GPU; returns the previous value.
    std::uint64_t atomic(AtomicOp op, DType type, void* dst, std::uint64_t value, std::uint64_t compare,
                         int pe) const;
    /// A stream for a team's blocking calls, so that they do not wait for another team's.
    struct Lane {
        StreamHandle stream = nullptr;
        char* pinned = nullptr;  ///< lane_pinned_bytes of memory, allocated when first needed
    };
    static constexpr std::size_t lane_pinned_bytes = std::size_t{1} << 20;
    /// A PE whose device heap only a transport reaches.
    struct Far {
        transport::Transport& transport;
        transport::ContextId context;
        int pe;
        const Lane* lane = nullptr;  ///< the caller's own, already pinned
    };
    /// True if host operations reach this world PE's device heap through the transport, not the window.
    bool is_far(int pe) const noexcept { return pe != me_ && (by_transport_ || slot_of(pe) < 0); }
    /// Offset on a far PE of an address in this PE's slot.
    std::uint64_t far_offset(const void* symmetric) const noexcept;
    /// `src` is memory of any kind and reusable on return; `signal` follows the data. `offset` may be in the
    /// host heap.
    void put_far(const Far& far, std::uint64_t offset, const void* src, std::size_t bytes,
                 const transport::Signal* signal = nullptr) const;
    void get_far(const Far& far, void* dst, std::uint64_t offset, std::size_t bytes) const;
    std::uint64_t atomic_far(const Far& far, AtomicOp op, DType type, const void* dst, std::uint64_t value,
                             std::uint64_t compare) const;
    /// Like `strided`; `offset` as in put_far.
    void strided_far(const Far& far, const StridedCall& copy, std::uint64_t offset, bool is_put) const;
    /// Pinned memory of the host for requests to far PEs.
    void* pin(std::size_t bytes) const { return gpu_->pinning().pin(bytes); }
    /// Two words in this GPU's memory for the requests of a team with this kernel place; zero at first.
    unsigned long long* team_tickets(int kernel_place) const noexcept;
    /// The word for the requests of single operations; zero at first.
    unsigned long long* tickets() const noexcept;
    // The calls of GpuExecutor: in stream order, or complete on return.
    void check_stream(StreamHandle stream) const { gpu_->executor().check_stream(stream); }
    void start(const DeviceCall& call, StreamHandle stream) const { gpu_->executor().start(call, stream); }
    void finish(StreamHandle stream) const;
    bool is_capturing(StreamHandle stream) const { return gpu_->executor().is_capturing(stream); }
    void check_local(const void* address) const { gpu_->pinning().check_local(address); }
    /// True if kernels can access the whole range. Throws Error(invalid_argument) for memory of another GPU.
    ATOLL_API bool reaches(const void* address, std::size_t bytes) const;
    /// Checks that memory of the host heap for streams is pinned. Throws Error(invalid_argument).
    void check_pinned(const void* address, std::size_t bytes) const;
    PinnedHeap& pinned() const { return *pinned_; }
    Lane take_lane(bool pinned = false) const;
    void give_lane_back(const Lane& lane) const;
    void pin(Lane& lane) const;
    Lane take_pinned_lane() const;
    /// A team's memory for collectives on streams, in this PE's slot.
    struct GroupPlace {
        char* address;
        unsigned words_bytes;
        char* messages;
        std::size_t bytes;
    };
    /// The memory of the world team.
    GroupPlace world_place() const noexcept;
    /// The memory of another team, which has these pages.
    GroupPlace group_place(int n_pes, const GroupPages& pages) const noexcept;
    Job::DeviceHeapUse use() const;
    /// Words that count the tickets of teams' servers: two for each kernel place.
    static constexpr std::size_t team_tickets_bytes = 64 * 2 * sizeof(std::uint64_t);

    /// Allocates zeroed memory for collectives on streams. Collective over the world, once.
    void reserve_group_memory();

  private:
    /// Slot of a world PE in the window; -1 for another domain's.
    int slot_of(int pe) const noexcept;
    void serve_others();
    void strided_here(const StridedCall& copy) const;
    void grow_to(std::size_t end);
    bool extend(std::size_t bytes, bool last_try);
    void send_chunk(const common::Fd& chunk);
    void map_chunks(const std::function<void(const common::FdCourier::Parcel&)>& map);
    void settle(const std::string& what, const std::exception_ptr& mine) const;
    int first_failed(const std::exception_ptr& mine, ErrorCode& code) const;
    void forget(std::size_t offset);
    void share_part(std::size_t offset, const char* memory, std::size_t bytes);
    void unmap_parts(std::size_t offset) noexcept;
    /// Views use the last quarter of a slot, blocks the rest.
    std::size_t views_offset() const noexcept { return window_.stride / 4 * 3; }
    std::size_t views_bytes() const noexcept { return window_.stride - views_offset(); }
    bool is_view(std::size_t offset) const noexcept { return offset >= views_offset(); }
    memory::Allocator& allocator_of(std::size_t& offset) const;

    void open_control();
    void share_gpu(const std::vector<GpuUse>& uses, const std::vector<unsigned>& resident_blocks);

    JobView& view_;
    const JobFacts& job_;
    const int me_;
    bool by_transport_ = false;  ///< ATOLL_TRANSPORT is forced: operations to other PEs use it
    std::size_t control_bytes_;
    std::unique_ptr<KernelWatch> watch_;  // before the heap, which pins its pages
    const device::Watch* seen_watch_ = nullptr;
    std::unique_ptr<Gpu> gpu_;
    DeviceWindow window_;
    GpuSharing sharing_;
    std::optional<SharedGpu> shared_gpu_;
    std::unique_ptr<PinnedHeap> pinned_;
    HostMemory host_;
    std::unique_ptr<DeviceServer> server_;
    std::optional<common::FdCourier> courier_;
    std::vector<common::FdCourier::Address> couriers_;  // by PE
    std::vector<common::FdCourier::Parcel> arrived_;
    std::size_t group_offset_ = SIZE_MAX;
    std::size_t group_bytes_ = 0;  ///< ends with team_tickets() and tickets()
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
    mutable std::vector<Lane> free_lanes_;  // cache: a stream takes longer to make than a copy
};

}  // namespace atl::gpu
