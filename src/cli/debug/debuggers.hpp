// Debuggers of `atoll run`: pdb for programs in Python, gdb for all programs.
#pragma once

#include "cli/command/options.hpp"
#include "cli/command/program.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

/// The descriptors that debuggers of a job open through /proc, so it lives as long as the job.
class Debuggers {
  public:
    /// Changes `program` so that gdb starts it, and the environment so that PEs stop in pdb. Throws
    /// UsageError if the debugger is missing, or does not fit the program.
    Debuggers(const RunOptions& options, Program& program);

  private:
    common::Fd turn_;    ///< locked by the PE that talks to the user
    common::Fd script_;  ///< commands of gdb
};

}  // namespace atl::cli
