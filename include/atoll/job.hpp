// Job: this process's membership in a set of PEs that share symmetric memory.
#pragma once

#include "atoll/team.hpp"

#include <functional>
#include <optional>
#include <string>

namespace atl {

/// How the PEs of a job find one another when neither `atoll run` nor another launcher has told them.
struct JobOptions {
    /// From get_unique_id() of any process, carried to all PEs by any means; with `pe` and `n_pes`.
    std::string unique_id;
    int pe = -1;
    int n_pes = -1;
    /// A store that already connects the PEs: put makes a value known, get waits for it, fence waits for all
    /// PEs.
    struct Store {
        std::function<void(const std::string& key, const std::string& value)> put;
        std::function<std::string(const std::string& key)> get;
    };
    std::optional<Store> store;
    /// Functions that already connect the PEs, such as MPI's (atoll/mpi.hpp); with `pe` and `n_pes`. The
    /// first two are called within init only, collectively.
    struct Callbacks {
        /// `bytes` bytes of every PE, as many of each, into `all`, by PE.
        std::function<void(const void* mine, std::size_t bytes, void* all)> allgather;
        std::function<void()> barrier;
        /// For global_exit, after all PEs have been told: ends those that do not hear. May be empty.
        std::function<void(int status, const std::string& sentence)> abort;
    };
    std::optional<Callbacks> callbacks;
    /// For fronts whose calls cost far more than checks, such as Python's: ATOLL_CHECK is `args`, not
    /// `basic`, unless the environment sets it.
    bool checks_args_by_default = false;
    /// The executable's static objects (.data, .bss) are symmetric too. Only for executables that are
    /// OpenSHMEM programs: all of their static memory becomes shared memory.
    bool static_data = false;
    /// A kernel that reports an error and traps ends the job at once, or, if this is set, after some seconds
    /// in which check_kernels was not called: so that a program hears of it as an exception.
    bool raise_kernel_errors = false;
};

/// Bytes that identify a job to be: random, printable, at most 128 characters. Local.
ATOLL_API std::string get_unique_id();

/// What allocation knows of a block.
struct AllocationHints {
    bool atomics_remote = false;  ///< OpenSHMEM's SHMEM_MALLOC_ATOMICS_REMOTE
    bool signal_remote = false;   ///< SHMEM_MALLOC_SIGNAL_REMOTE
    Memory memory = Memory::host;
};

struct Allocation {
    void* address = nullptr;
    bool zeroed = false;       ///< the memory was never used before, hence is zero
    std::uint64_t serial = 0;  ///< the same on all PEs; what `drop` takes
};

/// Construction is collective over all PEs of the job; so is `finalize`, which waits for them. Destruction
/// without finalize is local: it announces that this PE has left and waits for nobody. Objects made by a job
/// may outlive it: they are then good for being destroyed. Source: OpenSHMEM 1.6, sections 9.1 and 9.2.
/// Throws Error: bootstrap, settings, out_of_memory, collective_mismatch.
class ATOLL_API Job {
  public:
    explicit Job(const JobOptions& options = {});
    /// For the library: a job that its PE has joined already; empty for null.
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
    /// All PEs that load and store each other's memory; on one host the world team itself.
    const Team& shared() const;
    /// All PEs of this host: the same, but where a part of the host shares no memory (containers).
    const Team& host() const;
    /// The PEs that are as manieth on their hosts as this PE on its: one a host, where hosts are alike.
    /// Predefined teams cannot be destroyed.
    const Team& rail() const;
    /// The default context: all PEs, thread-safe.
    const Context& context() const;
    Context create_context(const ContextOptions& options = {}) const {
        return world().create_context(options);
    }

