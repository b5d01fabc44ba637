// A PE of `atoll run --hosts`: its host's agent left it where the launcher's store is. ATOLL_JOIN is
// "VERSION PE N_PES PORT SECRET ADDRESS,ADDRESS".
#include <sstream>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/launch_protocol.hpp"
#include "bootstrap/net_link.hpp"
#include "common/job_environment.hpp"

namespace atl::bootstrap {

std::unique_ptr<Bootstrap> create_joined(const common::Settings& settings, const std::string& variable) {
    std::istringstream words(variable);
    int version = 0, port = 0;
    Link link;
    std::string secret, list;
    words >> version;
    if (words && version != protocol_version)
        throw_bootstrap("The `atoll` that started this program speaks version " + std::to_string(version) +
                        " of the launcher's protocol, this library version " +
                        std::to_string(protocol_version) + "; use one release on all hosts.");
    if (!(words >> link.pe >> link.n_pes >> port >> secret >> list) || link.n_pes < 1 || link.pe < 0 ||
        link.pe >= link.n_pes)
        throw_bootstrap("ATOLL_JOIN is not what `atoll run --hosts` sets; unset it.");
    std::vector<std::string> addresses(1);
    for (const char c : list) {
        if (c == ',')
            addresses.emplace_back();
        else
            addresses.back() += c;
    }
    common::forget_join();
    link.client = std::make_unique<StoreClient>(
        connect_to_any(addresses, port), places_text(addresses, port) + ", where `atoll run` was started",
        identity_of(settings, link.pe, link.n_pes, secret), settings.init_timeout_s);
    return create_net_link(settings, std::move(link), "launcher over hosts");
}

}  // namespace atl::bootstrap
