// A report of this process's job by the launcher's program, which asks all PEs for their places in the
// program.
#pragma once

#include <string>

namespace atl::core {

/// Starts `atoll stacks`, which prints the report on standard error. False if there is no such program, or
/// none of this release. Does not wait for the report.
bool report_by_launcher(const std::string& heading) noexcept;

}  // namespace atl::core
