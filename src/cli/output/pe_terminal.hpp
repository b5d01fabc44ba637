// A pseudo-terminal for one PE; the launcher passes its output on to the launcher's own terminal.
#pragma once

#include "common/descriptors/fd.hpp"

namespace atl::cli {

struct PeTerminal {
    common::Fd launcher_end;
    common::Fd pe_end;
};

/// Opens a terminal with the size and the settings of `like`, except that bytes pass unchanged. The
/// descriptors are empty if the machine has no more pseudo-terminals.
PeTerminal open_pe_terminal(int like);

}  // namespace atl::cli
