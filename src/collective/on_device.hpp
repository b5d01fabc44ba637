// The host's collectives on device memory: the stream form on a stream of the team's own, and its end waited
// for. Where arrays stand on the other members is told by an exchange, so they need not be the same objects,
// nor all on GPUs.
#pragma once

#include "collective/state.hpp"
#include "core/job_state.hpp"
#include "core/stream_team.hpp"

#include <vector>

namespace atl::collective {

/// Throws Error(collective_mismatch) on all members unless all pass device memory, or none does.
void agree_on_device(State& state, const char* operation, bool mine);

/// If this member passes memory of a GPU, of whatever kind. Then all must: what the others pass is compared
/// with ATOLL_CHECK=all.
inline bool is_on_device(State& state, const char* operation, const void* dst, const void* src) {
    const core::DeviceMemory* device = state.team().job().device();
    if (!device) [[likely]]
        return false;
    const bool mine = device->is_on_gpu(dst) || device->is_on_gpu(src);
    if (state.team().checks_all()) agree_on_device(state, operation, mine);
    return mine;
}

/// Each of dst and src is any memory of this PE: of the device heap, of cudaMalloc, of the host. Large
/// messages are fast where all members pass the same objects of the device heap; others go in pieces. Members
/// meet before their kernels start, so that a PE that does not come is waited for by the host, which can say
/// so; a member whose arguments are wrong is named by all. Throws as StreamTeam's calls.
void run_on_device(State& state, const core::Called& called, const core::GroupArguments& arguments);
void reduce_on_device(State& state, const core::Called& called, const core::GroupArguments& arguments);
/// How many bytes arrived. Throws Error(shape_mismatch) on all members alike where one's dst has no room for
/// them.
std::size_t collect_on_device(State& state, const core::Called& called,
                              const core::GroupArguments& arguments);
/// Fast where all members pass the same src of the device heap.
void alltoalls_on_device(State& state, const core::Called& called, const core::GroupArguments& arguments);

/// Whether a transport carries what goes between some members.
bool is_far(const core::TeamState& team);
/// The same collective by the host, on copies; after the members' arguments were compared. Copies stand in
/// the lane's pinned memory where they fit. alltoalls needs a lane, for what of arrays goes by.
void run_by_host(core::TeamState& team, const core::GroupArguments& arguments,
                 const core::DeviceMemory::Lane* lane = nullptr);
/// Messages from and to memory that this PE's GPU reaches. Throws Error as MessageGroup::run.
void run_messages_by_host(core::TeamState& team, const std::vector<MessageGroup::Message>& messages,
                          const core::DeviceMemory::Lane& lane);

}  // namespace atl::collective
