#include "bootstrap/launcher/invitation.hpp"

#include <sstream>

#include "bootstrap/fail.hpp"

namespace atl::bootstrap {

std::string Invitation::text() const {
    std::string words;
    for (const int number : {version, pe, n_pes, port}) words += std::to_string(number) + " ";
    words += secret + " " + addresses + " ";
    return words + std::to_string(logs.events) + (logs.moves ? " 1 " : " 0 ") + std::to_string(agent);
}

std::vector<std::string> Invitation::address_list() const {
    std::vector<std::string> list(1);
    for (const char c : addresses) {
        if (c == ',')
            list.emplace_back();
        else
            list.back() += c;
    }
    return list;
}

Invitation Invitation::parse(const std::string& text) {
    std::istringstream words(text);
    Invitation found;
    int theirs = 0;
    words >> theirs;
    if (words && theirs != version)
        throw_bootstrap("The `atoll` that started this program speaks version " + std::to_string(theirs) +
                        " of the launcher's protocol, this library version " + std::to_string(version) +
                        "; use one release on all hosts.");
    if (!(words >> found.pe >> found.n_pes >> found.port >> found.secret >> found.addresses >>
          found.logs.events >> found.logs.moves >> found.agent) ||
        found.n_pes < 1 || found.pe < 0 || found.pe >= found.n_pes)
        throw_bootstrap(std::string(variable) + " is not what `atoll run --hosts` sets; unset it.");
    return found;
}

}  // namespace atl::bootstrap
