// Finds out whether PEs share a host and where they meet. They exchange values through the system that
// started them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "atoll/job_values.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/host/host_identity.hpp"

namespace atl::bootstrap {

/// How PEs that another system started exchange values.
struct Exchange {
    int pe = 0, n_pes = 1;
    /// Every PE's value, by PE; collective.
    std::function<std::vector<std::string>(const std::string& value)> allgather;
    /// PE 0's value; collective. If empty, allgather is used.
    std::function<std::string(const std::string& value)> first;
};
/// An exchange by a store's put and get: PE 0 reads all values, and the others read the combined value.
Exchange exchange_by(const JobOptions::Store& store, int pe, int n_pes);

/// An exchange by a launcher's client. `publish` is collective and makes this PE's value known; `value_of`
/// reads the last value of another PE. The client must outlive the exchange.
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

/// Connects the PEs: a host link if all share a host, else a net link to PE 0. Collective, at most three
/// exchanges. `identity` is the host's.
std::unique_ptr<Bootstrap> meet(const common::Settings& settings, const Exchange& exchange,
                                std::string_view name, const std::string& identity = host_identity());

}  // namespace atl::bootstrap
