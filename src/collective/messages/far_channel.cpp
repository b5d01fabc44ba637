#include "collective/messages/far_channel.hpp"

#include "atoll/error.hpp"

namespace atl::collective {

using Notification = core::SpreadBlock::Notification;

void notify(core::TeamState& team, int pe, const Channel* channel, std::uint32_t cells) {
    const core::Spread& spread = *team.spread();
    if (!spread.has_inbox(pe))
        throw Error(ErrorCode::unsupported, "send to PE " + std::to_string(team.world_pe(pe)) +
                                                " on another host: " + team.name() +
                                                " has too many members for messages between hosts; use "
                                                "put_signal, or a smaller team.");
    const int keeper = spread.first_of_part(pe);
    const std::uint64_t offset = spread.notification_offset(pe, team.my_pe());
    if (cells == 1) {
        const std::uint64_t where = team.job().arena().offset(channel) + 1;
        spread.put(keeper, offset + offsetof(Notification, channel), &where, sizeof where);
    }
    // The numbers only grow, so an older one must not arrive after a newer one.
    spread.order(keeper);
    spread.put(keeper, offset + offsetof(Notification, cells), &cells, sizeof cells,
               transport::Completion::unconfirmed);
    spread.transport().progress();
}

std::uint32_t read_notification(core::TeamState& team, int pe) {
    const core::Spread& spread = *team.spread();
    if (!spread.has_inbox(team.my_pe())) return 0;
    spread.transport().progress();
    return spread.my_notification(pe).cells.load(std::memory_order_acquire);
}

void fetch_cell(core::TeamState& team, int pe, std::uint32_t i, Cell& cell) {
    const core::Spread& spread = *team.spread();
    const std::uint64_t channel = spread.my_notification(pe).channel - 1;
    spread.get(pe, channel + core::line_bytes + i * sizeof(Cell), &cell, sizeof cell);
    spread.complete();
}

void return_cells(core::TeamState& team, int pe, std::uint32_t taken) {
    const core::Spread& spread = *team.spread();
    spread.order(pe);
    spread.put(pe, spread.my_notification(pe).channel - 1 + offsetof(Channel, taken), &taken, sizeof taken,
               transport::Completion::unconfirmed);
    spread.transport().progress();
}

}  // namespace atl::collective
