// Collectives on device memory in teams whose GPUs do not all reach each other: the host's collectives, on
// copies in the host's memory.
#include "collective/on_device.hpp"

#include <algorithm>

namespace atl::collective {

namespace {

using core::GroupArguments;
using heap::Group;

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

void run_by_host(core::TeamState& state, const GroupArguments& arguments) {
    const core::DeviceMemory& device = *state.job().device();
    const Team team(std::shared_ptr<core::TeamState>(std::shared_ptr<void>(), &state));
    const int me = team.my_pe(), n = team.n_pes();
    std::unique_ptr<char[]> dst, src;
    if (arguments.reads(me)) {
        src = std::make_unique_for_overwrite<char[]>(arguments.src_bytes(n));
        device.copy(src.get(), arguments.src, arguments.src_bytes(n));
    }
    if (arguments.writes(me)) dst = std::make_unique_for_overwrite<char[]>(arguments.dst_bytes(n));
    run_on_host(team, arguments, dst.get(), src.get());
    if (dst) device.copy(arguments.dst, dst.get(), arguments.dst_bytes(n));
}

}  // namespace atl::collective
