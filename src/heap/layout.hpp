// Where things stand in a PE's slot, and how the PEs of a host come to agree on it.
#pragma once

#include "common/board.hpp"
#include "common/settings.hpp"

#include <cstddef>

namespace atl::heap {

/// A slot is [heap | arena]: the user's symmetric heap from its start, the library's own shared memory behind
/// it.
struct Layout {
    std::size_t heap_bytes = 0;
    int stride_log2 = 0;

    std::size_t stride() const { return std::size_t{1} << stride_log2; }
    std::size_t arena_offset() const { return heap_bytes; }
    std::size_t arena_bytes() const { return stride() - heap_bytes; }
};

/// The smallest power of two that holds a heap of `heap_bytes` and the arena.
Layout layout_for(std::size_t heap_bytes);

/// The first PE to come writes its own settings' layout to the board, the others compare theirs with it.
/// Throws Error(settings) naming both PEs when limits differ.
Layout agree_on_layout(const common::BoardView& board, const common::Settings& settings, int pe, int n_pes);

}  // namespace atl::heap
