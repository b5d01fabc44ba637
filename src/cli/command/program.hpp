// Finds the file that a PE executes.
#pragma once

#include "cli/command/command.hpp"

namespace atl::cli {

struct Program {
    std::string path;     ///< to be executed
    Arguments arguments;  ///< with the program's name first
    std::string note;     ///< the Python that was selected although another is active; empty = no remark

    /// Judges by the executable's name; false for a script that starts Python.
    bool is_python() const;
};

/// Finds the user's program: a path, a name in PATH, or a .py file or -m MODULE, for which `python` is
/// started. If `python` is empty, the candidates are an active environment's that has Atoll, the one beside
/// this executable, and python3. Throws UsageError with 126 or 127.
Program find_program(const Arguments& command, const std::string& python);

/// Starts that Python to find out whether it has the package atoll.
bool has_atoll(const std::string& python);

}  // namespace atl::cli
