// JobState: a job as seen by one of its PEs, with everything that the public objects share. The library has
// no global state below the fronts, so PEs can be threads of one process.
#pragma once

#include "atoll/detail/window.hpp"
#include "atoll/job.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hosts.hpp"
#include "common/settings/settings.hpp"
#include "core/job/allocation_sites.hpp"
#include "core/job/start_waits.hpp"
#include "core/job/stream_services.hpp"
#include "core/team/team_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/kernel_places.hpp"
#include "memory/allocator.hpp"
#include "memory/freed_pages.hpp"
#include "memory/mapping.hpp"
#include "memory/static_data.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace atl::core {

class WorldView;

/// Locks that this PE stopped waiting for while it was in their queues (see lock.cpp), as offsets in the
/// heap.
struct AbandonedLocks {
    std::mutex mutex;
    std::set<std::uint64_t> offsets;
    std::atomic<int> count{0};  ///< size of `offsets`: the mutex is not taken while it is 0
};

class JobState {
  public:
    /// Collective: finds the other PEs, maps the window, creates the world team.
    JobState(std::unique_ptr<bootstrap::Bootstrap> bootstrap, const common::Settings& settings,
             const UpperLayers& upper);
    /// Local: announces an exit without finalize, and does not wait.
    ~JobState();
    JobState(const JobState&) = delete;
    JobState& operator=(const JobState&) = delete;

    /// Collective.
    void finalize();
    /// Announces an exit without finalize. Local. Keeps all state for threads that are still within calls.
    void leave() noexcept;

