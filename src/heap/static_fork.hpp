// A forked child of a program whose static data are shared memory gets its own copy of them, as of any other
// memory.
#pragma once

#include "heap/static_data.hpp"

namespace atl::heap {

/// Notes where the segments will be shared: at `offset` of `fd`.
void prepare_for_forks(const StaticData& data, int fd, std::size_t offset);
/// From now on they are shared, so children need a copy.
void isolate_forks();

}  // namespace atl::heap
