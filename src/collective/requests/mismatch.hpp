// Mismatch: the report of two members in different collectives. It waits briefly for the place of the other
// member's call, without blocking.
#pragma once

#include "collective/requests/rounds.hpp"

#include <cstdint>
#include <string>

namespace atl::requests {

class Mismatch {
  public:
    explicit Mismatch(Members& members) : members_(members) {}

    /// The error's text once both places are known, or the other's is late; empty until then. The first call
    /// publishes the place of `request`, this member's call.
    std::string text(const Rounds::Difference& difference, const Request& request);

  private:
    void publish(const std::string& site, std::uint32_t number);
    bool is_sited(const Rounds::Difference& difference) const;

    Members& members_;
    std::string site_;
    std::uint64_t until_ns_ = 0;  ///< 0: not begun
};

}  // namespace atl::requests
