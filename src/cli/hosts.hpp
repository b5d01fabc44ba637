// `atoll run --hosts a:4,b:4`: a job over several hosts. This launcher keeps the job's store; on each host an
// agent (another `atoll`, started through ssh) starts that host's PEs and passes on what they print.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace atl::cli {

/// "a:4,b:4", "a,b" (one PE each). Throws UsageError.
std::vector<HostShare> parse_hosts(const std::string& text);

/// Returns the status of the job.
int run_on_hosts(const RunOptions& options);

/// What an agent is told on its standard input, as a frame 'C' of bootstrap/wire.hpp. Frames 'S' with the
/// number of a signal may follow, and 'Q': the launcher has said why the job ends. The end of the input is
/// the end of its PEs.
struct AgentOrder {
    int first_pe = 0, n_pes = 1, n_all = 1, port = 0;
    bool label = false, raw = false, bind_core = false;
    std::string secret, addresses, folder, output_folder;
    Arguments environment, command;
};
std::string encode_order(const AgentOrder& order);
AgentOrder decode_order(const std::string& body);

/// The hidden command `atoll agent`.
int agent_command(const Arguments& arguments);

}  // namespace atl::cli
