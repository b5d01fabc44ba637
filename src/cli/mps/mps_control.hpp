// One call of nvidia-cuda-mps-control.
#pragma once

#include <string>

#include "cli/command/command.hpp"

namespace atl::cli {

struct MpsAnswer {
    int status = -1;   ///< exit status of the program; -1: it could not be started, or took too long
    std::string text;  ///< its output
};

/// Runs nvidia-cuda-mps-control with these arguments and `input` as standard input, for at most `seconds`.
/// `folder` is the daemon's pipe directory and `log_folder` its log directory; if empty, the environment
/// decides.
MpsAnswer ask_mps_control(const Arguments& arguments, const std::string& input, double seconds,
                          const std::string& folder = {}, const std::string& log_folder = {});

}  // namespace atl::cli
