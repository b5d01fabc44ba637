// Standard input for PE 0 if it is a terminal. PEs are in a separate process group, which a terminal does not
// let read, so the launcher reads for them.
#pragma once

#include <string>

#include "cli/output/events.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

class TerminalInput {
  public:
    /// `reader` becomes the stdin of PE 0.
    TerminalInput(Poller& poller, common::Fd& reader);
    void on_terminal();
    void on_pipe(std::uint32_t events);
    /// Call when the launcher has returned to the foreground.
    void resume();

  private:
    void close();

    Poller& poller_;
    common::Fd pipe_;      ///< to PE 0
    std::string pending_;  ///< read, not yet written
    bool reading_ = false;
};

}  // namespace atl::cli
