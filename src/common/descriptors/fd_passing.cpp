#include "common/descriptors/fd_passing.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <system_error>

#include "atoll/error.hpp"

namespace atl::common {
namespace {

/// Room for the control message, aligned as the kernel wants it.
struct alignas(cmsghdr) ControlSpace {
    char bytes[CMSG_SPACE(sizeof(int) * max_passed_fds)] = {};
};

}  // namespace

ssize_t send_with_fds(int socket, const void* data, std::size_t bytes, std::span<const int> fds,
                      int flags) noexcept {
    iovec part{const_cast<void*>(data), bytes};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlSpace control;
    if (!fds.empty()) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    ssize_t sent = 0;
    do sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t receive_with_fds(int socket, void* data, std::size_t bytes, std::vector<Fd>& fds, int flags) {
    iovec part{data, bytes};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlSpace control;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    ssize_t received = 0;
    do received = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return received;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
            fds.emplace_back(fd);
        }
    }
    return received;
}

std::pair<Fd, Fd> socket_pair(int type) {
    int ends[2];
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(ErrorCode::system,
                    "A pair of sockets could not be made: " + std::generic_category().message(errno) +
                        "; see `ulimit -n` if descriptors ran out.");
    return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace atl::common
