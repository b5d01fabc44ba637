// Sizes by which heaps of a GPU grow.
#pragma once

#include "memory/round_up.hpp"

#include <algorithm>
#include <cstddef>

namespace atl::gpu {

/// The memory that a heap takes ahead of need: a quarter of the present size, at most 128 MiB. So many small
/// blocks do not become as many chunks.
constexpr std::size_t ahead_of_need(std::size_t taken_bytes, std::size_t granule) {
    return memory::round_up(std::min(taken_bytes / 4, std::size_t{128} << 20), granule);
}

}  // namespace atl::gpu
