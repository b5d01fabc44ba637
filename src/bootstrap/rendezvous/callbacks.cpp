// A job of PEs that the program connects itself, through its callbacks.
#include <algorithm>
#include <cstdint>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"

namespace atl::bootstrap {
namespace {

/// Allgathers values of any length through a callback that gathers values of equal length.
std::vector<std::string> allgather(const JobOptions::Callbacks& callbacks, int n_pes,
                                   const std::string& value) {
    const auto count = static_cast<std::size_t>(n_pes);
    const std::uint64_t mine = value.size();
    std::vector<std::uint64_t> sizes(count);
    callbacks.allgather(&mine, sizeof mine, sizes.data());
    const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
    std::string padded = value, all(most * count, '\0');
    padded.resize(most);
    if (most > 0) callbacks.allgather(padded.data(), most, all.data());
    std::vector<std::string> values;
    for (std::size_t pe = 0; pe < count; ++pe)
        values.push_back(all.substr(pe * most, static_cast<std::size_t>(sizes[pe])));
    return values;
}

}  // namespace

std::unique_ptr<Bootstrap> create_callbacks(const common::Settings& settings,
                                            const JobOptions::Callbacks& callbacks, int pe, int n_pes) {
    if (!callbacks.allgather)
        throw Error(ErrorCode::invalid_argument, "The callbacks given to init lack allgather.");
    const Exchange exchange{
        pe, n_pes, [&](const std::string& value) { return allgather(callbacks, n_pes, value); }, {}};
    std::unique_ptr<Bootstrap> bootstrap = meet(settings, exchange, "callbacks");
    if (callbacks.barrier) callbacks.barrier();
    if (callbacks.abort) bootstrap->also_abort_by(callbacks.abort);
    return bootstrap;
}

}  // namespace atl::bootstrap
