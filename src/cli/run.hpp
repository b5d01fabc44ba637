// Runs one job; every command that starts PEs uses it.
#pragma once

#include "cli/command/options.hpp"

namespace atl::cli {

/// Returns the job's status. Changes this process's environment and limits: call it once in a process.
int run_job(const RunOptions& options);

}  // namespace atl::cli
