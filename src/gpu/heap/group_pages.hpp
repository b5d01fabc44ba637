// GroupPages: a team's memory for collectives on streams, in every member's device heap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace atl::core {
class TeamState;
}  // namespace atl::core

namespace atl::gpu {

/// A run of pages, at the same offset on all members.
struct GroupPages {
    static constexpr std::size_t page_bytes = std::size_t{32} << 10;
    static constexpr unsigned all = 64;
    std::uint64_t bits = 0;    ///< 0: the team has no such memory
    unsigned words_bytes = 0;  ///< its part for messages: more is faster

    unsigned first() const { return static_cast<unsigned>(std::countr_zero(bits)); }
    unsigned count() const { return static_cast<unsigned>(std::popcount(bits)); }
};

/// Selects a new team's pages from those that all of its members offer: by its number of PEs, and more if
/// many are free. The result is the same on all members.
GroupPages group_pages_for(const core::TeamState& team, std::uint64_t offered);

}  // namespace atl::gpu
