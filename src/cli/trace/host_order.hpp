// The order of events on several hosts.
#pragma once

#include "cli/trace/job_trace.hpp"

namespace atl::cli {

/// Moves the clocks of hosts within their error. Messages then begin before they are received, and no PE
/// leaves a barrier before all have come. No effect on one host.
void keep_order(JobTrace& trace);

}  // namespace atl::cli
