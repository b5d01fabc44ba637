// The UCX transport of a job.
#pragma once

#include "transport/transport.hpp"

#include <memory>

namespace atl::core {

class JobState;

/// Checks that all PEs have UCX, and the same version. Collective; an error has the same text on all. Throws
/// Error: unsupported, bootstrap.
void agree_on_ucx(JobState& job);

/// Creates the transport for all PEs of the job, once its window is mapped. Local, but ATOLL_UCX_CONNECT=all
/// waits until all PEs have called. Throws Error: unsupported, system, bootstrap.
std::unique_ptr<transport::Transport> make_ucx(JobState& job);

}  // namespace atl::core
