// What a PE of `atoll run --hosts` is told by ATOLL_JOIN: where the launcher's store is, and which PE it is.
#pragma once

#include <string>

namespace atl::bootstrap {

struct Invitation {
    static constexpr const char* variable = "ATOLL_JOIN";

    int pe = 0;
    int n_pes = 0;
    int port = 0;
    std::string secret;
    std::string addresses;  ///< of the launcher's host, separated by commas

    /// "VERSION PE N_PES PORT SECRET ADDRESSES"
    std::string text() const;
    /// Throws Error(bootstrap) for what another release wrote, and for what is no such text.
    static Invitation parse(const std::string& text);
};

}  // namespace atl::bootstrap
