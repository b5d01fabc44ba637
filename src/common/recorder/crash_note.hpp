// The place of a PE's crash. A handler of SIGSEGV and the like writes it to the job board. The launcher reads
// it after the PE's end. The handler allocates nothing and takes no lock.
#pragma once

#include "atoll/export.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::common {

struct StackArea;

/// Zeroed memory is a valid empty note.
struct CrashNote {
    static constexpr std::size_t most_frames = 24, most_files = 6, path_bytes = 240, python_bytes = 3072;
    struct Frame {
        std::uint64_t offset;  ///< in its file; of a caller a byte within the call instruction
        std::int32_t file;     ///< in `files`; -1: none is known
    };
    std::atomic<std::uint32_t> begun, written;
    std::int32_t signal, pid;
    std::uint32_t n_frames, n_files;
    std::uint32_t is_at_stack,
        unused;                 ///< 1: the faulty address is near the stack pointer, as of a full stack
    Frame frames[most_frames];  ///< the innermost first
    char files[most_files][path_bytes];
    char python[python_bytes];  ///< Python's stack of the thread, as faulthandler writes it; empty: none
};

/// Writes a note to `area` if this process crashes in a signal for which the program has no handler.
void note_crashes(StackArea& area) noexcept;
/// A stack for the handlers of this thread, which may have used up its own. Python's is small, and replaces
/// it.
ATOLL_API void install_crash_stack() noexcept;
/// Call before the area is unmapped.
void forget_crashes(const StackArea& area) noexcept;

}  // namespace atl::common
