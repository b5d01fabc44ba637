// Standard input for PE 0 when it is a terminal. PEs are in a process group of their own, which a terminal
// does not let read: so the launcher reads for them.
#pragma once

#include <string>

#include "cli/events.hpp"
#include "common/fd.hpp"

namespace atl::cli {

class TerminalInput {
  public:
    /// `reader` becomes what PE 0 gets as stdin.
    TerminalInput(Poller& poller, common::Fd& reader);
    void on_terminal();
    void on_pipe(std::uint32_t events);
    /// The launcher was brought to the foreground again.
    void resume();

  private:
    void close();

    Poller& poller_;
    common::Fd pipe_;      ///< to PE 0
    std::string pending_;  ///< read, not yet written
    bool reading_ = false;
};

}  // namespace atl::cli
