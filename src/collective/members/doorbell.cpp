#include "collective/members/doorbell.hpp"

#include "atoll/error.hpp"
#include "common/descriptors/local_socket.hpp"
#include "common/hashes/hmac.hpp"
#include "common/log.hpp"

#include <cerrno>

namespace atl::far {
namespace {

/// Limit of rings that one clear() reads: any process of this host may ring. Rings beyond it wake once more.
constexpr int most_rings = 1024;

}  // namespace

Doorbell::Doorbell()
    : name_("atoll-" + common::random_digits(8)),
      fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const common::LocalAddress own(name_);
    if (!fd_ || ::bind(fd_.get(), own.get(), own.size()) != 0)
        throw Error(ErrorCode::system, "Making a socket for the ranks of this host failed: " +
                                           common::errno_text(errno) + ". `ulimit -n` limits descriptors.");
}

bool Doorbell::clear() const noexcept {
    char byte = 0;
    int n = 0;
    while (n < most_rings && ::recv(fd_.get(), &byte, 1, 0) >= 0) ++n;
    return n > 0;
}

bool Doorbell::ring(const char* name) const noexcept {
    const common::LocalAddress other(name);
    const char byte = 1;
    // A full queue rings, too.
    return ::sendto(fd_.get(), &byte, 1, MSG_NOSIGNAL, other.get(), other.size()) >= 0 || errno == EAGAIN;
}

}  // namespace atl::far
