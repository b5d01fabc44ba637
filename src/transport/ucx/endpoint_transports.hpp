// The transports of UCX that a connection uses, and those available on this host.
#pragma once

#include "transport/ucx/library.hpp"

#include <cstdint>

namespace atl::transport::ucx {

/// True if UCX reports the transports of an endpoint (from 1.14 on).
bool tells_transports(const Library& ucp);
enum class ReachedMemory : std::uint8_t { host, gpu };
/// True if one of the transports accesses the peer's memory without its CPU. False if UCX does not report
/// them.
bool has_remote_access(const Library& ucp, ucp_ep_h endpoint, ReachedMemory memory);

bool has_rdma_device();
/// True if UCX_TLS allows UCX only shared memory.
bool is_shared_memory_only();

}  // namespace atl::transport::ucx
