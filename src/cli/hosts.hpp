// `atoll run --hosts a:4,b:4`: a job over several hosts. This launcher keeps the job's store. An agent on
// each host, an `atoll` started through ssh, starts the host's PEs and passes on their output.
#pragma once

#include <string>

#include "cli/command/options.hpp"

namespace atl::cli {

/// Runs the job and returns its status.
int run_on_hosts(const RunOptions& options);

/// The order that an agent reads on its standard input, a frame 'C' of bootstrap/store/wire.hpp. Frames 'S'
/// with the number of a signal may follow. A frame 'Q' tells that the launcher has printed why the job ends.
/// The end of the input ends the agent's PEs.
struct AgentOrder {
    int number = 0;  ///< number of the agent, from 0
    int first_pe = 0, n_pes = 1, n_all = 1, port = 0;
    bootstrap::BoardLogs logs;  ///< for a trace, which the launcher writes
    bool label = false, raw = false, bind_core = false;
    std::string secret, addresses, folder, output_folder;
    RankStore store;
    Arguments environment, command;
};
std::string encode_order(const AgentOrder& order);
AgentOrder decode_order(const std::string& body);

/// The hidden command `atoll agent`.
int agent_command(const Arguments& arguments);

}  // namespace atl::cli
