// `atoll config`.
#pragma once

#include "cli/command/command.hpp"

namespace atl::cli {

/// Prints compiler flags. Throws UsageError.
int config_command(const Arguments& arguments);

}  // namespace atl::cli
