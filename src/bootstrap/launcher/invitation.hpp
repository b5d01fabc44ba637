// The value of ATOLL_JOIN, for a PE of `atoll run --hosts`: the address of the launcher's store, and the PE's
// number.
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
    /// Throws Error(bootstrap) for the text of another release, and for a malformed text.
    static Invitation parse(const std::string& text);
};

}  // namespace atl::bootstrap
