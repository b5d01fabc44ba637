// The PEs of one host, connected to PE 0 by unix sockets for the life of the job. If all PEs share a host,
// every bootstrap without our launcher ends here; the bootstraps differ in how the id reaches the PEs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/store/net_link.hpp"

namespace atl::bootstrap {

/// Makes a random id for PEs of one host. It consists of a socket name, which other users of the host can
/// see, and a secret token.
std::string make_unique_id();
/// The same, and listens for PEs of other hosts until a thread of this process becomes PE 0.
std::string make_unique_id_for_hosts();

std::unique_ptr<Bootstrap> create_host_link(Link link, std::string_view name);
/// Connects the PEs that have the id; `name` becomes Bootstrap::name(). If the id is for several hosts and
/// the PEs are on several, the result is a net link. Throws Error: bootstrap, or invalid_argument for a
/// malformed id.
std::unique_ptr<Bootstrap> create_host_link(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes, std::string_view name);

}  // namespace atl::bootstrap
