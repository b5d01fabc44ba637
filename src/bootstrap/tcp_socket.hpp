// TCP between the PEs of several hosts: where one listens, how the others come there, and how the end of a
// whole host is noticed.
#pragma once

#include <memory>
#include <netdb.h>
#include <string>
#include <vector>

#include "common/fd.hpp"
#include "common/settings.hpp"

namespace atl::bootstrap {

struct Place {
    std::string host, port;
    std::string text() const { return host + ":" + port; }
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
/// Throws Error(bootstrap); `what` names the place, as "MASTER_ADDR=node1".
Addresses resolve(const Place& place, const std::string& what);

/// Listening, or the errno of the last attempt in `error`.
common::Fd listen_at(const addrinfo* addresses, int& error);
/// At all addresses of this host; port 0 takes a free one. Throws Error(bootstrap), naming `what` asked for
/// it.
common::Fd listen_anywhere(int port, const std::string& what);
int port_of(int listener);

/// One attempt at each; invalid where nobody listens.
common::Fd connect_to(const addrinfo* addresses);

/// Numeric addresses at which other hosts may reach this one: of ATOLL_INTERFACE (a name or an address), else
/// of all interfaces that are up, but the loopback one. Throws Error(settings) that lists the interfaces
/// where ATOLL_INTERFACE names none of them.
std::vector<std::string> own_addresses(const common::Settings& settings);
std::string host_name();
/// "10.0.0.2:40112"; "" for what is no connection over a network.
std::string peer_address(int fd);

/// From now on the kernel looks whether the other host is there, also while this process is stopped or busy:
/// when nothing has come for `seconds`, reading ends with ETIMEDOUT. No effect on unix sockets.
void notice_silence(int fd, double seconds);
/// Whether `error` says that the other host is out of reach, rather than that a process there has ended.
bool is_silence(int error);

}  // namespace atl::bootstrap
