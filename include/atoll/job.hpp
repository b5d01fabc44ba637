// Job: this process's membership in a set of PEs that share symmetric memory.
#pragma once

#include "atoll/job_values.hpp"
#include "atoll/team.hpp"

#include <string>

namespace atl {

/// Properties of a block that allocation may use.
struct AllocationHints {
    bool atomics_remote = false;  ///< OpenSHMEM's SHMEM_MALLOC_ATOMICS_REMOTE
    bool signal_remote = false;   ///< SHMEM_MALLOC_SIGNAL_REMOTE
    Memory memory = Memory::host;
};

struct Allocation {
    void* address = nullptr;
    bool zeroed = false;       ///< the memory was never used before, so it is zero
    std::uint64_t serial = 0;  ///< the same on all PEs; the argument of `drop`
};

/// This process's membership in a set of PEs that share symmetric memory. Construction is collective over all
/// PEs of the job; so is `finalize`, which waits for them. Destruction without finalize is local: it
/// announces that this PE has left and does not wait. Objects made by a job may outlive it, but can then only
/// be destroyed. Source: OpenSHMEM 1.6, sections 9.1 and 9.2.
/// Throws Error: bootstrap, settings, out_of_memory, collective_mismatch.
class ATOLL_API Job {
  public:
    explicit Job(const JobOptions& options = {});
    /// For the library: wraps a job that this PE has joined already; empty for null.
    explicit Job(std::shared_ptr<core::JobState> state);
    ~Job();
    Job(Job&&) noexcept;
    Job& operator=(Job&&) noexcept;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    void finalize();

    int my_pe() const;
    int n_pes() const;
    const Team& world() const;
    /// All PEs that can load and store each other's memory; on one host the world team itself.
    const Team& shared() const;
    /// All PEs of this host. Differs from shared() only if parts of the host share no memory (containers).
    const Team& host() const;
    /// The PEs with this PE's rank on their own hosts: one PE a host, if the hosts are alike.
    /// Predefined teams cannot be destroyed.
    const Team& rail() const;

    // ---- teams without a parent
    /// Returns an id for one team; the program sends it to the members. Never 0. Local. The id costs 16 bytes
    /// a PE of the job until its team is made; one whose team cannot be made keeps them. Throws
    /// Error(out_of_memory).
    std::uint64_t get_team_unique_id() const;
    /// Makes the team of the `n_pes` PEs that pass the same id. This PE becomes its PE `my_pe`. Collective
    /// over these PEs; other PEs take no part. Throws Error: invalid_argument (no id of this job, or a used
    /// one), pe, collective_mismatch (two PEs passed one `my_pe`, or different `n_pes`), out_of_memory,
    /// timeout. Source: nvshmemx_team_init.
    Team team_init(std::uint64_t unique_id, int n_pes, int my_pe) const;

    /// The default context: all PEs, thread-safe.
    const Context& context() const;
    Context create_context(const ContextOptions& options = {}) const {
        return world().create_context(options);
    }

