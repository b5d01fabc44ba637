// Where PEs are connected by some store already: do they share a host, and if so, under which id do they meet
// there?
#pragma once

#include <string>

#include "atoll/job.hpp"

namespace atl::bootstrap {

/// What differs between hosts, and between network namespaces of one host, where abstract sockets do not
/// reach.
std::string host_identity();

/// Collective. The unique id that PE 0 made. Throws Error(unsupported) on every PE if `host` differs between
/// two.
std::string meet(const JobOptions::Store& store, int pe, int n_pes,
                 const std::string& host = host_identity());

}  // namespace atl::bootstrap
