// Where things stand in a PE's slot, and how the PEs of a host come to agree on it.
#pragma once

#include "common/board.hpp"
#include "common/settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace atl::heap {

/// A slot is [heap | arena | statics]: the user's symmetric heap from its start, the library's own shared
/// memory behind it, and at its end room for the executable's static objects where these are symmetric.
struct Layout {
    std::size_t heap_bytes = 0;
    std::size_t statics_bytes = 0;
    int stride_log2 = 0;

    std::size_t stride() const { return std::size_t{1} << stride_log2; }
    std::size_t arena_offset() const { return heap_bytes; }
    std::size_t arena_bytes() const { return stride() - heap_bytes - statics_bytes; }
    std::size_t statics_offset() const { return stride() - statics_bytes; }
};

/// The smallest power of two that holds a heap of `heap_bytes`, the arena and the statics.
Layout layout_for(std::size_t heap_bytes, std::size_t statics_bytes = 0);

/// The first PE to come writes its own settings' layout to the board, the others compare theirs with it.
/// Throws Error(settings) naming both PEs when limits differ.
Layout agree_on_layout(const common::BoardView& board, const common::Settings& settings,
                       std::size_t statics_bytes, int pe, int n_pes);

/// The same where PEs have no common board: what each tells the others (`layout_note`), and the comparison
/// with PE 0's. Throws as above, on every PE that differs.
std::string layout_note(const common::Settings& settings, std::size_t statics_bytes, int n_pes);
Layout agree_on_layout(const std::vector<std::string>& notes, int pe);

}  // namespace atl::heap
