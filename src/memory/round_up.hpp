// Sizes and offsets as multiples.
#pragma once

#include <cstddef>

namespace atl::memory {

/// The smallest multiple of `to` that is at least `value`.
constexpr std::size_t round_up(std::size_t value, std::size_t to) noexcept {
    return (value + to - 1) / to * to;
}

}  // namespace atl::memory
