// The job board: one small shared block per job and host in which every PE publishes its state. The launcher,
// or any PE, can print it. It also announces the end of a PE to waiting PEs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atoll/types.hpp"
#include "common/recorder/kernel_log.hpp"
#include "common/recorder/meter.hpp"
#include "common/recorder/recorder.hpp"
#include "common/recorder/stack_area.hpp"

namespace atl::common {

enum class PeState : std::uint32_t {
    absent,     ///< has not called init
    running,    ///< between init and finalize
    finalized,  ///< left through finalize
    left,       ///< ended without finalize
    died,       ///< killed, crashed, or ended with a status other than 0
};

/// How a PE that has left its job ended, after "PE 3 ": "died", "has finalized", "left the job without
/// finalize".
const char* exit_text(PeState state);
/// Returns a text such as "has not called init" or "has finalized".
const char* state_text(PeState state);

/// A word's place: its offset in the heap. With a bit set, its offset in the executable, or its address.
inline constexpr std::uint64_t offset_in_statics = std::uint64_t{1} << 63,
                               absolute_address = std::uint64_t{1} << 62;
/// Returns a text such as "heap+0x40", "static data+0x40" (nm's address, relative to the start of the
/// executable), "0x7f…".
std::string offset_text(std::uint64_t offset);

/// Returns the sign of a Compare, such as "=="; "?" for other values.
const char* compare_sign(std::uint32_t compare);

inline constexpr std::size_t group_bytes = 24;

/// A message for a PE that waits for another one.
struct OtherMessage {
    std::int32_t from = -1;  ///< world PE that sent it; -1: none is known
    std::int64_t tag = 0;    ///< in groups
    std::uint64_t bytes = 0;
};

/// The wait of a PE. Its owner increments `sequence` before and after a write, so it is odd meanwhile.
struct WaitRecord {
    std::atomic<std::uint32_t> sequence{0};
    std::atomic<std::uint32_t> active{0};  ///< HostWait; of a GPU's wait: GpuWait
    char operation[40] = {};               ///< such as "barrier" or "signal_wait_until"
    std::int32_t team = 0;                 ///< team's number within its PE, 0 = world
    std::int32_t peer = -1;                ///< world PE waited for, -1 = any
    std::uint64_t offset = 0;              ///< the awaited word's place, ~0 = a word of the library
    std::uint64_t block_begin = 0;         ///< place of the word's allocation
    std::uint64_t block_bytes = 0;         ///< 0: the allocation is not known
    char name[104] = {};  ///< a language front's name of that word; empty: shown by its place
    std::uint64_t expected = 0;
    std::uint64_t found = 0;    ///< last value seen
    std::uint32_t compare = 0;  ///< Compare
    std::uint32_t word_bytes =
        0;  ///< size of the awaited word; 0: offset, expected, found, compare are not valid
    std::uint64_t since_ns = 0;   ///< CLOCK_MONOTONIC
    std::uint64_t polled_ns = 0;  ///< the same clock; last write by a PE that polls
    std::uint32_t team_id = 0;    ///< the collective call that waits: see Event::what and Event::call
    std::uint32_t call = 0;       ///< 0: the wait is in no collective call
    /// World PEs of which this wait needs something, -1 behind the last. Further ones are left out.
    static constexpr int most_missing = 8;
    std::int32_t missing[most_missing] = {-1, -1, -1, -1, -1, -1, -1, -1};
    char site[site_bytes] = {};  ///< place of the call in the program; empty at first
    std::int32_t word_pe = -1;   ///< world PE that has the word which the program polls; -1: this PE
    char group[group_bytes] =
        {};                ///< name of a group (atoll/groups.h) in the team's place; `name` tells more
    std::int64_t tag = 0;  ///< tag of the awaited message of a group
    OtherMessage other{};
};

/// The values of a wait record at one moment.
struct WaitCopy {
    char operation[sizeof(WaitRecord::operation)] = {};
    char name[sizeof(WaitRecord::name)] = {};
    std::int32_t team = 0, peer = -1;
    std::uint64_t offset = 0, block_begin = 0, block_bytes = 0, expected = 0, found = 0;
    std::uint32_t compare = 0, word_bytes = 0;
    std::uint64_t since_ns = 0, polled_ns = 0;
    std::uint32_t active = 0;
    std::uint32_t team_id = 0, call = 0;
    std::int32_t missing[WaitRecord::most_missing] = {-1, -1, -1, -1, -1, -1, -1, -1};
    char site[site_bytes] = {};
    std::int32_t word_pe = -1;
    char group[group_bytes] = {};
    std::int64_t tag = 0;
    OtherMessage other{};
};

/// In the place of a Compare: the program itself compares what it polls.
inline constexpr std::uint32_t compared_by_program = 255;
/// Returns a text such as "found 4, waiting for >= 5", for a wait with a value; "found 4" for a loop of
/// polls.
std::string value_text(const WaitCopy& wait);
/// The number of a group by its name, as WaitCopy::team: 0 for PyTorch's first group, which has all ranks.
int team_number(const std::string& group);
/// Copies the beginning of a text.
template <std::size_t bytes> void copy_text(std::string_view text, char (&to)[bytes]) {
    to[text.copy(to, bytes - 1)] = '\0';
}
/// A part of a report, such as " of team 3" or " of group 0"; empty for the world team.
std::string team_text_of(const WaitCopy& wait);
/// Returns a text such as "barrier, for PE 2, at solver.py:88", with the PEs that the wait needs, if known.
std::string wait_text(const WaitCopy& wait, const std::vector<int>& awaited);

/// Writes all of a record. Only its owner may call this; readers see the old values or the new ones.
void write_wait(WaitRecord& wait, const WaitCopy& values);

/// In the place of a process number: a PE of another host, which does not write to this board.
inline constexpr std::int32_t pid_elsewhere = -1;

/// Why operations of a PE's group failed. The PE writes it once, and again only after it has made a new
/// group.
struct FailureNote {
    enum class Kind : std::uint32_t { none, own, of_others };  ///< of_others: another PE's note tells it
    std::atomic<Kind> kind{Kind::none};
    char text[480] = {};

