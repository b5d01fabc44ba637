// The options of `atoll run`.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launcher/invitation.hpp"
#include "cli/command/command.hpp"
#include "cli/output/output.hpp"

namespace atl::cli {

/// The address and port at which PE 0 keeps PyTorch's store.
struct RankStore {
    std::string address, port;
};

class Panes;
class TraceSender;

struct HostShare {
    std::string name;
    int n_pes = 1;
};

struct RunOptions {
    int n_pes = 0;
    bool is_default_count = false;  ///< `n_pes` is the number of cores that may be used
    bool label = false;             ///< prefix every line with its PE
    bool raw = false;               ///< PEs write to the launcher's own streams
    std::string output_folder;      ///< --output-dir: gets a file for each PE and stream; empty = none
    bool bind_core = false;         ///< one core for each PE, round robin
    std::string trace, record;      ///< files; empty = none
    bool stats = false;             ///< print statistics at the end
    bool mps = false;               ///< PEs that share a GPU run there at once
    bool pdb = false;               ///< breakpoints and errors of PEs in Python stop in pdb
    bool gdb = false;               ///< gdb starts each PE
    bool tmux = false;              ///< a pane of tmux for each PE
    double timeout_s = 0;           ///< 0 = none
    std::string heap_size;          ///< text of the option, already checked; empty = not given
    Arguments environment;          ///< entries such as "K=V"
    Arguments command;              ///< program and its arguments
    std::vector<HostShare> hosts;   ///< --hosts; empty = this host
    std::string agent;              ///< --agent; empty = ATOLL_AGENT, else ssh
    const Panes* panes = nullptr;   ///< panes of --tmux
    // Only for an agent of `atoll run --hosts`.
    int first_pe = 0;  ///< the number of this host's first PE
    RankStore store;
    // true: another process has printed why the job ends; null: never
    const std::atomic<bool>* is_quiet = nullptr;
    std::optional<bootstrap::Invitation> join;  ///< the first PE's; nothing = a job of this host
    TraceSender* trace_sender = nullptr;        ///< if the launcher writes a trace

    /// True if the launcher reads the PEs' stdout and stderr and writes them to its own. A single PE writes
    /// directly.
    bool passes_output_on() const { return output_folder.empty() && !tmux && (label || (n_pes > 1 && !raw)); }
    Output::Style style() const { return label ? Output::Style::labels : Output::Style::lines; }
};

/// Throws UsageError. Empty if help was requested (and printed).
std::optional<RunOptions> parse_run_options(const Arguments& arguments);

/// Parses "a:4,b:4" or "a,b" (one PE each). Throws UsageError.
std::vector<HostShare> parse_hosts(const std::string& text);

/// Parses the number of PEs. Throws UsageError for anything but 1, 2, …
int parse_pe_count(const std::string& text, const char* option = "-n");

}  // namespace atl::cli
