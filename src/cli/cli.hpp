// The commands of `atoll`. `arguments` are those after the command's name; the result is the exit status.
#pragma once

#include "cli/command/command.hpp"

namespace atl::cli {

int run_command(const Arguments& arguments);
/// Runs as the program of a job.
int info_of_job();
int info_command(const Arguments& arguments);
int bench_command(const Arguments& arguments);
int report_command(const Arguments& arguments);

}  // namespace atl::cli
