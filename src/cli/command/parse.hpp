// Parsing of arguments that all commands share.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command/command.hpp"

namespace atl::cli {

/// False if help was requested, and printed. Throws UsageError, whose text ends with `hint`.
bool parse(CLI::App& app, Arguments arguments, const std::string& hint = {});

}  // namespace atl::cli
