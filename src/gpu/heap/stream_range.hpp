// StreamRange: a team's memory for collectives on streams, in every member's device heap.
#pragma once

#include "gpu/kernel_ranges.hpp"

#include <cstdint>

namespace atl::gpu {

/// A range at the same offset on all members.
struct StreamRange {
    std::uint64_t offset = KernelRanges::none;  ///< none: the team has no such memory
    unsigned words_bytes = 0;                   ///< its part for messages: more is faster

    explicit operator bool() const { return offset != KernelRanges::none; }
};

/// Size of a team's range, with so many bytes for messages.
std::uint64_t stream_range_bytes(int n_pes, unsigned words_bytes);
/// The fewest bytes for messages with which a team can make collectives on streams.
unsigned fewest_words_bytes(int n_pes);
/// The bytes for messages of a new team; they grow with `free_bytes`, the rest of the memory.
unsigned words_bytes_for(int n_pes, std::uint64_t free_bytes);

}  // namespace atl::gpu
