// Where PEs exchange small values already, by whatever started them: do they share a host, and where do they
// meet?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "atoll/job.hpp"
#include "bootstrap/bootstrap.hpp"

namespace atl::bootstrap {

/// What differs between hosts, and between network namespaces of one host, where abstract sockets do not
/// reach.
std::string host_identity();
bool share_a_host(const std::vector<std::string>& identities);

/// How PEs that something else started exchange values.
struct Exchange {
    int pe = 0, n_pes = 1;
    /// Every PE's value, by PE; collective.
    std::function<std::vector<std::string>(const std::string& value)> allgather;
    /// PE 0's value; collective. Empty: by allgather.
    std::function<std::string(const std::string& value)> first;
};
/// By a store's put and get: PE 0 reads all, the others what PE 0 has made of it.
Exchange exchange_by(const JobOptions::Store& store, int pe, int n_pes);

/// By a launcher's client: `publish` is collective and makes this PE's value known, `value_of` reads
/// another's last one. The client must outlive the exchange.
template <class Client> Exchange exchange_through(Client& client) {
    const auto all = [&client](const std::string& value) {
        client.publish(value);
        std::vector<std::string> values;
        for (int pe = 0; pe < client.n_pes(); ++pe) values.push_back(client.value_of(pe));
        return values;
    };
    const auto first = [&client](const std::string& value) {
        client.publish(value);
        return client.value_of(0);
    };
    return {client.pe(), client.n_pes(), all, first};
}

/// Collective, three exchanges at most: a host link where all PEs share a host, else a net link to PE 0.
/// `identity` is the host's.
std::unique_ptr<Bootstrap> meet(const common::Settings& settings, const Exchange& exchange,
                                std::string_view name, const std::string& identity = host_identity());

}  // namespace atl::bootstrap