    void set(Kind its_kind, const std::string& its_text) noexcept;
};

struct alignas(64) BoardEntry {
    std::atomic<std::uint32_t> state{0};  ///< PeState
    std::atomic<std::int32_t> pid{0};
    std::atomic<std::uint64_t> pid_namespace{0};  ///< in which `pid` is valid
    std::atomic<std::uint64_t> waits{0};  ///< number of waits that became slow: constant in a stalled job
    WaitRecord wait;
    /// A wait of the PE's kernels. `active` is a GpuWait.
    WaitRecord gpu;
    /// A wait in a group of torch.distributed, which may be beside the PE's own.
    WaitRecord group;
    std::atomic<std::uint32_t> is_guest{0};  ///< 1: the PE has groups, and has not called init
    FailureNote failure;
    /// Allocated bytes of the PE's host heap and of its GPU's. Written by allocations only.
    std::atomic<std::uint64_t> heap_used_bytes{0}, gpu_used_bytes{0};
    std::atomic<std::int32_t> gpu_number{
        -1};  ///< the GPU's number in the PE's driver; -1: the PE has opened no GPU
};

enum class HostWait : std::uint32_t {
    none,
    sleeps,
    polls,    ///< the program calls a test in a loop, and does little else
    pending,  ///< call of a group that has begun, and that no call of ours awaits; PyTorch may wait for it
};

enum class GpuWait : std::uint32_t {
    none,
    beside,   ///< the state of the PE itself is unknown: it may wait for its stream in a CUDA call
    awaited,  ///< the PE is in a call of the library that ends when its stream does
};

inline constexpr std::uint32_t board_magic = 0xA7011B0Du;
inline constexpr std::uint32_t board_version = 14;

struct alignas(64) BoardHeader {
    std::uint32_t magic = board_magic;
    std::uint32_t version = board_version;
    std::int32_t n_pes = 0;
    /// 0: empty, 1: a PE is filling in the layout, 2: layout below is valid. Futex word.
    std::atomic<std::uint32_t> layout_state{0};
    std::uint64_t heap_bytes = 0;
    std::uint64_t statics_bytes = 0;
    std::uint32_t stride_log2 = 0;
    std::int32_t layout_pe = -1;  ///< the PE that wrote the layout
    char release[32] = {};        ///< version of the library of that PE
    char agreed[200] = {};        ///< settings that all PEs must share, as text
    char path[48] = {};           ///< by which processes of this host open the board; empty if they cannot
    /// CPUs of the launcher. PEs may be bound to fewer, and all must choose the same algorithms.
    std::int32_t usable_cpus = 1;
    /// Set once, by the first PE that notices the end: every waiting PE stops with an error. Futex word.
    alignas(64) std::atomic<std::uint32_t> abort{0};
    std::atomic<std::int32_t> abort_pe{-1};
    std::atomic<std::int32_t> abort_status{0};
    char abort_text[256] = {};
    /// 1: the creator of the board prints the statistics when the job has ended.
    std::atomic<std::uint32_t> prints_statistics{0};
    std::uint32_t log_moves = 0;   ///< 1: logs also hold one-sided operations
    std::uint64_t log_events = 0;  ///< most events of a PE's log; 0: there are no logs
    /// True in jobs with a trace, whose kernels write events too.
    bool traces_kernels() const { return log_events != 0 && log_moves != 0; }
    /// Taken by the caller of abort() that writes the three fields above, before it sets `abort`.
    std::atomic<std::uint32_t> abort_claim{0};
    /// The last check by core::HangWatch, in jobs that no launcher watches; CLOCK_MONOTONIC.
    std::atomic<std::uint64_t> checked_ns{0};
    std::atomic<std::uint64_t> reported_waits{0};  ///< the waits of the last standstill that was reported
    std::atomic<std::uint32_t> n_reports{0};       ///< number of reports
    std::atomic<std::uint32_t> reported_sleep{0};  ///< 1: a report named PEs that sleep or work outside Atoll
    /// PEs that finalized, left or died.
    alignas(64) std::atomic<std::uint32_t> exited{0};
    std::atomic<std::uint32_t> left{0};  ///< those of `exited` that left without finalize
};

/// A collective call of a PE, as its flight recorder tells.
struct CallSeen {
    std::uint32_t team = 0;  ///< identity, equal on all members
    std::uint32_t call = 0;  ///< number on the team
    std::uint16_t operation = 0;
    EventState state = EventState::begun;
    std::uint64_t arguments[event_words] = {};
};

/// The last update of a word by a PE.
struct UpdateSeen {
    std::uint64_t offset = 0;  ///< offset in the form of WaitRecord
    std::uint64_t value = 0;   ///< value; for a put its bytes
    int pe = 0;                ///< that has the word
    UpdateKind kind = UpdateKind::set;
    std::uint64_t count = 1;  ///< updates of this kind in a row
    UpdateSite site = {};
};

/// A lock that a PE holds, and the place where it acquired it.
struct HeldSeen {
    std::uint64_t offset = 0;  ///< offset in the form of WaitRecord
    std::uint64_t caller = 0;  ///< address in the PE's process; 0: none
    std::string site;          ///< such as "program.py:12"; empty if unknown
};

/// In the place of a process's state: a PE of another host that does not answer.
inline constexpr char silent_process = '!';

/// The activity of a PE. PEs that do the same have the same text.
struct PeDoing {
    PeState state = PeState::absent;
    std::string text;    ///< such as "barrier, for PE 2", "has not called init"
    bool waits = false;  ///< in the library, for `seconds`
    bool pends = false;  ///< does not wait in the library, which has begun the operation of `wait`
    bool polls = false;  ///< it waits by polling, so it uses a CPU
    bool moves = false;  ///< two checks, one soon after the other, found it in different waits
    double seconds = 0;
    /// Constant while a PE is in one wait and sees nothing new. (The record's sequence changes: a waiting PE
    /// rewrites its record.)
    std::uint64_t mark = 0;
    WaitCopy wait;                    ///< if `waits` or `pends`
    std::vector<UpdateSeen> signals;  ///< the last ones, one for each word and PE
    std::vector<UpdateSeen> writes;   ///< the same for puts and atomic operations
    bool signals_lost = false;        ///< `signals` lacks some
    bool writes_lost = false;
    std::vector<HeldSeen> held;
    std::string ignored;          ///< an exception that Python ignored: "ValueError at x.py:12"
    std::string handled;          ///< one that the program handles while it waits
    std::vector<CallSeen> calls;  ///< the last ones of its first thread, the oldest first
    char process = '?';           ///< state of the process as in /proc: R, S, D, T (stopped), Z; ? if unknown
    std::int32_t pid = 0;         ///< 0: unknown
    double cpu_s = 0;             ///< CPU time of all its threads so far
    double coreless_s = 0;        ///< time for which its main thread was ready and had no core
    std::string site;             ///< source line of a PE that does not wait; empty if unknown
    int file_lock_pe = -1;  ///< holder of a file's lock for which this PE waits, outside Atoll; -1: none
    std::string file_lock;  ///< the file's name; empty if unknown
};

/// A process as /proc shows it. Unknown values stay as they are here.
struct ProcessFigures {
    char state = '?';      ///< R, S, D, T (stopped), Z
    double cpu_s = 0;      ///< CPU time of all its threads so far
    double started_s = 0;  ///< seconds after the machine's start
};
ProcessFigures process_figures(int pid);

inline PeDoing of_state(PeState state, std::string text) {
    PeDoing one;
    one.state = state;
    one.text = std::move(text);
    return one;
}

/// The table printed by --timeout, SIGQUIT and on a stall: a line for all PEs that do the same. `doing` is by
/// PE. The line of the PEs in `first` comes first.
std::string table_of(const std::vector<PeDoing>& doing, const std::vector<int>& first = {});
/// The PEs of each line of that table.
std::vector<std::vector<int>> pes_by_site(const std::vector<PeDoing>& doing,
                                          const std::vector<int>& first = {});

/// A view of a board in shared memory (or, for PEs that are threads, in the process's own).
class BoardView {
  public:
    BoardView() = default;
    explicit BoardView(void* memory) : header_(static_cast<BoardHeader*>(memory)) {}

