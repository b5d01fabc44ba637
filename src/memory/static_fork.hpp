// Private copies of shared static data for forked children, like any other memory of theirs.
#pragma once

#include "memory/static_data.hpp"

namespace atl::memory {

/// Registers segments that will be shared: at `offset` of `fd`.
void prepare_for_forks(const StaticData& data, int fd, std::size_t offset);
/// Declares the registered segments shared. From now on a forked child gets its own copy of them.
void isolate_forks();

}  // namespace atl::memory
