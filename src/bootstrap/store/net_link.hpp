// The PEs of several hosts, connected by TCP to PE 0's or a launcher's store for the life of the job. Each
// host has a separate board and heap. Deaths and aborts travel as frames; a monitor in every PE writes them
// to its host's board.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/store/store_link.hpp"

namespace atl::bootstrap {

/// The part of a hello that comes from the settings.
StoreClient::Identity identity_of(const common::Settings& settings, int pe, int n_pes,
                                  const std::string& secret);
StoreServer::Options server_options(const common::Settings& settings, int n_pes, const std::string& secret);

/// Connects to the addresses in turn, one at each call.
StoreClient::Connect connect_to_any(const std::vector<std::string>& addresses, int port);
std::string addresses_text(const std::vector<std::string>& addresses, int port);

/// The board of a host's PEs, where a launcher writes a trace.
struct TracedBoard {
    BoardLogs logs;
    common::Fd agent;  ///< socket to the host's agent, which reads the board when the PEs have ended
};

std::unique_ptr<Bootstrap> create_net_link(const common::Settings& settings, Link link, std::string_view name,
                                           TracedBoard traced = {});

}  // namespace atl::bootstrap
