// Which file a PE is started from.
#pragma once

#include "cli/cli.hpp"

namespace atl::cli {

struct Program {
    std::string path;     ///< to be executed
    Arguments arguments;  ///< with the program's name first
    std::string note;     ///< which Python was taken although another is active; empty = nothing to say

    /// By the executable's name; a script that starts Python is none.
    bool is_python() const;
};

/// Finds what the user named: a path, a name in PATH, or a .py file or -m MODULE, for which `python` is
/// started. Empty: that of an active environment that has Atoll, else the one beside this executable, else
/// python3. Throws UsageError with 126 or 127.
Program find_program(const Arguments& command, const std::string& python);

}  // namespace atl::cli
