// Messages between members that share no memory. The ring of cells stands in the sender's arena, as any
// channel's; the sender puts the number of cells that are ready into a letter on the receiver's host, the
// receiver gets the cells and puts back how many it has taken.
#pragma once

#include "collective/channel.hpp"
#include "core/spread.hpp"

namespace atl::collective {

/// Tells `pe` that cells up to `cells` are ready; with the first, where the channel is. Throws
/// Error(unsupported) in teams with too many members for letters.
void post_letter(core::TeamState& team, int pe, const Channel* channel, std::uint32_t cells);

/// What `pe` last told this PE: how many cells are ready. Looks at the transport too.
std::uint32_t read_letter(core::TeamState& team, int pe);

/// Brings cell number `i` of `pe`'s ring here.
void fetch_cell(core::TeamState& team, int pe, std::uint32_t i, Cell& cell);

/// Tells `pe` how many of its cells are taken.
void return_cells(core::TeamState& team, int pe, std::uint32_t taken);

}  // namespace atl::collective