    /// `log_events` is that of the header.
    static std::size_t bytes(int n_pes, std::uint64_t log_events = 0) {
        if (log_events == 0) return logs_at(n_pes);
        return kernel_logs_at(n_pes, log_events) +
               KernelLog::bytes(log_events) * kernel_log_kinds * static_cast<std::size_t>(n_pes);
    }
    /// Starts a board in zeroed memory of at least `bytes(n_pes)`.
    static BoardView create(void* memory, int n_pes);

    explicit operator bool() const { return header_ != nullptr; }
    BoardHeader& header() const { return *header_; }
    BoardEntry& entry(int pe) const { return reinterpret_cast<BoardEntry*>(header_ + 1)[pe]; }
    /// The flight recorder's memory of a PE.
    PeEvents& events(int pe) const {
        return reinterpret_cast<PeEvents*>(reinterpret_cast<char*>(header_) + events_at(n_pes()))[pe];
    }
    /// The memory for call stacks of a PE.
    StackArea& stacks(int pe) const {
        return reinterpret_cast<StackArea*>(reinterpret_cast<char*>(header_) + stacks_at(n_pes()))[pe];
    }
    /// The counters of a PE's statistics.
    PeCounters& counters(int pe) const {
        return reinterpret_cast<PeCounters*>(reinterpret_cast<char*>(header_) + counters_at(n_pes()))[pe];
    }
    /// The log of a PE. Only on boards with `log_events`.
    LogHeader& log(int pe) const {
        char* const logs = reinterpret_cast<char*>(header_) + logs_at(n_pes());
        return *reinterpret_cast<LogHeader*>(logs + LogHeader::bytes(header_->log_events) *
                                                        static_cast<std::size_t>(pe));
    }
    /// The log of a PE's kernels. Only on boards with `log_events`. Whole pages.
    KernelLog kernel_log(int pe, Processor processor) const {
        const std::uint64_t most = header_->log_events;
        const std::size_t number =
            static_cast<std::size_t>(pe) * kernel_log_kinds + static_cast<std::size_t>(processor);
        return {reinterpret_cast<char*>(header_) + kernel_logs_at(n_pes(), most) +
                    KernelLog::bytes(most) * number,
                most};
    }
    int n_pes() const { return header_->n_pes; }

