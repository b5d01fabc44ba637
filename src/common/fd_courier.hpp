// Descriptors from process to process of one host, at any time of a job: each has a datagram socket with a
// random name, which it tells the others by whatever connects them.
#pragma once

#include "common/fd.hpp"

#include <cstdint>
#include <optional>

namespace atl::common {

class FdCourier {
  public:
    /// Where a courier is found. Names of sockets can be seen by every user of the host, tokens cannot: what
    /// comes without the right one is thrown away.
    struct Address {
        std::uint64_t name = 0;
        std::uint64_t token = 0;
    };
    struct Parcel {
        std::uint64_t tag = 0;
        int sender = -1;
        Fd fd;
    };

    FdCourier();
    const Address& address() const { return address_; }

    /// False: the receiver has not fetched earlier parcels yet. Throws Error(system).
    bool send(const Address& to, int sender, std::uint64_t tag, const Fd& fd) const;
    /// Never waits.
    std::optional<Parcel> receive() const;

  private:
    Address address_;
    Fd socket_;
};

}  // namespace atl::common
