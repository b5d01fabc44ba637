// FdChannel: passes descriptors between processes of one host at any time of a job. Each has a datagram
// socket with a random name, which it publishes by any other connection.
#pragma once

#include "common/descriptors/fd.hpp"

#include <cstdint>
#include <optional>

namespace atl::common {

class FdChannel {
  public:
    /// The address of a channel. Socket names are visible to every user of the host, tokens are not: messages
    /// without the right token are discarded.
    struct Address {
        std::uint64_t name = 0;
        std::uint64_t token = 0;
    };
    struct Received {
        std::uint64_t tag = 0;
        int sender = -1;
        Fd fd;
    };

    FdChannel();
    const Address& address() const { return address_; }

    /// Sends a descriptor. Returns false if the receiver has not fetched earlier messages yet. Throws
    /// Error(system).
    bool send(const Address& to, int sender, std::uint64_t tag, const Fd& fd) const;
    /// Returns the next message, if one has arrived. Never waits.
    std::optional<Received> receive() const;

  private:
    Address address_;
    Fd socket_;
};

}  // namespace atl::common
