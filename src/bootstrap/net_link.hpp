// The PEs of several hosts, connected to PE 0's store (or a launcher's) by TCP for the life of the job. Each
// host has a board and a heap of its own; deaths and aborts travel as frames, and a monitor in every PE
// writes them onto its host's board.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/store_link.hpp"

namespace atl::bootstrap {

/// What both ends are told by the settings.
StoreClient::Identity identity_of(const common::Settings& settings, int pe, int n_pes,
                                  const std::string& secret);
StoreServer::Options server_options(const common::Settings& settings, int n_pes, const std::string& secret);

/// Tries one address after the other, one at each call.
StoreClient::Connect connect_to_any(const std::vector<std::string>& addresses, int port);
std::string places_text(const std::vector<std::string>& addresses, int port);

std::unique_ptr<Bootstrap> create_net_link(const common::Settings& settings, Link link,
                                           std::string_view name);

}  // namespace atl::bootstrap
