// The device heap of a job: GPU memory of all PEs in one window of addresses, at a constant stride.
//   device_memory.cpp   opening it; blocks, streams of the library's own ("lanes"), addresses
//   device_growth.cpp   its physical memory: chunks on all GPUs alike, registered buffers
//   device_copies.cpp   put, get and copies between any two memories, for PEs in the window
//   device_strided.cpp  the same of strided arrays
//   device_groups.cpp   its memory for collectives on streams
//   device_far.cpp      operations on PEs that a transport reaches; the servers of streams and kernels
#pragma once

#include "atoll/export.hpp"
#include "atoll/job.hpp"
#include "common/fd_courier.hpp"
#include "core/gpu_sharing.hpp"
#include "core/host_memory.hpp"
#include "core/pinned_heap.hpp"
#include "heap/allocator.hpp"
#include "heap/device_heap.hpp"
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

namespace atl::core {

class DeviceServer;
class JobState;
class KernelWatch;
class StreamServer;
class TeamServer;
class TeamState;

/// How a PE comes by its part; what libatoll_cuda.so does, or a test in its place.
using OpenDevice = std::function<std::unique_ptr<heap::DeviceHeap>(const heap::DeviceChoice&)>;

void copy_on_host(const heap::StridedCall& copy);

struct LocalRange {
    const void* low;
    std::size_t bytes;
};
/// What a strided put's source, or a get's target, covers; its stride may have any sign.
LocalRange local_range(const heap::StridedCall& copy, bool is_put) noexcept;

class DeviceMemory {
  public:
    /// Collective over the world: every PE opens its GPU. Takes no GPU memory but `control_bytes` of zeroes
    /// at the start of every slot, for kernels (see kernel_control.hpp). Throws on all PEs alike.
    DeviceMemory(JobState& job, const OpenDevice& open, std::size_t control_bytes = 0);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    // ---- collective, called alike on all PEs
    void* allocate(std::size_t bytes, std::size_t align, std::uint64_t serial);
    void free(void* block);
    /// Keeps the contents up to the smaller size.
    void* reallocate(void* block, std::size_t bytes);
    /// True if `serial` is one of this heap's blocks, which is then free.
    bool reclaim(std::uint64_t serial);
    /// What PEs' GPUs hold already, at one more place: symmetric. Freed like a block, which leaves the memory
    /// itself alone.
    void* register_buffer(const void* memory, std::size_t bytes, std::uint64_t serial);
    /// The whole allocations that memory lies in, each PE's own.
    heap::DeviceRange enclosing(const void* memory, std::size_t bytes) const;
    /// Frees all blocks and views but the library's own, and gives the chunks that they took back.
    void reset();
    /// Throws on all PEs alike if one could not.
    void fill_on_all(void* dst, unsigned char value, std::size_t bytes) const;

