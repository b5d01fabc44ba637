// Control: a team's own symmetric memory, to which `Team::control` points. It lies in the memory of the team
// value, at the same offset of every member's slot. New state goes here, never into `Team`.
#pragma once

#include "atoll/device/far_ring.hpp"
#include "atoll/device/team.hpp"

namespace atl::device {

constexpr int most_team_pes = 64;  ///< members of a team that kernels can serve
constexpr int most_teams = 64;     ///< teams alive at once on a PE that kernels can serve
constexpr unsigned control_version = 2;
constexpr unsigned long control_bytes = 32 * 1024;                        ///< of one team in one slot
constexpr unsigned long control_area_bytes = most_teams * control_bytes;  ///< of all teams in one slot

/// Operations as named by their callers; the host prints them.
enum class Operation : int {
    none,
    signal_wait_until,
    signal_consume,
    local_wait_until,
    wait_until,
    wait_until_all,
    wait_until_any,
    wait_until_some,
    wait_until_all_vector,
    wait_until_any_vector,
    wait_until_some_vector,
    receive,
    post,
    send,
    recv,
    grid_sync,
    sync,
    barrier,
    broadcast,
    fcollect,
    collect,
    alltoall,
    gather,
    scatter,
    reduce,
    reduce_scatter,
    tile_reduce,
    tile_allgather,
    // ---- these do not wait; they report a PE that is not in the team
    peer,
    ptr,
    p,
    g,
    put,
    get,
    put_nbi,
    get_nbi,
    iput,
    iget,
    atomic,  ///< in Python kernels
    // in the order of AtomicOp
    atomic_fetch,
    atomic_set,
    atomic_swap,
    atomic_compare_swap,
    atomic_add,
    atomic_fetch_add,
    atomic_and,
    atomic_fetch_and,
    atomic_or,
    atomic_fetch_or,
    atomic_xor,
    atomic_fetch_xor,
    signal_set,
    signal_add,
    put_signal,
    put_signal_nbi,
    async_put,
    tile_put,
    tile_get,
    // ---- these wait for the host if the team has far PEs
    quiet,
    fence,
    flush,
    // ---- stream operations on elements, each with an index and a PE
    take,
    put_at,
    add_at,
    // ---- only stream operations
    alltoalls,
    scan
};

/// Type of the two values of a report.
enum class Values : int { unsigned_word, int32, int64, float32, float64 };

/// Number of low bits of Report::compare that hold the comparison. The bits above hold Values.
constexpr int compare_bits = 3;

/// Report::compare for an invalid `peer`: the team has `expected` PEs.
constexpr int wrong_pe = -2;
/// Report::compare of a wait for the host thread that carries out requests to world PE `found`.
constexpr int far_wait = -3;
/// Report::compare of an operation that needs a PE in the window, for a PE outside it.
constexpr int not_reached = -4;
/// Report::compare of an invalid index: `found` in an array of `expected` elements. `address` is the number
/// of the element within the call.
constexpr int wrong_index = -5;
/// Report::compare of an `address` outside this PE's slot, which goes from `expected` to `found`.
constexpr int wrong_place = -6;

/// Describes a wait that exceeded its bound, or a wrong PE, element or address.
struct Report {
    unsigned state;  ///< 0 none, 1 being written, 2 complete; 3: its PE has ended, 4: wrong size
    int operation;   ///< Operation
    int team;        ///< number on this PE, 0 = world
    int peer;        ///< team PE waited for, -1 any
    int compare;     ///< Compare and Values; -1: no values; or a constant above
    int tag;         ///< the caller's tag
    unsigned long long address;
    unsigned long long expected;  ///< bits of the awaited word's type
    unsigned long long found;
    unsigned long long bound_ns;  ///< bound of this wait; 0: the team's
    unsigned blocks;              ///< blocks of the kernel's grid; 0: unknown
    unsigned threads;             ///< threads of each block
};

/// Host memory that a PE's kernels poll rarely, so that waits end when the job or a PE ends. On the host
/// itself `look` is called instead, and throws.
struct Watch {
    unsigned abort;  ///< not 0: the job is over, kernels trap
    unsigned gone;   ///< not 0: PEs have ended, see `gone_pes`; 2: all others have
    unsigned asked;  ///< 1: the host asks for the kernels' waits; 2: a kernel writes `waiting`; 3: it is
                     ///< written
    unsigned pad[13];
    Report report;
    void (*look)(const Watch& watch, const Report& waiting, unsigned long long waited_ns);
    void* job;
    static constexpr unsigned most_gone = 16384;
    unsigned gone_pes[most_gone / 32];  ///< one bit each for the first PEs of the job
    /// Name of the reporting kernel, if it knows it; terminated by 0. Kernels of CuTe DSL do.
    static constexpr unsigned name_bytes = 64;
    char name[name_bytes];
    Report waiting;  ///< the answer to `asked`
};

/// Two words of {data, flag}. Each is one 8-byte access, so neither tears, and data need no fence before
/// their flag.
struct alignas(16) FlaggedPair {
    unsigned long long word[2];  ///< data in the low half, flag (the epoch) in the high one
};

constexpr unsigned slot_area_pairs = 512;  ///< of each parity: 4 KiB of data over all members

/// One member's block. Other members write only `arrived` and `slots`.
struct Control {
    // ---- written by Team::device, before a kernel can see it
    unsigned version;
    int team;                         ///< number on this PE, for people
    unsigned long long bound_ns;      ///< of waits; 0 none
    const Watch* watch;               ///< address for the processor of this memory
    int slots_of[most_team_pes];      ///< target of Team::table if the team is irregular; far PEs: ~world PE
    int pes_of[most_team_pes];        ///< the members' numbers in the world
    unsigned checks;                  ///< not 0: PE numbers are checked (ATOLL_CHECK)
    FarRing* far_ring;                ///< null: the team has no far PEs
    unsigned long long* far_tickets;  ///< number of tickets taken, over all teams and streams, in this PE's
                                      ///< memory
    // ---- this PE's own
    alignas(128) unsigned long long sync_epoch;
    unsigned exchange_epoch;
    alignas(128) unsigned grid_arrived;
    unsigned long long grid_word;              ///< Grid::broadcast
    unsigned long long counts[most_team_pes];  ///< of collect
    // ---- written by the members, indexed by the writer
    alignas(128) unsigned long long arrived[most_team_pes];  ///< the sync_epoch of each arrival
    alignas(128) FlaggedPair slots[2][slot_area_pairs];
};
static_assert(sizeof(Control) <= control_bytes, "a team's place holds its control block");

}  // namespace atl::device
