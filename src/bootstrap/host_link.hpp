// The PEs of one host, connected to PE 0 by unix sockets for the life of the job. Every way of starting
// without our launcher ends here, where all PEs share a host: what differs is how the id came to all of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/net_link.hpp"

namespace atl::bootstrap {

/// A new random id for PEs of one host: a socket's name, which others on the host can see, and a token, which
/// they cannot.
std::string make_unique_id();
/// The same, and where this process listens for PEs of other hosts, until one of it becomes PE 0.
std::string make_unique_id_for_hosts();

std::unique_ptr<Bootstrap> create_host_link(Link link, std::string_view name);
/// `name` is what Bootstrap::name() says. Throws Error: bootstrap, invalid_argument (an id that is none).
/// Where the id is one for hosts and PEs are on several, a net link.
std::unique_ptr<Bootstrap> create_host_link(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes, std::string_view name);

}  // namespace atl::bootstrap
