// Programs of the Python package that a command of `atoll` becomes.
#pragma once

#include "cli/command/command.hpp"

namespace atl::cli {

/// Replaces this process by `python -m MODULE ARGUMENTS` of a Python that has the package. Throws UsageError:
/// "`use` needs Python …", then the sentence `remedy` after a semicolon.
[[noreturn]] void become_module(const std::string& module, const Arguments& arguments, const std::string& use,
                                const std::string& remedy);

}  // namespace atl::cli
