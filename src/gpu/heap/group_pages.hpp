// GroupPages: a team's memory for collectives on streams, in every member's device heap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace atl::gpu {

/// A run of pages, at the same offset on all members.
struct GroupPages {
    static constexpr std::size_t page_bytes = std::size_t{32} << 10;
    static constexpr unsigned all = 64;
    static constexpr std::size_t all_bytes = all * page_bytes;
    std::uint64_t bits = 0;    ///< 0: the team has no such memory
    unsigned words_bytes = 0;  ///< its part for messages: more is faster

    unsigned first() const { return static_cast<unsigned>(std::countr_zero(bits)); }
    unsigned count() const { return static_cast<unsigned>(std::popcount(bits)); }
};

/// Selects the pages of a new team of `n_pes` from those that all of its members offer: more if many are
/// free. The result is the same on all members.
GroupPages group_pages_for(int n_pes, std::uint64_t offered);
/// Size of the fewest pages with which a team can make collectives on streams.
std::size_t fewest_pages_bytes(int n_pes);

}  // namespace atl::gpu
