// `atoll completion`: scripts by which shells complete the words of a command.
#pragma once

#include <string_view>

#include "cli/command/command.hpp"

namespace atl::cli {

/// The files of `scripts`, which cmake/AtollCompletion.cmake embeds. They read commands and options from
/// `--help`, so they have no list that could become outdated.
extern const std::string_view bash_script, zsh_script, fish_script;

int completion_command(const Arguments& arguments);

}  // namespace atl::cli
