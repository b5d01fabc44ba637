// Messages between members that share no memory. The ring of cells is in the sender's arena, like that of any
// channel. The sender puts the number of ready cells into a notification on the receiver's host. The receiver
// gets the cells and puts back the number taken.
#pragma once

#include "collective/messages/channel.hpp"
#include "core/team/spread.hpp"

namespace atl::collective {

/// Tells `pe` that cells up to `cells` are ready. The first notification also contains the channel's address.
/// Throws Error(unsupported) in teams with too many members for notifications.
void notify(core::TeamState& team, int pe, const Channel* channel, std::uint32_t cells);

/// The number of ready cells that `pe` last reported. Makes progress on the transport too.
std::uint32_t read_notification(core::TeamState& team, int pe);

/// Gets cell number `i` of `pe`'s ring.
void fetch_cell(core::TeamState& team, int pe, std::uint32_t i, Cell& cell);

/// Tells `pe` the number of its cells that are taken.
void return_cells(core::TeamState& team, int pe, std::uint32_t taken);

}  // namespace atl::collective
