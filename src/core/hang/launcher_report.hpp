// A report of a job by the launcher's program, which asks all PEs for their places in the program.
#pragma once

#include <string>

namespace atl::core {

/// Starts `atoll stacks`, which prints the report on standard error. `board` is the path of the job board.
/// False if there is no such program beside this library. Does not wait for the report. The process gets no
/// child that its own program could notice.
bool report_by_launcher(const std::string& heading, const std::string& board) noexcept;

}  // namespace atl::core
