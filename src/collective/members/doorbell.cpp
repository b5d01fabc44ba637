#include "collective/members/doorbell.hpp"

#include "atoll/error.hpp"
#include "common/log.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <sstream>

namespace atl::far {
namespace {

struct Address {
    sockaddr_un address{};
    socklen_t bytes = 0;
};

/// A name that starts with a null byte is in no file system, and goes with its socket.
Address address_of(const char* name) {
    Address of;
    of.address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(name);
    std::memcpy(of.address.sun_path + 1, name, length);
    of.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return of;
}

/// Bounds one clear(): any process of this host may ring. What is left wakes once more.
constexpr int most_rings = 1024;

std::string new_name() {
    std::random_device random;
    std::ostringstream name;
    name << "atoll-" << std::hex << random() << random();
    return name.str();
}

}  // namespace

Doorbell::Doorbell()
    : name_(new_name()), fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const Address own = address_of(name_.c_str());
    if (!fd_ || ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own.address), own.bytes) != 0)
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
    const Address other = address_of(name);
    const char byte = 1;
    const auto* const address = reinterpret_cast<const sockaddr*>(&other.address);
    // A full queue rings, too.
    return ::sendto(fd_.get(), &byte, 1, MSG_NOSIGNAL, address, other.bytes) >= 0 || errno == EAGAIN;
}

}  // namespace atl::far
