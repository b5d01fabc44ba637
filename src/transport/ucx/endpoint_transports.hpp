// What a connection of UCX goes by, and what this host could offer one.
#pragma once

#include "transport/ucx/library.hpp"

#include <cstdint>

namespace atl::transport::ucx {

/// UCX tells which transports an endpoint uses (from 1.14 on).
bool tells_transports(const Library& ucp);
enum class ReachedMemory : std::uint8_t { host, gpu };
/// One of these writes and reads the peer's memory without its CPU. False where UCX does not tell.
bool has_remote_access(const Library& ucp, ucp_ep_h endpoint, ReachedMemory memory);

bool has_rdma_device();
/// UCX_TLS leaves UCX nothing but shared memory.
bool is_shared_memory_only();

}  // namespace atl::transport::ucx