    // ---- local
    /// Who has this PE's GPU.
    const GpuSharing& sharing() const noexcept { return sharing_; }
    /// Where an address stands in this PE's slot; SIZE_MAX if it does not.
    std::size_t offset_of(const void* address) const noexcept;
    bool holds(const void* address) const noexcept { return offset_of(address) != SIZE_MAX; }
    ATOLL_API bool in_window(const void* address) const noexcept;
    bool is_allocated(const void* address, std::size_t bytes) const;
    /// Throws Error: not_symmetric, use_after_free, unless the range lies in one block.
    void check(const void* address, std::size_t bytes) const;
    /// The offset of a block that starts at `block`. Throws like `check`.
    std::size_t checked_block(const void* block, const char* operation) const;
    /// What waits in kernels look at, as they address it; null if there is no place for control blocks.
    const device::Watch* watch() const noexcept { return seen_watch_; }
    /// As Job::check_kernels.
    void check_kernels() const;
    /// As Job::note_kernel.
    void note_kernel(std::string_view name, unsigned blocks, unsigned threads) const;
    char* slot(int i) const noexcept { return heap_->slot(i); }
    char* mine() const noexcept { return heap_->slot(slot_of(me_)); }
    std::size_t stride() const noexcept { return heap_->stride(); }
    /// The same place in a PE's slot: an address for kernels; null where the window does not reach.
    void* at(const void* local, int pe) const noexcept;
    /// `local` is memory of any kind. Complete, and visible to everybody, on return.
    void put(void* dst, const void* local, std::size_t bytes, int pe) const;
    void get(void* local, const void* src, std::size_t bytes, int pe) const;
    /// Strides and sizes in bytes; `dst` (is_put) or `src` is symmetric, and the other memory of any kind.
    void strided(const heap::StridedCall& copy, int pe, bool is_put) const;
    void fill(void* dst, unsigned char value, std::size_t bytes) const;
    /// Between any two memories that this PE has.
    void copy(void* dst, const void* src, std::size_t bytes) const;
    /// The address is of some GPU's memory, which the host cannot load and store: the device heap's, or any
    /// other.
    bool is_on_gpu(const void* address) const;
    // As `copy`, where one side is memory of the host that others may look at: words come whole.
    void copy_to_host(void* dst, const void* src, std::size_t bytes) const;
    void copy_from_host(void* dst, const void* src, std::size_t bytes) const;
    /// As `strided`, between memory of a GPU and the host heap of any PE in the window.
    void strided_with_host(const heap::StridedCall& copy, bool from_gpu) const;
    /// On this PE's GPU; returns what stood there before.
    std::uint64_t atomic(AtomicOp op, DType type, void* dst, std::uint64_t value, std::uint64_t compare,
                         int pe) const;
    /// What a team's calls that return when they are done go by: no other team's wait for them.
    struct Lane {
        heap::StreamHandle stream = nullptr;
        char* pinned = nullptr;  ///< lane_pinned_bytes, once they are needed
    };
    static constexpr std::size_t lane_pinned_bytes = std::size_t{1} << 20;
    /// A PE whose device heap a transport reaches.
    struct Far {
        transport::Transport& transport;
        transport::ContextId context;
        int pe;
        const Lane* lane = nullptr;  ///< the caller's own, which is pinned
    };
    /// Operations on the host go to this world PE's device heap by the transport, not by the window.
    bool is_far(int pe) const noexcept { return pe != me_ && (by_transport_ || slot_of(pe) < 0); }
    /// Where an address of this PE's slot stands on a far PE.
    std::uint64_t far_offset(const void* symmetric) const noexcept;
    /// `src` is free on return, memory of any kind; `signal` comes after the data. `offset` may be in the
    /// host heap.
    void put_far(const Far& far, std::uint64_t offset, const void* src, std::size_t bytes,
                 const transport::Signal* signal = nullptr) const;
    void get_far(const Far& far, void* dst, std::uint64_t offset, std::size_t bytes) const;
    std::uint64_t atomic_far(const Far& far, AtomicOp op, DType type, const void* dst, std::uint64_t value,
                             std::uint64_t compare) const;
    /// As `strided`; `offset` as put_far's.
    void strided_far(const Far& far, const heap::StridedCall& copy, std::uint64_t offset, bool is_put) const;
    /// What carries out operations on streams for far PEs. Made by the first that asks.
    StreamServer& stream_server() const;
    /// What carries out the collectives and messages on streams of a team with far PEs, which has a place for
    /// kernels. Made by the team's first; not while a stream is captured. Throws Error(unsupported).
    TeamServer& team_server(TeamState& team) const;
    /// The team ends, and nobody has work of it on streams.
    void end_streams_of(const TeamState& team) const;
    /// What kernels that have ended asked of far PEs is complete.
    void quiet_kernels() const;
    /// Nobody has streams any more.
    void end_streams() noexcept;
    // As heap::DeviceHeap's: in the order of a stream, or complete on return.
    void check_stream(heap::StreamHandle stream) const { heap_->check_stream(stream); }
    void start(const heap::DeviceCall& call, heap::StreamHandle stream) const { heap_->start(call, stream); }
    void finish(heap::StreamHandle stream) const;
    bool is_capturing(heap::StreamHandle stream) const { return heap_->is_capturing(stream); }
    void check_local(const void* address) const { heap_->check_local(address); }
    /// Kernels do, the whole range. Throws Error(invalid_argument) for memory of another GPU.
    ATOLL_API bool reaches(const void* address, std::size_t bytes) const;
    /// Of the host heap, what streams use must be pinned. Throws Error(invalid_argument).
    void check_pinned(const void* address, std::size_t bytes) const;
    PinnedHeap& pinned() const { return *pinned_; }
    Lane take_lane(bool pinned = false) const;
    void give_lane_back(const Lane& lane) const;
    void pin(Lane& lane) const;
    Lane take_pinned_lane() const;
    /// A team's memory for collectives on streams, in this PE's slot. Throws Error(unsupported).
    struct GroupPlace {
        char* address;
        unsigned words_bytes;
        char* messages;
        std::size_t bytes;
    };
    GroupPlace group_place(const TeamState& team) const;
    /// Zero again, once no member uses it any more.
    void clear_group_place(const TeamState& team) const;
    Job::DeviceHeapUse use() const;
    /// Words that count the tickets of teams' servers, two a kernel place.
    static constexpr std::size_t team_tickets_bytes = 64 * 2 * sizeof(std::uint64_t);

