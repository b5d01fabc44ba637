#include "bootstrap/launcher/invitation.hpp"

#include <sstream>

#include "bootstrap/fail.hpp"
#include "bootstrap/launcher/launch_protocol.hpp"

namespace atl::bootstrap {

std::string Invitation::text() const {
    std::string words;
    for (const int number : {protocol_version, pe, n_pes, port}) words += std::to_string(number) + " ";
    words += secret + " " + addresses + " ";
    return words + std::to_string(logs.events) + (logs.moves ? " 1 " : " 0 ") + std::to_string(agent);
}

Invitation Invitation::parse(const std::string& text) {
    std::istringstream words(text);
    Invitation found;
    int version = 0;
    words >> version;
    if (words && version != protocol_version)
        throw_bootstrap("The `atoll` that started this program speaks version " + std::to_string(version) +
                        " of the launcher's protocol, this library version " +
                        std::to_string(protocol_version) + "; use one release on all hosts.");
    if (!(words >> found.pe >> found.n_pes >> found.port >> found.secret >> found.addresses >>
          found.logs.events >> found.logs.moves >> found.agent) ||
        found.n_pes < 1 || found.pe < 0 || found.pe >= found.n_pes)
        throw_bootstrap(std::string(variable) + " is not what `atoll run --hosts` sets; unset it.");
    return found;
}

}  // namespace atl::bootstrap
