#include "common/descriptors/fd_channel.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "atoll/error.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/descriptors/local_socket.hpp"

namespace atl::common {

namespace {

struct Datagram {
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

LocalAddress address_of(std::uint64_t number) {
    char name[32];
    std::snprintf(name, sizeof name, "atoll-fd-%016llx", static_cast<unsigned long long>(number));
    return LocalAddress(name);
}

}  // namespace

FdChannel::FdChannel() : socket_(make_socket()) {
    if (::getrandom(&address_, sizeof address_, 0) != static_cast<ssize_t>(sizeof address_))
        fail("No random bytes for the name of a socket");
    const LocalAddress address = address_of(address_.name);
    if (::bind(socket_.get(), address.get(), address.size()) != 0)
        fail("A socket that descriptors come by could not be named");
}

bool FdChannel::send(const Address& to, int sender, std::uint64_t tag, const Fd& fd) const {
    const Fd line = make_socket();
    const LocalAddress address = address_of(to.name);
    if (::connect(line.get(), address.get(), address.size()) != 0)
        fail("Another PE's socket for descriptors cannot be reached (PEs in different network namespaces?)");
    const Datagram datagram{to.token, tag, sender};
    const int passed = fd.get();
    if (send_with_fds(line.get(), &datagram, sizeof datagram, {&passed, 1}) == sizeof datagram) return true;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS) return false;
    fail("A descriptor could not be sent to another PE");
}

std::optional<FdChannel::Received> FdChannel::receive() const {
    for (;;) {
        Datagram datagram{};
        std::vector<Fd> fds;
        const ssize_t bytes = receive_with_fds(socket_.get(), &datagram, sizeof datagram, fds, MSG_DONTWAIT);
        if (bytes < 0) return std::nullopt;
        const bool right = bytes == static_cast<ssize_t>(sizeof datagram) && datagram.token == address_.token;
        if (right && fds.size() == 1)
            return Received{datagram.tag, static_cast<int>(datagram.sender), std::move(fds[0])};
    }
}

}  // namespace atl::common