    void enter_wait() noexcept { waiting_.fetch_add(1, std::memory_order_seq_cst); }
    void leave_wait() noexcept { waiting_.fetch_sub(1, std::memory_order_seq_cst); }
    /// True after finalize while threads of this PE still wait. They find is_over() and stop, and use this
    /// object until then.
    bool is_waited_in() const noexcept { return waiting_.load(std::memory_order_seq_cst) != 0; }
    bool is_over() const noexcept { return over_.load(std::memory_order_seq_cst); }
    StartWaits& start_waits() { return start_waits_; }
    /// PEs that share this one's job board and have not called init, or have only begun it.
    std::vector<int> not_started() const;

    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }
    int spins() const { return spins_; }
    /// Number of pauses in the time that a cache line takes between cores, at least 1.
    int pauses_of_a_line() const { return pauses_of_a_line_; }
    int usable_cpus() const { return usable_cpus_; }
    const common::Settings& settings() const { return settings_; }
    const AllocationSites& sites() const { return sites_; }
    const detail::Window& window() const { return window_; }
    const std::shared_ptr<memory::Mapping>& mapping() const { return mapping_; }
    const common::BoardView& board() const { return segment_.board; }
    bootstrap::Bootstrap& bootstrap() { return *bootstrap_; }
    transport::Transport* transport() { return transport_.get(); }
    const std::shared_ptr<transport::Transport>& shared_transport() const { return transport_; }
    const Team& world() const { return world_; }
    TeamState& world_state() const { return world_.state(); }
    // ---- routes between PEs (routes.cpp)
    const bootstrap::Hosts& hosts() const { return hosts_; }
    /// Domain of a PE. PEs of one domain load and store each other's memory.
    int domain_of(int pe) const { return hosts_.domain_of[static_cast<std::size_t>(pe)]; }
    /// Slot of a world PE's memory in the window; -1 for PEs of other domains.
    int host_slot(int pe) const { return slots_[static_cast<std::size_t>(pe)]; }
    const std::vector<int>& slots() const { return slots_; }
    /// Slot of a world PE for operations; -1 if the transport carries them.
    int slot(int pe) const { return everything_routed_ && pe != pe_ ? -1 : host_slot(pe); }
    /// True if some operations use the transport.
    bool routed() const { return window_.routed; }
    /// True if all do: ATOLL_TRANSPORT is forced although the window reaches every PE.
    bool everything_routed() const { return everything_routed_; }
    /// The PE that owns a slot.
    int pe_of_slot(int slot) const;
    /// Number of PEs on this machine.
    int machine_pes() const { return hosts_.machine_pes; }
    /// "window", or the transport's name.
    std::string_view route_to(int pe) const;
    /// "PE 0 (host a): window to PE 1, ucx to PE 2,3".
    std::string reaches_text() const;
    /// One line a host: its PEs, and how they are reached from here.
    std::string routes_text() const;
    std::string note_text() const;
    /// Predefined teams (job.hpp); the same object at every call.
    const Team& shared() const { return shared_ ? shared_ : world_; }
    const Team& host_team() const { return host_ ? host_ : world_; }
    const Team& rail();

    // ---- heap (job_heap.cpp): collective over the world
    Allocation allocate(std::size_t bytes, std::size_t align, const AllocationHints& hints);
    void* reallocate(void* block, std::size_t bytes);
    void free(void* block);
    Allocation register_buffer(void* memory, std::size_t bytes);
    Job::Registered register_range(void* memory, std::size_t bytes);
    void reset_device_heap();
    void drop(std::uint64_t serial) noexcept;
    bool is_symmetric(const void* address, std::size_t bytes) const;
    /// True only if the bytes, 1 or more, lie in one block of the host heap. Always false below
    /// ATOLL_CHECK=args. Takes no lock.
    bool is_in_listed_block(const void* address, std::size_t bytes) const noexcept {
        const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - window_.mine);
        return blocks_ != nullptr && offset < window_.heap_bytes && blocks_->holds(offset, bytes);
    }
    void check_symmetric(const void* address, std::size_t bytes) const;
    Job::HeapUse heap_use() const;
    Allocation zeroed(std::size_t bytes, std::size_t align, const AllocationHints& hints);
    /// Replaces the source of the host's free memory: for tests.
    void watch_memory_by(common::MemoryWatch watch) { memory_watch_ = std::move(watch); }
    /// Implements Job::pin. Local.
    void pin(const void* block, std::size_t bytes) const;
    /// True if device() is set, for callers that need not know this class.
    const std::atomic<bool>& has_devices() const { return has_devices_; }
    /// Null until a PE's program first allocates device memory.
    const gpu::DeviceMemory* device() const { return opened_device_.load(std::memory_order_acquire); }
    /// The services of streams; null without device().
    StreamServices* stream_services() const { return device() ? services_.get() : nullptr; }
    /// Replaces libatoll_cuda.so, before the first allocation: for tests.
    void open_devices_by(gpu::OpenDevice open) { open_ = std::move(open); }

    // ---- arena: the library's own shared memory, local calls
    /// Returns zeroed memory. Throws Error(out_of_memory).
    void* arena_allocate(std::size_t bytes);
    void arena_free(void* block) noexcept;
    /// Offset in the slot of an address in this PE's arena. Its inverse for any PE is arena_address.
    std::uint64_t arena_offset(const void* address) const;
    void* arena_address(int pe, std::uint64_t offset) const;
    /// Frees a destroyed team's control block later: its owner does so when it next makes one.
    void retire_control(ControlBlock* block, int n_pes);
    void sweep_control();
    /// Places of teams' control blocks for kernels, see kernel_control.hpp.
    gpu::KernelPlaces& kernel_places() { return kernel_places_; }
    /// Pages of the device heap's memory for collectives on streams, except the world team's.
    gpu::KernelPlaces& group_pages() { return group_pages_; }
    const device::Watch& host_watch() const { return *host_watch_; }
    AbandonedLocks& abandoned_locks() { return abandoned_locks_; }
    /// True if every PE's front declares the dtypes of its collectives. They are then compared, too.
    bool compares_dtypes() const { return compares_dtypes_; }
    int next_team_number() { return ++team_numbers_; }

  private:
    void join();
    void find_hosts();
    void place_slots();
    void map_window();
    int file_slot_of(int pe) const;
    bool uses_ucx() const;
    void make_transport();
    std::unique_ptr<transport::Transport> make_loopback() const;
    void check_reached() const;
    void make_predefined_teams();
    void make_world();
    void share_statics();
    bool same_executable();
    void meet_at_start();
    void announce_start() const;
    void announce(bool finalized) noexcept;
    [[noreturn]] void throw_exhausted(std::size_t bytes, std::size_t align) const;
    void reclaim_dropped();
    void release_block(std::size_t offset);
    void keep_pages(std::size_t begin, std::size_t end);
    void release_kept(std::size_t need);
    void release_pages(memory::FreedPages::Range freed);
    gpu::DeviceMemory& open_device();
    bool is_on_device(const void* block) const { return device() && device()->in_window(block); }
    std::size_t block_offset(const void* block, const char* operation) const;
    template <class Check> std::size_t checked_alike(const char* operation, Check&& check);
    std::string site_text(const void* address) const;
    std::size_t checked_block(const void* block, const char* operation) const;

    common::Settings settings_;
    const UpperLayers& upper_;
    std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
    int pe_;
    int n_pes_;
    int usable_cpus_ = 1;
    int spins_ = 0;
    int pauses_of_a_line_ = 1;
    bool compares_dtypes_ = false;
    bool everything_routed_ = false;  ///< a transport was forced although the window reaches every PE
    std::atomic<bool> ended_{false};
    std::atomic<bool> over_{false};
    std::atomic<int> waiting_{0};
    StartWaits start_waits_;
    int process_;                       ///< process of the PE: a forked child must not act for it
    std::atomic<int> team_numbers_{0};  // atomic: threads may split different teams at once
    bootstrap::HostSegment segment_;
    bootstrap::Hosts hosts_;
    std::vector<int> slots_;       ///< by PE, see host_slot
    std::vector<int> file_slots_;  ///< by slot of the window: the slot number in heap_fd
    memory::Layout layout_;
    std::shared_ptr<memory::Mapping> mapping_;
    memory::StaticData static_data_;
    detail::Window window_;
    std::shared_ptr<transport::Transport> transport_;

    AllocationSites sites_;
    mutable std::mutex heap_mutex_;
    std::unique_ptr<memory::Allocator> heap_;
    std::unique_ptr<memory::FreedPages> freed_;
    std::size_t keep_most_bytes_ = 0;
    common::MemoryWatch memory_watch_;
    const memory::BlockTable* blocks_ = nullptr;  ///< the heap's; null below ATOLL_CHECK=args
    std::uint64_t serials_ = 0;
    std::map<std::size_t, std::uint64_t> serial_of_;  // offset → serial
    std::map<std::uint64_t, std::size_t> offset_of_;  // serial → offset
    std::mutex dropped_mutex_;
    std::vector<std::uint64_t> dropped_;

    gpu::OpenDevice open_;
    std::unique_ptr<WorldView> view_;  // before the device heap, which refers to it
    std::unique_ptr<gpu::DeviceMemory> device_;
    std::unique_ptr<StreamServices> services_;  // after the device heap, which its threads use
    std::atomic<const gpu::DeviceMemory*> opened_device_{nullptr};
    std::atomic<bool> has_devices_{false};

    std::mutex arena_mutex_;
    std::unique_ptr<memory::Allocator> arena_;
    std::vector<std::pair<ControlBlock*, int>> retired_;
    AbandonedLocks abandoned_locks_;
    gpu::KernelPlaces kernel_places_{~std::uint64_t{1}};  // place 0 is the world team's
    gpu::KernelPlaces group_pages_{~std::uint64_t{0}};
    std::unique_ptr<device::Watch> host_watch_;

    Team world_, shared_, host_, rail_;
    std::mutex rail_mutex_;
    std::unique_ptr<bootstrap::Monitor> monitor_;  // last: it stops before anything that it uses
};

}  // namespace atl::core
