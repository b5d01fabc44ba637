// Control: a team's own symmetric memory, to which `Team::control` points. It lies in the memory of the team
// value, at the same offset of every member's slot. New state goes here, not into `Team`.
#pragma once

#include "atoll/device/detail/far_ring.hpp"
#include "atoll/device/detail/trace_log.hpp"
#include "atoll/device/operation.hpp"
#include "atoll/device/team.hpp"

namespace atl::device {

constexpr unsigned control_version = 7;

/// Type of the two values of a report.
enum class Values : unsigned char { unsigned_word, int32, int64, float32, float64 };

/// The kind of a report, which gives the meaning of its values.
enum class Subject : unsigned char {
    wait,         ///< a wait; there are no values
    word,         ///< a wait for `address`, which has `found`; `compare` with `expected` does not hold yet
    wrong_pe,     ///< an invalid `peer`; the team has `expected` PEs
    wrong_index,  ///< an invalid index, `found`, in an array of `expected` elements. `address` is the number
                  ///< of the element within the call
    wrong_address,  ///< an `address` outside this PE's slot, which goes from `expected` to `found`
    far_wait,       ///< a wait for the host thread that carries out requests to world PE `found`
    not_reached,    ///< an operation that needs a PE in the window, for world PE `found` outside it
};

/// Describes a wait that exceeded its bound, or a wrong PE, element or address.
struct Report {
    unsigned state;  ///< 0 none, 1 being written, 2 complete; 3: its PE has ended, 4: wrong size
    Operation operation;
    int team;  ///< number on this PE, 0 = world
    int peer;  ///< team PE waited for, -1 any
    // Kernels in Python write the next four as one word of 32 bits.
    alignas(4) Subject subject;
    Compare compare;           ///< comparison for one word
    Values values;             ///< values for one word
    unsigned char word_bytes;  ///< size of that word; 0: unknown
    int tag;                   ///< the caller's tag
    unsigned long long address;
    unsigned long long expected;  ///< bits of the awaited word's type
    unsigned long long found;
    unsigned long long bound_ns;  ///< bound of this wait; 0: the team's
    unsigned blocks;              ///< blocks of the kernel's grid; 0: unknown
    unsigned threads;             ///< threads of each block
    unsigned block;               ///< number of the waiting thread's block in the grid, x running fastest
    unsigned thread;              ///< number of that thread in its block, likewise
};

/// Positions of Report::compare, values and word_bytes in the word that begins with Report::subject.
constexpr unsigned compare_shift = 8, values_shift = 16, word_bytes_shift = 24;

/// Host memory that a PE's kernels poll rarely, so that waits end when the job or a PE ends. On the host
/// itself `check` is called instead, and throws. After a long spin a wait calls `pause` between its polls, to
/// sleep: first with null for `wait`, then with the last result. If it throws, the wait has ended; otherwise
/// call `end`.
struct Watch {
    unsigned abort;   ///< not 0: the job is over, kernels trap
    unsigned exited;  ///< not 0: PEs have ended, see `exited_pes`; 2: all others have
    unsigned asked;   ///< 1: the host asks for the kernels' waits; 2: a kernel writes `waiting`; 3: it is
                      ///< written
    unsigned pad;
    void* (*pause)(const Watch& watch, const Report& waiting, void* wait);
    void (*end)(void* wait);
    unsigned more[8];
    Report report;
    void (*check)(const Watch& watch, const Report& waiting, unsigned long long waited_ns);
    void* job;
    static constexpr unsigned most_exited = 16384;
    unsigned exited_pes[most_exited / 32];  ///< one bit each for the first PEs of the job
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

constexpr unsigned slot_area_pairs = 512;  ///< pairs per parity: 4 KiB of data with few members
constexpr int few_pes = 64;                ///< up to so many members share `slot_area_pairs`
constexpr unsigned least_slot_pairs = slot_area_pairs / few_pes;  ///< pairs per member in larger teams

/// One member's block. Its arrays, whose sizes depend on the number of members, follow it. Other members
/// write only the arrays `arrived` and `slots`.
struct Control {
    // ---- written by Team::device, before a kernel can see it
    unsigned version;
    int team;                         ///< number on this PE, for errors
    unsigned long long bound_ns;      ///< limit of waits; 0: none
    const Watch* watch;               ///< address for the processor of this memory
    const int* pes_of;                ///< the members' numbers in the world, in this block
    unsigned checks;                  ///< not 0: PE numbers are checked (ATOLL_CHECK)
    FarRing* far_ring;                ///< null: the team has no far PEs
    unsigned long long* far_tickets;  ///< number of tickets taken, over all teams and streams, in this PE's
                                      ///< memory
    // ---- this PE's own
    alignas(128) unsigned long long sync_epoch;
    unsigned exchange_epoch;
    alignas(128) unsigned grid_arrived;
    unsigned long long grid_word;  ///< Grid::broadcast
    TraceSink trace;               ///< the target of Team::trace on GPUs, in the world team's block
};

/// The places of the arrays of a control block: offsets from its start, in bytes. A team of few members has
/// the same offsets whatever its size, except those that kernels rarely use.
struct ControlLayout {
    int n_pes;

