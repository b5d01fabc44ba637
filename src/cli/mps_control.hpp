// One call of nvidia-cuda-mps-control.
#pragma once

#include <string>

#include "cli/cli.hpp"

namespace atl::cli {

struct MpsAnswer {
    int status = -1;   ///< of the program; -1: it could not be started, or took too long
    std::string text;  ///< what it printed
};

/// Starts it with these arguments and `input` as its standard input, and gives it so many seconds. `folder`:
/// the daemon's pipe directory, empty as the environment has it; `log_folder` likewise.
MpsAnswer ask_mps_control(const Arguments& arguments, const std::string& input, double seconds,
                          const std::string& folder = {}, const std::string& log_folder = {});

}  // namespace atl::cli
