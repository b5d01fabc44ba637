#include "cli/stacks/crash_site.hpp"

#include <algorithm>
#include <string_view>

#include "cli/stacks/stack_texts.hpp"
#include "common/board/beside_gpu.hpp"
#include "common/recorder/crash_note.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

using common::CrashNote;

std::string text_of(const char* text, std::size_t bytes) {
    return {text, static_cast<std::size_t>(std::find(text, text + bytes, '\0') - text)};
}

/// Returns the site of a crash in native code. For an uncaught C++ exception it is the throw: the stack is
/// not unwound.
std::string native_site(const CrashNote& note) {
    std::string function;
    for (std::size_t i = 0; i < std::min<std::size_t>(note.n_frames, CrashNote::most_frames); ++i) {
        const CrashNote::Frame& at = note.frames[i];
        if (at.file < 0 || at.file >= static_cast<int>(CrashNote::most_files)) continue;
        const std::string path = text_of(note.files[at.file], CrashNote::path_bytes);
        if (is_python(path)) break;
        const NamedFrame frame = named_frame(path, at.offset, Lines::of_program);
        if (!frame.is_program) continue;
        if (!frame.line.empty()) return frame.text;
        if (function.empty()) function = frame.text;
    }
    return function;
}

/// The note of the crash by which a PE ended; null without one.
const CrashNote* note_of(const common::BoardView& board, int pe, int number) {
    const CrashNote& note = board.stacks(pe).crash;
    const bool is_valid = note.written.load(std::memory_order_acquire) != 0 && note.signal == number &&
                          note.pid == board.entry(pe).pid.load(std::memory_order_acquire);
    return is_valid ? &note : nullptr;
}

}  // namespace

bool has_full_stack(const common::BoardView& board, int pe, int number) {
    const CrashNote* const note = note_of(board, pe, number);
    return note != nullptr && note->is_at_stack != 0;
}

std::string crash_site(const common::BoardView& board, int pe, int number) {
    const CrashNote* const found = note_of(board, pe, number);
    if (found == nullptr) return {};
    const CrashNote& note = *found;
    const std::string python = python_stacks(text_of(note.python, CrashNote::python_bytes)).site;
    if (!python.empty() && python != common::idle_in_pool) return " at " + python;
    const std::string native = native_site(note);
    return native.empty() ? std::string() : " in " + native;
}

}  // namespace atl::cli
