// The value of ATOLL_JOIN, for a PE of `atoll run --hosts`: the address of the launcher's store, and the PE's
// number.
#pragma once

#include <string>
#include <vector>

#include "bootstrap/host/host_segment.hpp"

namespace atl::bootstrap {

struct Invitation {
    static constexpr const char* variable = "ATOLL_JOIN";
    static constexpr int version = 2;  ///< version of its text, apart from the protocol of PEs on one host

    int pe = 0;
    int n_pes = 0;
    int port = 0;
    std::string secret;
    std::string addresses;  ///< addresses of the launcher's host, separated by commas
    BoardLogs logs;         ///< for a trace
    /// An inherited SOCK_SEQPACKET socket, to which the PE sends a packet "J" with the descriptor of its
    /// host's board; -1: the agent needs none.
    int agent = -1;

    std::vector<std::string> address_list() const;

    /// Returns a text such as "VERSION PE N_PES PORT SECRET ADDRESSES LOG_EVENTS LOG_MOVES AGENT"
    std::string text() const;
    /// Throws Error(bootstrap) for the text of another release, and for a malformed text.
    static Invitation parse(const std::string& text);
};

}  // namespace atl::bootstrap
