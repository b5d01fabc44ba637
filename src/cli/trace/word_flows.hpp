// Waits for words and locks, and the operations that ended them, on hosts and inside kernels.
#pragma once

#include "cli/trace/job_trace.hpp"

#include <vector>

namespace atl::cli {

/// An event of the host, or a slice of a kernel: then `id.event` is its index in `kernels.slices`.
struct FlowEnd {
    EventId id;
    bool in_kernel = false;
};
struct WordFlow {
    FlowEnd from, to;
};
/// True for a release of a lock, which completes the default context of the world team.
bool releases_lock(const common::LoggedEvent& event);

std::vector<WordFlow> word_flows_of(const JobTrace& trace);

}  // namespace atl::cli
