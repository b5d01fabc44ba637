// Runs one job, for every command that starts PEs.
#pragma once

#include "cli/options.hpp"

namespace atl::cli {

/// Returns the job's status. Changes this process's environment and limits: once a process.
int run_job(const RunOptions& options);

}  // namespace atl::cli
