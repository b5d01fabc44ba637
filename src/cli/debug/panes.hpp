// Panes of tmux: a terminal for each PE.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "cli/command/command.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

class Panes {
  public:
    /// Opens a window with `n_pes` panes in the tmux around this process. Throws UsageError if tmux cannot.
    explicit Panes(int n_pes);
    /// The terminal of a PE's pane.
    int terminal(int pe) const { return panes_[static_cast<std::size_t>(pe)].terminal.get(); }
    /// From now on, Ctrl-C in the pane goes to this process.
    void started(int pe, pid_t pid) const;

  private:
    struct Pane {
        common::Fd socket;  ///< its closing tells the pane that the job has ended
        common::Fd terminal;
    };
    void take_pane(int listener);

    std::vector<Pane> panes_;
};

/// Replaces this process by a tmux in which the same command runs. Returns if a tmux is around it already.
/// Throws UsageError if there is neither tmux nor a terminal for it.
void enter_tmux(const Arguments& arguments);

/// `atoll pane SOCKET PE`, internal: lends its terminal to a PE, and keeps the pane until Enter is pressed.
int pane_command(const Arguments& arguments);

}  // namespace atl::cli
