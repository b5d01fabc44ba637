// LocalAddress: the abstract address of a unix socket, and the user at a socket's other end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

namespace atl::common {

/// An address in the abstract namespace: it has no file, and vanishes with its socket. Every user sees it.
class LocalAddress {
  public:
    explicit LocalAddress(std::string_view name) noexcept {
        unix_.sun_family = AF_UNIX;
        const std::size_t length = std::min(name.size(), sizeof unix_.sun_path - 1);
        std::memcpy(unix_.sun_path + 1, name.data(), length);
        size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    }
    const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&unix_); }
    socklen_t size() const noexcept { return size_; }

  private:
    sockaddr_un unix_{};
    socklen_t size_;
};

/// The user of the process at the other end of a connected unix socket; (uid_t)-1, which no user has, if it
/// is not known.
inline uid_t user_of(int socket) noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    constexpr auto unknown = static_cast<uid_t>(-1);
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.uid : unknown;
}

}  // namespace atl::common
