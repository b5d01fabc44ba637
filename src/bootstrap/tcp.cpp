// A job by torchrun's variables. PE 0 listens at MASTER_PORT only until all PEs know under which id they meet
// on their host: no PE leaves init before the port is free for the program's own use (torch's env://).
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host_link.hpp"
#include "bootstrap/rendezvous.hpp"
#include "bootstrap/store_client.hpp"
#include "bootstrap/store_server.hpp"
#include "common/fd_passing.hpp"
#include "common/job_environment.hpp"

namespace atl::bootstrap {
namespace {

int parse_number(const std::string& text, const char* variable, int least) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least)
        throw_bootstrap(std::string(variable) + "=" + text + " is not a number from " +
                        std::to_string(least) + " on.");
    return value;
}

struct Place {
    std::string host, port;
    std::string text() const { return host + ":" + port + " (MASTER_ADDR, MASTER_PORT)"; }
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const Place& place) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found))
        throw_bootstrap("MASTER_ADDR=" + place.host + " could not be resolved: " + ::gai_strerror(error) +
                        ".");
    return {found, &::freeaddrinfo};
}

common::Fd listen_at(const Place& place) {
    int error = EADDRNOTAVAIL;
    const Addresses addresses = resolve(place);
    for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
        common::Fd fd(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        const int on = 1;
        if (fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
            ::bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd.get(), SOMAXCONN) == 0)
            return fd;
        error = errno;
        // One family's address in use is not made good by listening at the other's: the PEs would find the
        // wrong one.
        if (error == EADDRINUSE) break;
    }
    if (error == EADDRINUSE)
        throw_bootstrap("PE 0 (RANK=0) cannot listen at " + place.text() +
                        ": another program does. Where torch.distributed is initialised, "
                        "pass its store to init; else choose another MASTER_PORT.");
    throw_bootstrap("PE 0 (RANK=0) cannot listen at " + place.text() + ": " + common::errno_text(error) +
                    ". RANK 0 must run on the host that MASTER_ADDR names.");
}

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

/// While nobody listens, a socket may be given MASTER_PORT as its own port and so connect to itself.
bool is_connected_to_itself(int fd) {
    sockaddr_storage mine{}, theirs{};
    socklen_t mine_size = sizeof mine, theirs_size = sizeof theirs;
    return ::getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &mine_size) == 0 &&
           ::getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &theirs_size) == 0 &&
           mine_size == theirs_size && std::memcmp(&mine, &theirs, mine_size) == 0;
}

common::Fd connect_to(const addrinfo* addresses) {
    for (const addrinfo* a = addresses; a; a = a->ai_next) {
        common::Fd fd(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        // So that PE 0 can listen even at the moment when this happens.
        const int on = 1;
        if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
            !connects(fd.get(), *a))
            continue;
        if (is_connected_to_itself(fd.get())) {
            const linger at_once{1, 0};  // nothing is to linger at the port
            ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            continue;
        }
        ::fcntl(fd.get(), F_SETFL, 0);
        return fd;
    }
    return {};
}

/// The id of the job, by a store that lives as long as this call.
std::string meet_over_tcp(const Place& place, int pe, int n_pes, double timeout_s) {
    const Addresses addresses = resolve(place);
    StoreClient::Connect connect = [&] { return connect_to(addresses.get()); };
    std::unique_ptr<StoreServer> server;
    if (pe == 0) {
        auto [mine, theirs] = common::socket_pair(SOCK_STREAM);
        server = std::make_unique<StoreServer>(listen_at(place), std::move(theirs),
                                               StoreServer::Options{n_pes, "tcp", false});
        connect = [fd = std::make_shared<common::Fd>(std::move(mine))] { return std::move(*fd); };
    }
    StoreClient client(connect, place.text(), {pe, n_pes, "tcp"}, timeout_s);
    // The others close first: what lingers of a closed connection (TIME_WAIT) is then not at MASTER_PORT.
    // When the verdict is an error they must have heard it before the server goes, too.
    const auto others_are_gone = [&](double seconds) { return !server || server->wait_until_alone(seconds); };
    try {
        std::string id =
            meet({[&](const std::string& key, const std::string& value) { client.put(key, value); },
                  [&](const std::string& key) { return client.get(key); }},
                 pe, n_pes);
        client.goodbye();
        others_are_gone(timeout_s);
        return id;
    } catch (const Error&) {
        constexpr double to_hear_it_s = 2;
        others_are_gone(to_hear_it_s);
        throw;
    }
}

}  // namespace

std::unique_ptr<Bootstrap> create_tcp(const common::Settings& settings) {
    const common::JobEnvironment environment = common::read_job_environment();
    if (!environment.has_torchrun_variables())
        throw_bootstrap(
            "ATOLL_BOOTSTRAP=tcp needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them; "
            "one of them is missing.");
    if (environment.agent_store)
        throw_bootstrap(
            "torchrun itself listens at MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True), so Atoll cannot. "
            "Pass torch's store to init; "
            "in Python, atoll.init() does so once torch.distributed is imported and initialised.");
    const int n_pes = parse_number(environment.world_size, "WORLD_SIZE", 1);
    const int pe = parse_number(environment.rank, "RANK", 0);
    if (pe >= n_pes)
        throw_bootstrap("RANK=" + environment.rank + " is not below WORLD_SIZE=" + environment.world_size +
                        ".");
    const int port = parse_number(environment.master_port, "MASTER_PORT", 1);
    if (port > 65535)
        throw_bootstrap("MASTER_PORT=" + environment.master_port + " is not a port; ports end at 65535.");
    const Place place{environment.master_addr, environment.master_port};
    return create_host_link(settings, meet_over_tcp(place, pe, n_pes, settings.init_timeout_s), pe, n_pes,
                            "tcp store");
}

}  // namespace atl::bootstrap
