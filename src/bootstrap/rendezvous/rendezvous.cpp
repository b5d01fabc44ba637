#include "bootstrap/rendezvous/rendezvous.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sys/socket.h>

#include "bootstrap/fail.hpp"
#include "bootstrap/rendezvous/host_link.hpp"
#include "bootstrap/store/net_link.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/hashes/hmac.hpp"
#include "common/text.hpp"

namespace atl::bootstrap {
namespace {

/// Encodes the addresses on which PE 0 listens for other hosts, as one value.
std::string encode_endpoint(int port, const std::string& secret, const std::vector<std::string>& addresses) {
    std::string text = std::to_string(port) + " " + secret;
    constexpr std::size_t most_addresses = 8;  // the values of some launchers are short
    for (std::size_t i = 0; i < std::min(addresses.size(), most_addresses); ++i) text += " " + addresses[i];
    return text;
}

std::string first_of(const Exchange& exchange, const std::string& value) {
    return exchange.first ? exchange.first(value) : exchange.allgather(value)[0];
}

std::unique_ptr<Bootstrap> meet_across_hosts(const common::Settings& settings, const Exchange& exchange,
                                             std::string_view name) {
    constexpr std::size_t secret_bytes = 16;
    Link link;
    link.pe = exchange.pe;
    link.n_pes = exchange.n_pes;
    common::Fd listener;
    std::string endpoint;
    if (link.pe == 0) {
        // A failure of PE 0 is sent to all, so that no PE connects to a PE 0 that has given up.
        try {
            listener = listen_anywhere(settings.port, "PE 0");
            endpoint = encode_endpoint(port_of(listener.get()), common::random_digits(secret_bytes),
                                       own_addresses(settings));
        } catch (const Error& error) {
            endpoint = std::string("!") + error.what();
        }
    }
    endpoint = first_of(exchange, endpoint);
    if (endpoint.starts_with('!')) throw_bootstrap(endpoint.substr(1));
    std::vector<std::string> parts = common::words_of(endpoint);
    if (parts.size() < 3)
        throw_bootstrap(
            "PE 0's host has no network interface that is up, so PEs of other hosts cannot reach it.");
    const int port = std::atoi(parts[0].c_str());
    const std::string secret = parts[1];
    const std::vector<std::string> addresses(parts.begin() + 2, parts.end());
    StoreClient::Connect attempt = connect_to_any(addresses, port);
    if (link.pe == 0) {
        auto [mine, theirs] = common::socket_pair(SOCK_STREAM);
        std::vector<StoreServer::Listener> listeners;
        listeners.push_back({std::move(listener), false});
        link.server = std::make_unique<StoreServer>(std::move(listeners), std::move(theirs),
                                                    server_options(settings, link.n_pes, secret));
        attempt = [fd = std::make_shared<common::Fd>(std::move(mine))] { return std::move(*fd); };
    }
    link.client = std::make_unique<StoreClient>(attempt, addresses_text(addresses, port),
                                                identity_of(settings, link.pe, link.n_pes, secret),
                                                settings.init_timeout_s);
    return create_net_link(settings, std::move(link), name);
}

}  // namespace

Exchange exchange_by(const JobOptions::Store& store, int pe, int n_pes) {
    return {pe,
            n_pes,
            [store, pe, n_pes, round = 0](const std::string& value) mutable {
                const std::string key = "atoll/" + std::to_string(round++) + "/";
                // PE 0's value is part of the combined value.
                if (pe > 0) store.put(key + std::to_string(pe), value);
                if (pe == 0) {
                    std::vector<std::string> values{value};
                    for (int other = 1; other < n_pes; ++other)
                        values.push_back(store.get(key + std::to_string(other)));
                    store.put(key + "all", pack(values));
                    return values;
                }
                return unpack(store.get(key + "all"), n_pes);
            },
            {}};
}

std::unique_ptr<Bootstrap> meet(const common::Settings& settings, const Exchange& exchange,
                                std::string_view name, const std::string& identity) {
    if (!share_a_host(exchange.allgather(identity))) return meet_across_hosts(settings, exchange, name);
    const std::string id = first_of(exchange, exchange.pe == 0 ? make_unique_id() : "");
    return create_host_link(settings, id, exchange.pe, exchange.n_pes, name);
}

}  // namespace atl::bootstrap
