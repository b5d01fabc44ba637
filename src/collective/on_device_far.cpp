// Collectives on device memory in teams whose GPUs do not all reach each other: the host's collectives, on
// copies in the host's memory.
#include "collective/halves.hpp"
#include "collective/on_device.hpp"

#include <algorithm>

namespace atl::collective {

namespace {

using core::DeviceMemory;
using core::GroupArguments;
using heap::Group;

/// Where copies of arrays stand: all of them in pinned memory, or in the host's.
class Room {
  public:
    Room(const DeviceMemory::Lane* lane, const std::vector<std::size_t>& arrays) {
        std::size_t bytes = 0;
        for (const std::size_t array : arrays) bytes += room_for(array);
        if (lane && bytes <= DeviceMemory::lane_pinned_bytes) {
            next_ = lane->pinned;
        } else {
            own_ = std::make_unique_for_overwrite<char[]>(bytes);
            next_ = own_.get();
        }
    }
    /// Null for no bytes.
    char* take(std::size_t bytes) {
        if (bytes == 0) return nullptr;
        char* const at = next_;
        next_ += room_for(bytes);
        return at;
    }

  private:
    static std::size_t room_for(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
    std::unique_ptr<char[]> own_;
    char* next_;
};

Team handle_of(core::TeamState& state) {
    return Team(std::shared_ptr<core::TeamState>(std::shared_ptr<void>(), &state));
}

void run_on_host(const Team& team, const GroupArguments& a, void* dst, const void* src) {
    const int n = team.n_pes();
    const std::size_t dst_bytes = a.dst_bytes(n), src_bytes = a.src_bytes(n);
    const std::size_t count = a.bytes / size_of(a.type);
    switch (a.kind) {
        case Group::sync:
            return team.sync();
        case Group::broadcast:
            return team.broadcast_bytes(dst, dst_bytes, src, src ? src_bytes : 0, a.root);
        case Group::fcollect:
            return team.fcollect_bytes(dst, dst_bytes, src, src_bytes);
        case Group::alltoall:
            return team.alltoall_bytes(dst, dst_bytes, src, src_bytes);
        case Group::gather:
            return team.gather_bytes(dst, dst ? dst_bytes : 0, src, src_bytes, a.root);
        case Group::scatter:
            return team.scatter_bytes(dst, dst_bytes, src, src ? src_bytes : 0, a.root);
        case Group::reduce:
            return team.reduce_scaled_erased(dst, src, count, a.type, a.op, a.scale);
        case Group::reduce_scatter:
            return team.reduce_scatter_scaled_erased(dst, count, src, src_bytes / size_of(a.type), a.type,
                                                     a.op, a.scale);
        case Group::reduce_part:  // a step of `reduce` that only streams make
            break;
    }
}

}  // namespace

bool is_far(const core::TeamState& team) {
    for (int i = 0; i < team.n_pes(); ++i)
        if (team.job().slot(team.world_pe(i)) < 0) return true;
    return false;
}

void run_by_host(core::TeamState& state, const GroupArguments& arguments, const DeviceMemory::Lane* lane) {
    const DeviceMemory& device = *state.job().device();
    const Team team = handle_of(state);
    const int me = team.my_pe(), n = team.n_pes();
    const bool reduces = arguments.kind == Group::reduce || arguments.kind == Group::reduce_scatter;
    const bool widens = reduces && is_half(arguments.type);
    const std::size_t src_bytes = arguments.reads(me) ? arguments.src_bytes(n) : 0;
    const std::size_t dst_bytes = arguments.writes(me) ? arguments.dst_bytes(n) : 0;
    GroupArguments on_host = arguments;
    if (widens) {
        on_host.bytes *= 2;
        on_host.type = DType::float32;
    }
    const std::size_t growth = widens ? 2 : 1;
    Room room(lane, {src_bytes * growth, dst_bytes * growth});
    char* const src = room.take(src_bytes * growth);
    char* const dst = room.take(dst_bytes * growth);
    if (src) {
        char* const copied = src + src_bytes * (growth - 1);
        device.copy(copied, arguments.src, src_bytes);
        if (widens) widen(src, copied, src_bytes / 2, arguments.type);
    }
    run_on_host(team, on_host, dst, src);
    if (!dst) return;
    if (widens) narrow(dst, dst, dst_bytes / 2, arguments.type);
    device.copy(arguments.dst, dst, dst_bytes);
}

void run_messages_by_host(core::TeamState& state, const std::vector<MessageGroup::Message>& messages,
                          const DeviceMemory::Lane& lane) {
    const DeviceMemory& device = *state.job().device();
    std::vector<std::size_t> sizes;
    for (const auto& m : messages) sizes.push_back(m.bytes);
    Room room(&lane, sizes);
    std::vector<char*> copies;
    MessageGroup group(handle_of(state));
    for (const auto& m : messages) {
        char* const copy = copies.emplace_back(room.take(m.bytes));
        if (!m.is_send)
            group.recv_bytes(copy, m.bytes, m.pe);
        else {
            if (copy) device.copy(copy, m.data, m.bytes);
            group.send_bytes(copy, m.bytes, m.pe);
        }
    }
    group.run();
    for (std::size_t i = 0; i < messages.size(); ++i)
        if (!messages[i].is_send && copies[i]) device.copy(messages[i].data, copies[i], messages[i].bytes);
}

}  // namespace atl::collective
