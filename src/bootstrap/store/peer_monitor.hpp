// Watches the connection to PE 0, which ends when PE 0 dies, or when PE 0 has seen another PE die.
#pragma once

#include <memory>

#include "bootstrap/monitor.hpp"
#include "bootstrap/store/store_client.hpp"
#include "common/board/board.hpp"

namespace atl::bootstrap {

/// `socket` must stay open while the monitor lives. When the job is over, PEs in a wait learn it from the
/// board and throw. A PE that computes has one second to notice; then the monitor prints the error and ends
/// the process.
std::unique_ptr<Monitor> create_peer_monitor(int socket, const common::BoardView& board);
/// The same across hosts. It also reads the server's news, which the client's handler writes to the board.
std::unique_ptr<Monitor> create_net_monitor(StoreClient& client, const common::BoardView& board);

}  // namespace atl::bootstrap
