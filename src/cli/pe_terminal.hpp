// A terminal for one PE, whose output the launcher passes on to its own.
#pragma once

#include "common/fd.hpp"

namespace atl::cli {

struct PeTerminal {
    common::Fd launcher_end;
    common::Fd pe_end;
};

/// With the size and the settings of the terminal `like`, except that bytes pass unchanged. Empty
/// descriptors where this machine has no more pseudo-terminals.
PeTerminal open_pe_terminal(int like);

}  // namespace atl::cli
