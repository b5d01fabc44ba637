// Watches the connection to PE 0, which ends when PE 0 dies, or when PE 0 has seen another PE die.
#pragma once

#include <memory>

#include "bootstrap/monitor.hpp"
#include "common/board.hpp"

namespace atl::bootstrap {

/// `socket` must stay open as long as the monitor lives. When the job is over, PEs that wait learn it from
/// the board and throw; one that computes on is given a second to notice, then it is ended with the sentence
/// on standard error.
std::unique_ptr<Monitor> create_peer_monitor(int socket, const common::BoardView& board);

}  // namespace atl::bootstrap
