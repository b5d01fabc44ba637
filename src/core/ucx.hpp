// The UCX transport of a job.
#pragma once

#include "transport/transport.hpp"

#include <memory>

namespace atl::core {

class JobState;

/// Collective: all PEs have UCX, and the same version; what differs is the same sentence on all. Throws
/// Error: unsupported, bootstrap.
void agree_on_ucx(JobState& job);

/// For all PEs of the job, once its window is mapped. Local, but for ATOLL_UCX_CONNECT=all, which waits until
/// all PEs have come here. Throws Error: unsupported, system, bootstrap.
std::unique_ptr<transport::Transport> make_ucx(JobState& job);

}  // namespace atl::core