    /// The sync_epoch of each arrival, indexed by the writer.
    static ATOLL_ANYWHERE constexpr unsigned arrived() { return sizeof(Control); }
    /// Flagged words, two areas for calls in turn. In an area each writer has `slot_pairs`.
    ATOLL_ANYWHERE constexpr unsigned slots() const { return arrived() + few_pes * 8 + more(); }
    /// Pairs of one area.
    ATOLL_ANYWHERE constexpr unsigned area_pairs() const {
        const unsigned least = least_slot_pairs * static_cast<unsigned>(n_pes);
        return least > slot_area_pairs ? least : slot_area_pairs;
    }
    /// Pairs for a message from one member.
    ATOLL_ANYWHERE constexpr unsigned slot_pairs() const {
        const unsigned each = slot_area_pairs / static_cast<unsigned>(n_pes);
        return each > least_slot_pairs ? each : least_slot_pairs;
    }
    /// Counts of the members' elements in `collect`.
    ATOLL_ANYWHERE constexpr unsigned counts() const {
        return slots() + 2 * area_pairs() * static_cast<unsigned>(sizeof(FlaggedPair));
    }
    /// Target of Team::table if the team is irregular; far PEs: ~world PE.
    ATOLL_ANYWHERE constexpr unsigned slots_of() const { return counts() + 8 * static_cast<unsigned>(n_pes); }
    ATOLL_ANYWHERE constexpr unsigned pes_of() const { return slots_of() + 4 * static_cast<unsigned>(n_pes); }
    /// Size of the whole block.
    ATOLL_ANYWHERE constexpr unsigned bytes() const {
        return (pes_of() + 4 * static_cast<unsigned>(n_pes) + 127) / 128 * 128;
    }

  private:
    /// Bytes of `arrived` for more than a few members: whole lines of 128 bytes.
    ATOLL_ANYWHERE constexpr unsigned more() const {
        return n_pes <= few_pes ? 0 : (static_cast<unsigned>(n_pes - few_pes) * 8 + 127) / 128 * 128;
    }
};
static_assert(sizeof(Control) % 128 == 0, "the arrays begin at a line");

inline namespace ATOLL_DEVICE_ROUTES {
namespace detail {

/// An array of a control block.
template <class T> ATOLL_ANYWHERE T* array_at(Control* control, unsigned offset) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(control) + offset);
}
ATOLL_ANYWHERE inline unsigned long long* arrived_of(const Team& team) {
    return array_at<unsigned long long>(team.control, ControlLayout::arrived());
}
ATOLL_ANYWHERE inline unsigned long long* counts_of(const Team& team) {
    return array_at<unsigned long long>(team.control, ControlLayout{team.n_pes}.counts());
}

}  // namespace detail
}  // namespace ATOLL_DEVICE_ROUTES

}  // namespace atl::device
