// Call stacks of a live PE, on request: a signal handler in the PE writes return addresses to the job board.
// The reader names them. The handler allocates nothing and takes no lock.
#pragma once

#include "atoll/export.hpp"
#include "common/recorder/crash_note.hpp"
#include "common/recorder/held_locks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace atl::common {

/// A text that its PE alone writes, for readers in other processes.
struct NotedText {
    std::atomic<std::uint32_t> is_set;
    char text[160];

    ATOLL_API void set(std::string_view from) noexcept;
    std::string read() const { return is_set.load(std::memory_order_acquire) != 0 ? text : std::string(); }
};

/// The stacks of a PE's threads. Zeroed memory is a valid empty area.
struct alignas(64) StackArea {
    static constexpr std::size_t most_threads = 16, most_frames = 40;
    struct Thread {
        std::atomic<std::int32_t> id;
        std::atomic<std::uint32_t> frames;
        std::atomic<std::uint64_t> addresses[most_frames];  ///< return addresses, the innermost first
    };
    std::atomic<std::int32_t> signal;  ///< to send to the PE; 0: it does not answer
    std::atomic<std::int32_t>
        python;  ///< descriptor + 1 of the PE to which Python writes its stacks; 0: none
    std::atomic<std::uint32_t> has_tasks;  ///< 1: a thread of Python writes the tasks of event loops, too
    std::atomic<std::uint32_t>
        task_answers;                    ///< number of answers of that thread, which may answer late or never
    std::atomic<std::uint32_t> next;     ///< place of the next thread; the reader sets it to 0
    std::atomic<std::uint32_t> answers;  ///< number of handler calls that have ended
    Thread threads[most_threads];
    CrashNote crash;
    HeldLocks held;
    /// The last exception that Python printed and ignored, as in a callback: "ValueError at x.py:12".
    NotedText ignored;
    /// The exception that the program handled in its last slow wait or mismatched call, as in a `finally`.
    NotedText handled;
};

/// The value of a signal for one thread, whose C and C++ stack alone is asked for.
inline constexpr int one_thread = 0x57ac;

/// Lets this process write the stacks of its threads to `area` on a signal. Does nothing if the program
/// handles that signal itself.
void offer_stacks(StackArea& area) noexcept;
/// Call after another handler of the signal has replaced ours, as that of Python's faulthandler. From then on
/// ours runs it first, or `instead` of it, and survives its faults. It may restore ours, and is not run
/// afterwards. faulthandler's own way to run ours ends system calls with EINTR. It also lets a second signal
/// interrupt the first, until the stack is full.
ATOLL_API void answer_after_current_handler(void (*instead)(int)) noexcept;
/// Sets a function that the signal's handler calls before it answers. It may only store atomically.
void set_asked(void (*asked)() noexcept) noexcept;
/// Sets the text of StackArea::handled; an empty one clears it. Nothing if this process offers no stacks.
ATOLL_API void note_handled(std::string_view text) noexcept;
/// Call before `area` is unmapped.
void withdraw_stacks(const StackArea& area) noexcept;
/// The area of this process; null if it offers no stacks.
ATOLL_API StackArea* offered_stacks() noexcept;

}  // namespace atl::common