    /// Marks the job as aborted; only the first call counts. Wakes sleepers on the abort word. `pe` is -1 if
    /// no PE caused it. Text beyond `abort_text` is cut. The job is aborted when this returns.
    void abort(int pe, int status, const std::string& text) const;
    /// Sets the state of a PE and wakes sleepers on `exited`. Any process may call it any number of times:
    /// `exited` and `left` remain correct.
    void set_state(int pe, PeState state) const;
    PeState state(int pe) const {
        return static_cast<PeState>(entry(pe).state.load(std::memory_order_acquire));
    }

    /// Marks running PEs as died whose processes have certainly ended, or as left if they never called init.
    /// For jobs in which no other process watches.
    void mark_dead() const;
    /// True if a launcher on this host watches the PEs, and reads the records of all when the job has ended.
    bool has_launcher() const { return header_->prints_statistics.load(std::memory_order_relaxed) != 0; }

    /// Registers this process as `pe`.
    void sign_in(int pe) const noexcept;
    /// True if the process of `pe` has certainly ended; false if this process cannot know.
    bool process_ended(int pe) const noexcept;
    /// True if the process of `pe` computes, wants to, or reads a disk; false if this process cannot know.
    bool process_works(int pe) const;

    /// A consistent copy of the wait of `pe` as text; empty if it does not wait. For example
    /// "signal_wait_until on heap+0x40: found 3, waiting for >= 4 (12.3 s)".
    std::string wait_text(int pe) const;
    /// `with_calls`: also the last collective calls, which only a report needs.
    PeDoing doing(int pe, bool with_calls = true) const;
    std::vector<PeDoing> all_doing(bool with_calls = true) const;
    /// False if a PE between init and finalize certainly waits for nothing. Cheap.
    bool may_all_wait() const;

  private:
    PeDoing activity(int pe) const;
    /// The kernels' logs begin at a page, which a GPU can pin.
    static std::size_t kernel_logs_at(int n_pes, std::uint64_t log_events) {
        return KernelLog::whole_pages(logs_at(n_pes) +
                                      LogHeader::bytes(log_events) * static_cast<std::size_t>(n_pes));
    }
    /// Sizes of the other six parts are multiples of a cache line.
    static std::size_t logs_at(int n_pes) {
        return counters_at(n_pes) + sizeof(PeCounters) * static_cast<std::size_t>(n_pes);
    }
    static std::size_t counters_at(int n_pes) {
        return stacks_at(n_pes) + sizeof(StackArea) * static_cast<std::size_t>(n_pes);
    }
    static std::size_t stacks_at(int n_pes) {
        return events_at(n_pes) + sizeof(PeEvents) * static_cast<std::size_t>(n_pes);
    }
    static std::size_t events_at(int n_pes) {
        return sizeof(BoardHeader) + sizeof(BoardEntry) * static_cast<std::size_t>(n_pes);
    }

    BoardHeader* header_ = nullptr;
};

}  // namespace atl::common
