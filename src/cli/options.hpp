// What `atoll run` was asked for.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "bootstrap/invitation.hpp"
#include "cli/cli.hpp"
#include "cli/output.hpp"

namespace atl::cli {

struct HostShare {
    std::string name;
    int n_pes = 1;
};

struct RunOptions {
    int n_pes = 0;
    bool is_default_count = false;  ///< `n_pes` is the number of cores that may be used
    bool label = false;             ///< prefix every line with its PE
    bool raw = false;               ///< PEs write to the launcher's own streams
    std::string output_folder;      ///< --output-dir: of a file for each PE and stream; empty = none
    bool bind_core = false;         ///< one core for each PE, round robin
    bool mps = false;               ///< PEs that share a GPU run there at once
    double timeout_s = 0;           ///< 0 = none
    std::string heap_size;          ///< as written, already checked; empty = not given
    Arguments environment;          ///< "K=V"
    Arguments command;              ///< program and its arguments
    std::vector<HostShare> hosts;   ///< --hosts; empty = this host
    std::string agent;              ///< --agent; empty = ATOLL_AGENT, else ssh
    // What an agent of `atoll run --hosts` is told besides.
    int first_pe = 0;                             ///< the number of this host's first PE
    const std::atomic<bool>* is_quiet = nullptr;  ///< once true, why the job ends has been said; null = never
    std::optional<bootstrap::Invitation> join;    ///< the first PE's; nothing = a job of this host

    /// The launcher stands between the PEs and its own stdout and stderr. A single PE writes for itself.
    bool passes_output_on() const { return output_folder.empty() && (label || (n_pes > 1 && !raw)); }
    Output::Style style() const { return label ? Output::Style::labels : Output::Style::lines; }
};

/// Throws UsageError. Nothing when help was asked for (and printed).
std::optional<RunOptions> parse_run_options(const Arguments& arguments);

/// The number of PEs; throws UsageError for anything but 1, 2, …
int parse_pe_count(const std::string& text);

}  // namespace atl::cli