    /// Collective over the world, once: memory for collectives on streams, zeroed.
    void reserve_group_memory();

  private:
    /// Of a world PE in the window; -1: another domain's.
    int slot_of(int pe) const noexcept;
    void serve_others();
    void strided_here(const heap::StridedCall& copy) const;
    void grow_to(std::size_t end);
    bool extend(std::size_t bytes, bool last_try);
    void send_chunk(const common::Fd& chunk);
    void map_chunks(const std::function<void(const common::FdCourier::Parcel&)>& map);
    void settle(const std::string& what, const std::exception_ptr& mine) const;
    int first_failed(const std::exception_ptr& mine, ErrorCode& code) const;
    void forget(std::size_t offset);
    void share_part(std::size_t offset, const char* memory, std::size_t bytes);
    void unmap_parts(std::size_t offset) noexcept;
    /// Views stand in the last quarter of a slot, blocks before it.
    std::size_t views_offset() const noexcept { return heap_->stride() / 4 * 3; }
    std::size_t views_bytes() const noexcept { return heap_->stride() - views_offset(); }
    bool is_view(std::size_t offset) const noexcept { return offset >= views_offset(); }
    heap::Allocator& allocator_of(std::size_t& offset) const;

    void open_control();
    void share_gpu(const std::vector<GpuUse>& uses, const std::vector<unsigned>& resident_blocks);

    JobState& job_;
    const int me_;
    bool by_transport_ = false;  ///< ATOLL_TRANSPORT is forced: what goes to other PEs goes by it
    std::size_t control_bytes_;
    std::unique_ptr<KernelWatch> watch_;  // before the heap, which has its pages pinned
    const device::Watch* seen_watch_ = nullptr;
    std::unique_ptr<heap::DeviceHeap> heap_;
    GpuSharing sharing_;
    std::optional<SharedGpu> shared_gpu_;
    std::unique_ptr<PinnedHeap> pinned_;
    HostMemory host_;
    std::unique_ptr<DeviceServer> server_;
    std::optional<common::FdCourier> courier_;
    std::vector<common::FdCourier::Address> couriers_;  // by PE
    std::vector<common::FdCourier::Parcel> arrived_;
    std::size_t group_offset_ = SIZE_MAX;
    std::size_t group_bytes_ = 0;  ///< its end counts the tickets of teams' servers and of stream_server()
    std::uint64_t chunks_ = 0;     ///< tried so far: what a descriptor belongs to
    std::size_t taken_bytes_ = 0;  ///< how far slots are filled with physical memory
    std::vector<std::size_t> chunk_bytes_;
    std::size_t own_chunks_ = 0;  ///< of the first chunks: the library's

    mutable std::mutex mutex_;  // of what follows
    std::unique_ptr<heap::Allocator> blocks_;
    std::unique_ptr<heap::Allocator> views_;
    std::map<std::size_t, std::uint64_t> serial_of_;  // offset → serial
    std::map<std::uint64_t, std::size_t> offset_of_serial_;
    std::map<std::size_t, std::vector<std::size_t>> view_parts_;  // offset of a view → offsets of its parts
    mutable std::vector<Lane> free_lanes_;
    mutable std::mutex stream_server_mutex_;
    mutable std::unique_ptr<StreamServer> stream_server_;
    mutable std::vector<std::unique_ptr<TeamServer>> team_servers_;  ///< by kernel place
};

}  // namespace atl::core
