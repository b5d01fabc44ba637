// The layout of a PE's slot, and the agreement on it among the PEs of a host.
#pragma once

#include "common/board/board.hpp"
#include "common/settings/settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace atl::memory {

/// A slot is [heap | arena | statics]. The user's symmetric heap comes first, then the library's own shared
/// memory. At the end is room for the executable's static objects if these are symmetric.
struct Layout {
    std::size_t heap_bytes = 0;
    std::size_t statics_bytes = 0;
    int stride_log2 = 0;

    std::size_t stride() const { return std::size_t{1} << stride_log2; }
    std::size_t arena_offset() const { return heap_bytes; }
    std::size_t arena_bytes() const { return stride() - heap_bytes - statics_bytes; }
    std::size_t statics_offset() const { return stride() - statics_bytes; }
};

/// The smallest power of two that fits a heap of `heap_bytes`, the arena and the statics.
/// `team_bytes`: what the arena needs for teams in kernels beyond the default of ATOLL_TEAM_MEMORY.
Layout layout_for(std::size_t heap_bytes, std::size_t statics_bytes = 0, std::size_t team_bytes = 0);

/// The first PE writes the layout of its own settings to the board, the others compare theirs with it. Throws
/// Error(settings) naming both PEs if limits differ.
Layout agree_on_layout(const common::BoardView& board, const common::Settings& settings,
                       std::size_t statics_bytes, int pe, int n_pes);

/// The same for PEs without a common board. Each sends the others its `layout_note`, and compares with PE
/// 0's. Throws the same error on every PE that differs.
std::string layout_note(const common::Settings& settings, std::size_t statics_bytes, int n_pes);
Layout agree_on_layout(const std::vector<std::string>& notes, int pe);

}  // namespace atl::memory
