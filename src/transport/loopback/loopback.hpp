// The reference transport. It queues every operation and carries it out by loads and stores into memory given
// by `base_of`. Its order of delivery is the one most likely to expose a missing fence or quiet.
#pragma once

#include "transport/transport.hpp"

#include <functional>

namespace atl::transport {

/// `base_of(pe)` returns the address at which the heap of `pe` is mapped here. Thread-safe per context, like
/// every transport.
std::unique_ptr<Transport> create_loopback(int n_pes, std::function<char*(int pe)> base_of);

}  // namespace atl::transport
