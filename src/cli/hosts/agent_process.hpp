// The processes by which `atoll run --hosts` reaches hosts: ssh or another program for each, which runs
// `atoll agent` there.
#pragma once

#include <chrono>
#include <numeric>
#include <string>
#include <sys/types.h>
#include <vector>

#include "cli/command/options.hpp"
#include "common/descriptors/fd.hpp"
#include "common/pe_ranges.hpp"

namespace atl::cli {

/// Returns a text such as "host node1 (PE 0-3)"
inline std::string text_of(const HostShare& host, int first_pe) {
    std::vector<int> pes(static_cast<std::size_t>(host.n_pes));
    std::iota(pes.begin(), pes.end(), first_pe);
    return "host " + host.name + " (PE " + common::pe_ranges(pes) + ")";
}

struct Agent {
    HostShare host;
    int number = 0, first_pe = 0;
    pid_t pid = -1;
    common::Fd orders;             ///< its standard input
    std::uint32_t output[2] = {};  ///< its streams
    bool ended = false;
    bool pes_ended = false;  ///< and perhaps still sends their events
    bool ending = false;
    /// The time to end it, once its PEs have ended and it sends no events any more.
    std::chrono::steady_clock::time_point end_at = std::chrono::steady_clock::time_point::max();
    int status = 0;  ///< exit status as a shell reports it, once the PEs have ended

    bool has(int pe) const { return pe >= first_pe && pe < first_pe + host.n_pes; }
    bool has_status() const { return ended || pes_ended; }
    std::string text() const { return text_of(host, first_pe); }
    /// Sends a frame. No effect on an agent that has ended, as its status will tell.
    void tell(const std::string& frame) const;
    /// Closes its input, which ends it and its PEs. Called again, it kills the process here.
    void end();
};

/// The read ends of an agent's streams.
struct AgentOutput {
    common::Fd out, err;
};
/// Starts `atoll agent` on the agent's host by `program`, words separated by spaces; ssh if it is empty.
/// Throws UsageError if that program cannot be started.
AgentOutput start_agent(Agent& agent, const std::string& program);

}  // namespace atl::cli
