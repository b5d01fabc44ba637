#include "bootstrap/launcher/launched_variable.hpp"

#include <cstdio>
#include <sys/socket.h>

#include "bootstrap/fail.hpp"
#include "bootstrap/launcher/launch_protocol.hpp"

namespace atl::bootstrap {

LaunchedVariable LaunchedVariable::parse(const std::string& text) {
    LaunchedVariable i;
    int used = 0;
    const int fields = std::sscanf(text.c_str(), "%d:%d:%d:%d:%d:%d%n", &i.version, &i.pe, &i.n_pes,
                                   &i.socket, &i.board, &i.heap, &used);
    if (fields >= 1 && i.version != protocol_version)
        throw_bootstrap("This program's Atoll speaks version " + std::to_string(protocol_version) +
                        " of the launcher's protocol, the `atoll run` that started it speaks " +
                        std::to_string(i.version) + "; use the launcher of the same release.");
    if (fields != 6 || static_cast<std::size_t>(used) != text.size() || i.n_pes < 1 || i.pe < 0 ||
        i.pe >= i.n_pes)
        throw_bootstrap(std::string(launched_variable) + "=" + text +
                        " is not what `atoll run` sets (1:PE:N_PES:SOCKET:BOARD:HEAP); unset it.");
    return i;
}

bool is_launcher_socket(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace atl::bootstrap
