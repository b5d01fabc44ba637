// A job by torchrun's variables. PE 0 listens at MASTER_PORT (or ATOLL_PORT) only until all PEs have
// connected. No PE leaves init before the program can use the port again (torch's env://). Across hosts the
// connections stay.
#include <charconv>
#include <sys/socket.h>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_identity.hpp"
#include "bootstrap/rendezvous/host_link.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"
#include "bootstrap/store/net_link.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/settings/job_environment.hpp"

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

common::Fd listen_or_throw(const addrinfo* addresses, const HostPort& address, const char* port_variable) {
    int error = 0;
    if (common::Fd fd = listen_at(addresses, error)) return fd;
    const std::string where = address.text() + " (MASTER_ADDR, " + port_variable + ")";
    if (error == EADDRINUSE)
        throw_bootstrap("PE 0 (RANK=0) cannot listen at " + where +
                        ": another program does. Where torch.distributed is initialised, "
                        "pass its store to init; else choose another port, by " +
                        port_variable + " or, for Atoll alone, ATOLL_PORT.");
    throw_bootstrap("PE 0 (RANK=0) cannot listen at " + where + ": " + common::errno_text(error) +
                    ". RANK 0 must run on the host that MASTER_ADDR names.");
}

/// Reports a failure of PE 0 to listen. If another process is PE 0 already, that one receives the report and
/// sends it to all.
void tell_another(const StoreClient::Connect& attempt, const std::string& where,
                  const StoreClient::Identity& identity) {
    constexpr double patience_s = 2;
    common::Fd fd = attempt();
    if (!fd) return;
    try {
        const StoreClient client([&] { return std::move(fd); }, where, identity, patience_s);
    } catch (const Refusal&) {
        throw;
    } catch (const Error&) {  // the listener is another program
    }
}

/// The store at `address`, in PE 0, and this PE's connection to it.
Link connect(const common::Settings& settings, const HostPort& address, const char* port_variable, int pe,
             int n_pes) {
    const Addresses addresses = resolve(address, "MASTER_ADDR=" + address.host);
    StoreClient::Connect attempt = [&] { return connect_to(addresses.get()); };
    Link link;
    link.pe = pe;
    link.n_pes = n_pes;
    const std::string where = address.text() + " (MASTER_ADDR, " + port_variable + ")";
    const StoreClient::Identity identity = identity_of(settings, pe, n_pes, settings.secret);
    if (pe == 0) {
        common::Fd listener;
        try {
            listener = listen_or_throw(addresses.get(), address, port_variable);
        } catch (const Error&) {
            tell_another(attempt, where, identity);
            throw;
        }
        auto [mine, theirs] = common::socket_pair(SOCK_STREAM);
        StoreServer::Options options = server_options(settings, n_pes, settings.secret);
        options.secret_name = "ATOLL_SECRET";
        std::vector<StoreServer::Listener> listeners;
        listeners.push_back({std::move(listener), false});
        link.server = std::make_unique<StoreServer>(std::move(listeners), std::move(theirs), options);
        attempt = [fd = std::make_shared<common::Fd>(std::move(mine))] { return std::move(*fd); };
    }
    link.client = std::make_unique<StoreClient>(attempt, where, identity, settings.init_timeout_s);
    return link;
}

/// Connects the PEs through the store. On one host the store ends once all PEs have the id under which they
/// meet; across hosts it lives as long as the job.
std::unique_ptr<Bootstrap> meet_by(const common::Settings& settings, Link link) {
    // The others close first, so that the port in TIME_WAIT is theirs and not MASTER_PORT. If the verdict is
    // an error, they must also have received it before the server ends.
    const auto others_have_exited = [&](double seconds) {
        return !link.server || link.server->wait_until_alone(seconds);
    };
    constexpr std::string_view name = "tcp store";
    try {
        const bool one_host = share_a_host(link.client->allgather(host_identity()));
        if (!one_host) {
            if (settings.secret.empty() && link.pe == 0)
                common::warn(
                    "ATOLL_SECRET is not set, so any process that reaches MASTER_ADDR's port while the job "
                    "starts may join it: the network is trusted.");
            return create_net_link(settings, std::move(link), name);
        }
        const std::string id = link.client->allgather(link.pe == 0 ? make_unique_id() : "")[0];
        link.client->goodbye(true);
        link.client.reset();
        others_have_exited(settings.init_timeout_s);
        link.server.reset();
        return create_host_link(settings, id, link.pe, link.n_pes, name);
    } catch (const Error&) {
        constexpr double report_time_s = 2;
        others_have_exited(report_time_s);
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
    if (environment.agent_store && settings.port == 0)
        throw_bootstrap(
            "torchrun itself listens at MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True), so Atoll cannot. "
            "Pass torch's store to init, or set ATOLL_PORT to another port for all PEs; "
            "in Python, atoll.init() does so once torch.distributed is imported and initialised.");
    const int n_pes = parse_number(environment.world_size, "WORLD_SIZE", 1);
    const int pe = parse_number(environment.rank, "RANK", 0);
    if (pe >= n_pes)
        throw_bootstrap("RANK=" + environment.rank + " is not below WORLD_SIZE=" + environment.world_size +
                        ".");
    const char* port_variable = settings.port ? "ATOLL_PORT" : "MASTER_PORT";
    const int port = settings.port ? settings.port : parse_number(environment.master_port, "MASTER_PORT", 1);
    if (port > 65535)
        throw_bootstrap(std::string(port_variable) + "=" + std::to_string(port) +
                        " is not a port; ports end at 65535.");
    const HostPort address{environment.master_addr, std::to_string(port)};
    return meet_by(settings, connect(settings, address, port_variable, pe, n_pes));
}

}  // namespace atl::bootstrap
