#include "bootstrap/store/tcp_socket.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_identity.hpp"

namespace atl::bootstrap {
namespace {

bool connects(int fd, const addrinfo& address) {
    if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) return false;
    pollfd done{fd, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    constexpr int patience_ms = 1000;
    return ::poll(&done, 1, patience_ms) > 0 && ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
           error == 0;
}

/// If no process listens, the kernel may choose the target's port as the socket's own port, and the socket
/// connects to itself.
bool is_connected_to_itself(int fd) {
    sockaddr_storage mine{}, theirs{};
    socklen_t mine_size = sizeof mine, theirs_size = sizeof theirs;
    return ::getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &mine_size) == 0 &&
           ::getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &theirs_size) == 0 &&
           mine_size == theirs_size && std::memcmp(&mine, &theirs, mine_size) == 0;
}

common::Fd listening(int family, const sockaddr* address, socklen_t size) {
    common::Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1, off = 0;
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return {};
    if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) return {};
    return fd;
}

std::string numeric(const sockaddr* address, socklen_t size, bool with_port) {
    char host[NI_MAXHOST] = {}, port[NI_MAXSERV] = {};
    if (::getnameinfo(address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) !=
        0)
        return {};
    std::string text = host;
    if (!with_port) return text;
    return (text.find(':') == std::string::npos ? text : "[" + text + "]") + ":" + port;
}

}  // namespace

Addresses resolve(const HostPort& address, const std::string& what) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found))
        throw_bootstrap(what + " could not be resolved: " + ::gai_strerror(error) + ".");
    return {found, &::freeaddrinfo};
}

common::Fd listen_at(const addrinfo* addresses, int& error) {
    error = EADDRNOTAVAIL;
    for (const addrinfo* a = addresses; a; a = a->ai_next) {
        if (common::Fd fd = listening(a->ai_family, a->ai_addr, a->ai_addrlen)) return fd;
        error = errno;
        // If the port is in use in one family, listening in the other does not help: the PEs would connect to
        // the wrong one.
        if (error == EADDRINUSE) break;
    }
    return {};
}

common::Fd listen_anywhere(int port, const std::string& what) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    if (common::Fd fd = listening(AF_INET6, reinterpret_cast<sockaddr*>(&six), sizeof six)) return fd;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = six.sin6_port;
    if (common::Fd fd = listening(AF_INET, reinterpret_cast<sockaddr*>(&four), sizeof four)) return fd;
    throw_bootstrap(what + " cannot listen at port " + std::to_string(port) + ": " +
                    common::errno_text(errno) + (port ? "; choose another ATOLL_PORT." : "."));
}

int port_of(int listener) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

common::Fd connect_to(const addrinfo* addresses) {
    for (const addrinfo* a = addresses; a; a = a->ai_next) {
        common::Fd fd(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        // Lets PE 0 listen even while such a connection to itself exists.
        const int on = 1;
        if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
            !connects(fd.get(), *a))
            continue;
        if (is_connected_to_itself(fd.get())) {
            const linger at_once{1, 0};  // leaves no TIME_WAIT at the port
            ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            continue;
        }
        ::fcntl(fd.get(), F_SETFL, 0);
        return fd;
    }
    return {};
}

std::vector<std::string> own_addresses(const common::Settings& settings) {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) throw_system("The network interfaces could not be listed");
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
    std::vector<std::string> four, six, known;
    const std::string& wanted = settings.interface;
    for (const ifaddrs* each = all; each; each = each->ifa_next) {
        if (!each->ifa_addr || !(each->ifa_flags & IFF_UP)) continue;
        const int family = each->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        const std::string address = numeric(each->ifa_addr, size, false);
        known.push_back(std::string(each->ifa_name) + " (" + address + ")");
        if (wanted.empty() ? (each->ifa_flags & IFF_LOOPBACK) != 0
                           : wanted != each->ifa_name && wanted != address)
            continue;
        // A link-local address is useless to a host that does not know the link's name.
        if (address.empty() || address.find('%') != std::string::npos) continue;
        (family == AF_INET ? four : six).push_back(address);
    }
    four.insert(four.end(), six.begin(), six.end());
    if (!four.empty() || wanted.empty()) return four;
    std::string list;
    for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
    throw Error(ErrorCode::settings, "ATOLL_INTERFACE=" + wanted + " is no interface or address of host " +
                                         host_name() + " that is up; there are: " + list + ".");
}

std::string peer_address(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.ss_family == AF_UNIX)
        return {};
    return numeric(reinterpret_cast<sockaddr*>(&address), size, true);
}

void notice_silence(int fd, double seconds) {
    const int on = 1, ms = static_cast<int>(seconds * 1000);
    const int pause = std::max(1, ms / 4000), probes = std::max(2, ms / 1000 / pause - 1);
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof pause);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool is_silence(int error) {
    return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH || error == EHOSTDOWN ||
           error == ENETDOWN;
}

}  // namespace atl::bootstrap
