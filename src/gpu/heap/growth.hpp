// Sizes by which heaps of a GPU grow.
#pragma once

#include <algorithm>
#include <cstddef>

namespace atl::gpu {

constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// The memory that a heap takes ahead of need: a quarter of the present size, at most 128 MiB. So many small
/// blocks do not become as many chunks.
constexpr std::size_t ahead_of_need(std::size_t taken_bytes, std::size_t granule) {
    return round_up(std::min(taken_bytes / 4, std::size_t{128} << 20), granule);
}

}  // namespace atl::gpu
