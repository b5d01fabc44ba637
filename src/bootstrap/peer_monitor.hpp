// Watches the connection to PE 0, which ends when PE 0 dies, or when PE 0 has seen another PE die.
#pragma once

#include <memory>

#include "bootstrap/monitor.hpp"
#include "bootstrap/store_client.hpp"
#include "common/board.hpp"

namespace atl::bootstrap {

/// `socket` must stay open as long as the monitor lives. When the job is over, PEs that wait learn it from
/// the board and throw; one that computes on is given a second to notice, then it is ended with the sentence
/// on standard error.
std::unique_ptr<Monitor> create_peer_monitor(int socket, const common::BoardView& board);
/// The same across hosts: it also reads what the server tells, which the client's handler writes onto the
/// board.
std::unique_ptr<Monitor> create_net_monitor(StoreClient& client, const common::BoardView& board);

}  // namespace atl::bootstrap
