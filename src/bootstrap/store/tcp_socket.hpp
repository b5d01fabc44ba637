// TCP between the PEs of several hosts: listening, connecting, and noticing that a whole host is gone.
#pragma once

#include <memory>
#include <netdb.h>
#include <string>
#include <vector>

#include "common/descriptors/fd.hpp"
#include "common/settings/settings.hpp"

namespace atl::bootstrap {

struct HostPort {
    std::string host, port;
    std::string text() const { return host + ":" + port; }
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
/// Resolves a place. Throws Error(bootstrap), which names it by `what`, such as "MASTER_ADDR=node1".
Addresses resolve(const HostPort& address, const std::string& what);

/// Returns a listening socket, or an invalid one and the errno of the last attempt in `error`.
common::Fd listen_at(const addrinfo* addresses, int& error);
/// Listens at all addresses of this host; port 0 selects a free one. Throws Error(bootstrap); `what` names
/// the setting of the port.
common::Fd listen_anywhere(int port, const std::string& what);
int port_of(int listener);

/// Tries each address once. Invalid if no process listens.
common::Fd connect_to(const addrinfo* addresses);

/// Numeric addresses at which other hosts may reach this one. They are those of ATOLL_INTERFACE (a name or an
/// address), else of all interfaces that are up except loopback. If ATOLL_INTERFACE matches no interface,
/// throws Error(settings) that lists them.
std::vector<std::string> own_addresses(const common::Settings& settings);
/// The remote address, such as "10.0.0.2:40112"; "" if the socket is not a network connection.
std::string peer_address(int fd);

/// Enables keepalive: the kernel checks whether the other host answers, even while this process is stopped or
/// busy. After `seconds` without an answer, reading ends with ETIMEDOUT. No effect on unix sockets.
void notice_silence(int fd, double seconds);
/// True if `error` means that the other host cannot be reached, rather than that a process there has ended.
bool is_silence(int error);

}  // namespace atl::bootstrap
