// The PEs of one host, connected to PE 0 by unix sockets for the life of the job. Every way of starting
// without our launcher ends here: what differs is how the id came to all PEs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"

namespace atl::bootstrap {

/// A new random id: a socket's name, which others on the host can see, and a token, which they cannot.
std::string make_unique_id();

/// `name` is what Bootstrap::name() says. Throws Error: bootstrap, invalid_argument (an id that is none).
std::unique_ptr<Bootstrap> create_host_link(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes, std::string_view name);

}  // namespace atl::bootstrap
