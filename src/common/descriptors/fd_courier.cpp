#include "common/descriptors/fd_courier.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "atoll/error.hpp"
#include "common/descriptors/fd_passing.hpp"

namespace atl::common {

namespace {

struct Letter {
    std::uint64_t token;
    std::uint64_t tag;
    std::int64_t sender;
};

[[noreturn]] void fail(const char* what) {
    throw Error(ErrorCode::system, std::string(what) + ": " + std::generic_category().message(errno) + ".");
}

Fd make_socket() {
    Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) fail("A unix socket could not be made");
    return fd;
}

/// Calls bind or connect with an abstract name: it is in no file system and ends with its socket.
template <class Call> int with_address(std::uint64_t name, Call&& call) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "atoll-fd-%016llx",
                                     static_cast<unsigned long long>(name));
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
    return call(reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace

FdCourier::FdCourier() : socket_(make_socket()) {
    if (::getrandom(&address_, sizeof address_, 0) != static_cast<ssize_t>(sizeof address_))
        fail("No random bytes for the name of a socket");
    if (with_address(address_.name, [&](auto... at) { return ::bind(socket_.get(), at...); }) != 0)
        fail("A socket that descriptors come by could not be named");
}

bool FdCourier::send(const Address& to, int sender, std::uint64_t tag, const Fd& fd) const {
    const Fd line = make_socket();
    if (with_address(to.name, [&](auto... at) { return ::connect(line.get(), at...); }) != 0)
        fail("Another PE's socket for descriptors cannot be reached (PEs in different network namespaces?)");
    const Letter letter{to.token, tag, sender};
    const int passed = fd.get();
    if (send_with_fds(line.get(), &letter, sizeof letter, {&passed, 1}) == sizeof letter) return true;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS) return false;
    fail("A descriptor could not be sent to another PE");
}

std::optional<FdCourier::Parcel> FdCourier::receive() const {
    for (;;) {
        Letter letter{};
        std::vector<Fd> fds;
        const ssize_t bytes = receive_with_fds(socket_.get(), &letter, sizeof letter, fds, MSG_DONTWAIT);
        if (bytes < 0) return std::nullopt;
        const bool right = bytes == static_cast<ssize_t>(sizeof letter) && letter.token == address_.token;
        if (right && fds.size() == 1)
            return Parcel{letter.tag, static_cast<int>(letter.sender), std::move(fds[0])};
    }
}

}  // namespace atl::common
