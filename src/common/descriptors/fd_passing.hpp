// Passes descriptors between processes over unix sockets (SCM_RIGHTS), without a name in any file system.
#pragma once

#include <cstddef>
#include <span>
#include <sys/types.h>
#include <vector>

#include "common/descriptors/fd.hpp"

namespace atl::common {

/// Most descriptors that one message carries.
inline constexpr std::size_t max_passed_fds = 8;

/// Like send(2) and recv(2), with descriptors beside the bytes; on a stream they arrive with the first byte.
/// Sending raises no SIGPIPE; received descriptors have FD_CLOEXEC. Both retry when a signal interrupts.
ssize_t send_with_fds(int socket, const void* data, std::size_t bytes, std::span<const int> fds,
                      int flags = 0) noexcept;
ssize_t receive_with_fds(int socket, void* data, std::size_t bytes, std::vector<Fd>& fds, int flags = 0);

/// A connected pair of unix sockets of `type` (SOCK_STREAM, SOCK_SEQPACKET), both FD_CLOEXEC. Throws
/// Error(system).
std::pair<Fd, Fd> socket_pair(int type);

}  // namespace atl::common
