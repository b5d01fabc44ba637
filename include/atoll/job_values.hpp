// Values that a job takes and returns: its options and identifier, and the memory in use.
#pragma once

#include "atoll/export.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace atl {

/// How the PEs of a job find one another when no launcher has connected them.
struct JobOptions {
    /// The result of get_unique_id() of any one process, distributed to all PEs by the program. Needs `pe`
    /// and `n_pes`.
    std::string unique_id;
    int pe = -1;
    int n_pes = -1;
    /// A store that already connects the PEs: put publishes a value, get waits for it.
    struct Store {
        std::function<void(const std::string& key, const std::string& value)> put;
        std::function<std::string(const std::string& key)> get;
    };
    std::optional<Store> store;
    /// Functions that already connect the PEs, such as MPI's (atoll/mpi.hpp). Needs `pe` and `n_pes`. The
    /// first two are called only within init, collectively.
    struct Callbacks {
        /// Gathers `bytes` bytes from every PE into `all`, in PE order.
        std::function<void(const void* mine, std::size_t bytes, void* all)> allgather;
        std::function<void()> barrier;
        /// For global_exit: ends PEs that do not respond, after all PEs have been notified. May be empty.
        std::function<void(int status, const std::string& sentence)> abort;
    };
    std::optional<Callbacks> callbacks;
    /// Makes ATOLL_CHECK default to `args` instead of `basic`. For fronts whose calls cost far more than the
    /// checks, such as Python's.
    bool checks_args_by_default = false;
    /// Makes the executable's static objects (.data, .bss) symmetric too. Only for executables that are
    /// OpenSHMEM programs: all of their static memory becomes shared memory.
    bool static_data = false;
    /// A kernel that reports an error and traps ends the job at once. If this is set, the job ends only when
    /// check_kernels has not been called for some seconds. The program can then handle the error as an
    /// exception.
    bool raise_kernel_errors = false;
    /// Updates of other PEs' words that the front notes itself, for hang reports. The library notes the
    /// others on its slow paths.
    enum class Notes { none, signals, all };
    Notes notes = Notes::none;
};

/// Returns an identifier for a new job: random, printable, at most 128 characters. Local.
ATOLL_API std::string get_unique_id();

/// Bytes and blocks of this PE's host heap.
struct HeapUse {
    std::size_t limit_bytes, used_bytes, largest_free_bytes, blocks;
    std::size_t kept_bytes;  ///< pages of freed blocks that stay for the next ones (ATOLL_HEAP_KEEP)
};

/// This PE's GPU and the device heap's use of it. The number is -1 before the first allocation of device
/// memory.
struct DeviceHeapUse {
    int number = -1;  ///< among the GPUs that this process sees
    std::string name;
    std::size_t taken_bytes = 0;  ///< the library's own 7 MiB included
    std::size_t used_bytes = 0, blocks = 0;
    std::size_t registered_bytes = 0;  ///< mapped by register_buffer; not counted in the others
    int n_pes = 1;                     ///< PEs of the job that share this GPU
    bool takes_turns = false;          ///< they time-slice the GPU, since MPS is not running
};

}  // namespace atl
