// The value of ATOLL_LAUNCHED, for a PE of `atoll run`; see launch_protocol.hpp.
#pragma once

#include <string>

namespace atl::bootstrap {

struct LaunchedVariable {
    int version = 0, pe = -1, n_pes = 0, socket = -1, board = -1, heap = -1;

    /// Throws Error(bootstrap) for the text of another release, and for a malformed text.
    static LaunchedVariable parse(const std::string& text);
};

/// True if `fd` is a socket such as the launcher, or the agent of a host, leaves for a PE.
bool is_launcher_socket(int fd);

}  // namespace atl::bootstrap
