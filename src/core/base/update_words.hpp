// The words of update locks (core/sync/update_locks.hpp), a table in the arena of each PE.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::core {

using UpdateWord =
    std::atomic<std::uint32_t>;  ///< 0: free; 1 + the world PE that holds it; or `closed_updates`
inline constexpr std::size_t update_words = 1024;
inline constexpr std::uint32_t closed_updates = ~std::uint32_t{0};

/// The word of a block on this PE. Other PEs' words are at the same place of their slots.
inline UpdateWord* update_word(UpdateWord* table, std::uint64_t serial) noexcept {
    return table + serial % update_words;
}

}  // namespace atl::core
