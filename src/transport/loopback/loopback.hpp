// The reference transport: every operation is queued and carried out, in the order that is most likely to
// show a missing fence or quiet, by loads and stores into memory that `base_of` names.
#pragma once

#include "transport/transport.hpp"

#include <functional>

namespace atl::transport {

/// `base_of(pe)` is where the heap of `pe` is mapped here. Thread-safe per context like every transport.
std::unique_ptr<Transport> create_loopback(int n_pes, std::function<char*(int pe)> base_of);

}  // namespace atl::transport
