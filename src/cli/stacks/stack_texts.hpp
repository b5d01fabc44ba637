// Names of call stacks: frames of C and C++, and the text that Python's faulthandler writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace atl::cli {

/// Frames of the program alone, the innermost first: "step at solver.py:61".
struct ProgramStack {
    std::string label;  ///< such as "another thread", "task Task-2"; empty for the main thread
    std::vector<std::string> frames;
};

struct PeStacks {
    bool is_in_torch = false;  ///< the main thread's innermost line of Python is PyTorch's own
    std::string text;          ///< lines, each with two spaces before it; or the reason why there is no stack
    std::string site;          ///< place of the PE's main thread in the program; empty if unknown
    std::vector<ProgramStack> program;  ///< by thread, the main one first, then by task of event loops
    bool is_in_loop = false;            ///< the main thread runs an event loop, outside coroutines
};

struct NamedFrame {
    std::string text;
    bool is_program = false;
    std::string file;            ///< file of a frame without a name, such as "libatoll.so"
    std::string line;            ///< such as "solver.c:12", at the end of `text`; empty if unknown
    bool is_of_headers = false;  ///< all lines of the function are of headers; with Lines::of_program
};

/// Files of the system's own libraries.
bool is_system(const std::string& path);
/// True for Python's executable and library, which have faulthandler.
bool is_python(const std::string& path);

enum class Lines : std::uint8_t {
    all,
    of_program,  ///< code inlined from a header of the system has the line of the program before it
};
/// The frame at an offset of a mapped file.
NamedFrame named_frame(const std::string& path, std::uint64_t offset, Lines lines = Lines::all);

/// Python's text of all threads, and of tasks of event loops. The thread that answered is its main thread,
/// "Current thread". If it runs an event loop, its place is that of the task for which the loop runs.
PeStacks python_stacks(const std::string& written);

}  // namespace atl::cli
