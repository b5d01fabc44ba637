// What the commands do alike with their arguments.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/cli.hpp"

namespace atl::cli {

/// False where help was asked for, and printed. Throws UsageError, which ends with `hint`.
bool parse(CLI::App& app, Arguments arguments, const std::string& hint = {});

}  // namespace atl::cli