    // ---- symmetric memory: collective over the world, same arguments on all PEs (always compared)
    /// `bytes` of 0 gives null without a barrier. `align` is a power of two; at least 64 is used. Throws
    /// Error: out_of_memory (on every PE alike; says size, used, largest free block), collective_mismatch,
    /// invalid_argument; unsupported, for device memory where there is no GPU, no driver, or no access from
    /// one PE's GPU to another's.
    Allocation allocate(std::size_t bytes, std::size_t align = 0, const AllocationHints& hints = {});
    /// The same, zero on all PEs before any PE returns.
    Allocation allocate_zeroed(std::size_t bytes, std::size_t align = 0, const AllocationHints& hints = {});
    void* malloc(std::size_t bytes, Memory memory = Memory::host) { return align(0, bytes, memory); }
    void* calloc(std::size_t count, std::size_t bytes, Memory memory = Memory::host);
    void* align(std::size_t alignment, std::size_t bytes, Memory memory = Memory::host) {
        return allocate(bytes, alignment, {.memory = memory}).address;
    }
    /// Keeps the contents up to the smaller size. realloc(p, 0) frees, realloc(null, n) allocates; on failure
    /// the block stays.
    void* realloc(void* block, std::size_t bytes);
    void free(void* block);
    /// GPU memory that every PE has already, `bytes` alike on all, seen at one more place: what is returned
    /// is a symmetric view of it in the window. The old address is not symmetric; both name the same bytes,
    /// so what is written by one is seen by the other in the order of one stream, and otherwise as between
    /// any two kernels. `memory` is a whole allocation of cuMemCreate on this PE's GPU that can be exported
    /// as a descriptor (PyTorch's expandable segments are such), aligned to the GPU's granularity, 2 MiB.
    /// `free` of the view ends it and leaves the memory alone; the memory itself must not be unmapped before.
    /// Throws Error: invalid_argument (cudaMalloc's, not exportable, not aligned, a part, of another GPU),
    /// collective_mismatch, unsupported, out_of_memory; on all PEs alike.
    Allocation register_buffer(void* memory, std::size_t bytes);
    /// Frees all blocks and registered views of the device heap at once, and gives their memory back to the
    /// GPU; nothing before the first allocation of device memory. No kernel, copy or graph uses them any
    /// more.
    void reset_device_heap();
    /// As register_buffer, for any part of such memory, and of several such allocations that stand side by
    /// side (PyTorch's expandable segments): all allocations that it lies in are mapped. `free` takes
    /// `block.address`; `address` is where `memory` is seen. PEs pass equal sizes, at equal places in equal
    /// allocations.
    struct Registered {
        Allocation block;
        void* address = nullptr;
    };
    Registered register_range(void* memory, std::size_t bytes);
    /// Lets kernels of this PE load what this PE's hosts and others put into `count` elements of a block of
    /// this PE's own host heap, and wait for it; returns the address that they use, which is the same. Pins
    /// the chunks of 2 MiB that it lies in (their memory is then taken); what is pinned already stays so. It
    /// stays pinned until finalize, or until a block of 1 MiB and more is freed and no other stands in what
    /// was pinned with it. Local, and no operation: registering memory at the GPU's driver may wait for
    /// kernels that run, so call it, and free such a block, while no kernel of this process waits for
    /// something. Such a word is the CPUs': kernels load it and wait for it, and update it by no atomics.
    /// Throws Error: not_initialized (no device memory was allocated yet, or after finalize), not_symmetric,
    /// use_after_free, system, unsupported (static data).
    template <class T> T* pin(T* block, std::size_t count) const {
        pin_bytes(block, detail::ContextBase::bytes_of<T>(count));
        return block;
    }
    void pin_bytes(const void* block, std::size_t bytes) const;
    /// Throws Error(kernel) if a kernel of this process has reported why it was stopped: a wait that took too
    /// long, a wrong PE; says operation, PE, address, expected and found value, tag, and the kernel's grid.
    /// The GPU's context is lost by then: all of its calls fail. Local; waits for nothing.
    void check_kernels() const;
    /// Tells that a kernel of that name is being started, with so many blocks of so many threads. A kernel
    /// that is stopped knows its grid only: of the last 32 names told, those that had this grid are then
    /// said. 0 blocks: any number. Local.
    void note_kernel(std::string_view name, unsigned blocks, unsigned threads) const;
    /// Local: this PE needs the block no more. It is reclaimed in a later collective allocation, when all PEs
    /// dropped it.
    void drop(std::uint64_t serial) noexcept;
    /// True if the whole range lies in blocks of the host or device heap that are allocated now.
    bool is_symmetric(const void* address, std::size_t bytes = 1) const;
    /// Throws Error where is_symmetric is false: not_symmetric, use_after_free.
    void check_symmetric(const void* address, std::size_t bytes = 1) const;

    struct HeapUse {
        std::size_t limit_bytes, used_bytes, largest_free_bytes, blocks;
    };
    HeapUse heap_use() const;
    /// This PE's GPU and what the device heap takes of it; number -1 before the first allocation of device
    /// memory.
    struct DeviceHeapUse {
        int number = -1;  ///< among the GPUs that this process sees
        std::string name;
        std::size_t taken_bytes = 0;  ///< the library's own 7 MiB included
        std::size_t used_bytes = 0, blocks = 0;
        std::size_t registered_bytes = 0;  ///< of register_buffer, in neither of the others
        int n_pes = 1;                     ///< PEs of the job that have this GPU
        bool takes_turns = false;          ///< they run there one after another, as MPS is not at work
    };
    DeviceHeapUse device_heap_use() const;

    /// Ends all PEs with `status`; the launcher reports the sentence. Does not return.
    [[noreturn]] void global_exit(int status, const std::string& sentence = "");

    /// Why all PEs are to end, in the words of the one that failed or of the launcher; empty while they are
    /// not. Local.
    std::string end_reason() const;

    /// Keeps the window mapped while held, past finalize too: for those who hand out addresses.
    std::shared_ptr<const void> memory() const;
    core::JobState& state() const;  ///< throws Error(not_initialized) after finalize
    /// What objects made by this job keep of it: the job may be moved, finalized and destroyed before them.
    std::weak_ptr<core::JobState> handle() const noexcept { return state_; }

  private:
    std::shared_ptr<core::JobState> state_;
};

// ---- the process's current job, for programs that want no object (and for the free functions of ops.hpp)
/// Counted; the first call makes the job, collectively.
ATOLL_API Job& init(const JobOptions& options = {});
/// Counted; the last call ends the job, collectively; arrays may be destroyed after it, not used. Throws
/// Error(not_initialized) when called more often than init.
ATOLL_API void finalize();
ATOLL_API bool is_initialized() noexcept;
/// Throws Error(not_initialized) with what to do.
ATOLL_API Job& current_job();

struct Version {
    int major, minor, patch;
};
ATOLL_API Version version() noexcept;

}  // namespace atl