    // ---- symmetric memory: collective over the world, same arguments on all PEs (always compared)
    /// Allocates `bytes` bytes on every PE; 0 gives null without a barrier. `align` is a power of two; at
    /// least 64 is used. Throws Error: out_of_memory (on every PE; with size, used, largest free block),
    /// collective_mismatch, invalid_argument.
    /// Throws Error(unsupported) for device memory if there is no GPU or driver, or one PE's GPU cannot
    /// access another's.
    Allocation allocate(std::size_t bytes, std::size_t align = 0, const AllocationHints& hints = {});
    /// Like allocate, but zeroed on all PEs before any PE returns.
    Allocation allocate_zeroed(std::size_t bytes, std::size_t align = 0, const AllocationHints& hints = {});
    void* malloc(std::size_t bytes, Memory memory = Memory::host) { return align(0, bytes, memory); }
    void* calloc(std::size_t count, std::size_t bytes, Memory memory = Memory::host);
    void* align(std::size_t alignment, std::size_t bytes, Memory memory = Memory::host) {
        return allocate(bytes, alignment, {.memory = memory}).address;
    }
    /// Resizes a block and keeps its contents up to the smaller size. realloc(p, 0) frees, realloc(null, n)
    /// allocates. On failure the block is unchanged.
    void* realloc(void* block, std::size_t bytes);
    void free(void* block);
    /// Reserves `bytes` bytes on every PE for distributed arrays over teams (DistArray). A team's members
    /// make these without the other PEs, so their memory comes from what all PEs have reserved before. It
    /// costs nothing until it is written, but counts against the limit of the heap. Another call adds room,
    /// and the job keeps it. One thread of a PE at a time makes arrays. Throws Error(out_of_memory).
    void reserve_for_teams(std::size_t bytes);
    /// Maps GPU memory that every PE already has, `bytes` long on each, into the window as a symmetric view.
    /// Only the returned address is symmetric; the old address remains valid and names the same bytes. Within
    /// one stream each sees what was written through the other; otherwise order them like two kernels.
    ///
    /// `memory` is a whole cuMemCreate allocation on this PE's GPU that can be exported as a descriptor.
    /// PyTorch's expandable segments are such allocations. It is aligned to the GPU's granularity, 2 MiB.
    /// `free` of the view unmaps it and keeps the memory, which must not be unmapped before.
    ///
    /// Throws Error, on all PEs: invalid_argument (cudaMalloc's, not exportable, not aligned, a part, of
    /// another GPU), collective_mismatch, unsupported, out_of_memory.
    Allocation register_buffer(void* memory, std::size_t bytes);
    /// Frees all blocks and registered views of the device heap, and returns their memory to the GPU. Does
    /// nothing before the first allocation of device memory. No kernel, copy or graph may use the blocks any
    /// more.
    void reset_device_heap();
    /// Like register_buffer, for any range within one or several adjacent allocations (PyTorch's expandable
    /// segments). All allocations that the range touches are mapped. Pass `block.address` to `free`;
    /// `address` is the view of `memory`. All PEs pass equal sizes, at equal offsets in equal allocations.
    struct Registered {
        Allocation block;
        void* address = nullptr;
    };
    Registered register_range(void* memory, std::size_t bytes);
    /// Makes `count` elements of a block of this PE's host heap readable by this PE's kernels. Kernels can
    /// then load and wait for values that hosts put there. Returns the address for kernels, which is the
    /// same.
    ///
    /// Pins the 2 MiB chunks that contain the elements, which allocates their memory; pinned chunks stay as
    /// they are. They stay pinned until finalize, or until a block of 1 MiB or more is freed and the pinned
    /// range holds no other block.
    ///
    /// Local. Registering memory with the GPU driver may wait for running kernels. So call this, and free
    /// such a block, while no kernel of this process waits. CPUs own such words: kernels load and wait for
    /// them, and must not update them by atomics.
    ///
    /// Throws Error: not_initialized (no device memory was allocated yet, or after finalize), not_symmetric,
    /// use_after_free, system, unsupported (static data).
    template <class T> T* pin(T* block, std::size_t count) const {
        pin_bytes(block, detail::ContextBase::bytes_of<T>(count));
        return block;
    }
    void pin_bytes(const void* block, std::size_t bytes) const;
    /// Throws Error(kernel) if a kernel of this process has reported why it was stopped, such as a timeout or
    /// a wrong PE. The text names operation, PE, address, expected and found value, tag, and the kernel's
    /// grid. The GPU context is lost by then: all of its calls fail. Local; does not wait.
    void check_kernels() const;
    /// Records that a kernel of this name is being launched, with this many blocks and threads. A stopped
    /// kernel knows only its grid, so the report lists the names with that grid among the last 32. 0 blocks
    /// means any number. Local.
    void note_kernel(std::string_view name, unsigned blocks, unsigned threads) const;
    /// Marks a block as no longer needed by this PE. A later collective allocation reclaims it, once all PEs
    /// have dropped it. Local.
    void drop(std::uint64_t serial) noexcept;
    /// True if the whole range lies in currently allocated blocks of the host or device heap.
    bool is_symmetric(const void* address, std::size_t bytes = 1) const;
    /// Throws Error if is_symmetric is false: not_symmetric, use_after_free.
    void check_symmetric(const void* address, std::size_t bytes = 1) const;

    using HeapUse = atl::HeapUse;
    HeapUse heap_use() const;
    using DeviceHeapUse = atl::DeviceHeapUse;
    DeviceHeapUse device_heap_use() const;

    /// Ends all PEs with `status`; the launcher reports the sentence. Does not return.
    [[noreturn]] void global_exit(int status, const std::string& sentence = "");

    /// The reason for the end of all PEs, as reported by the PE that failed or by the launcher. Empty
    /// while the job runs. Local.
    std::string end_reason() const;

    /// Keeps the window mapped while held, also past finalize. For callers that pass addresses on.
    std::shared_ptr<const void> memory() const;
    core::JobState& state() const;  ///< throws Error(not_initialized) after finalize
    /// The reference that objects made by this job keep: the job may be moved, finalized and destroyed before
    /// them.
    std::weak_ptr<core::JobState> handle() const noexcept { return state_; }

  private:
    std::shared_ptr<core::JobState> state_;
};

// ---- the process's current job, also used by the free functions of ops.hpp
/// Creates the current job on the first call, collectively. Calls are counted.
ATOLL_API Job& init(const JobOptions& options = {});
/// Ends the current job on the last of the counted calls, collectively. Arrays may be destroyed afterwards,
/// but not used. Throws Error(not_initialized) if called more often than init.
ATOLL_API void finalize();
ATOLL_API bool is_initialized() noexcept;
/// Throws Error(not_initialized) if there is no current job.
ATOLL_API Job& current_job();

struct Version {
    int major, minor, patch;
};
ATOLL_API Version version() noexcept;

}  // namespace atl
