// Collectives of the host on device memory. Each runs the stream form on the team's own stream, and waits for
// its end. Members exchange the locations of their arrays. These may therefore be different objects, and need
// not all be on GPUs.
#pragma once

#include "collective/state.hpp"
#include "core/job/job_state.hpp"
#include "stream/stream_team.hpp"

#include <vector>

namespace atl::stream {

using collective::State;

/// dst and src may each be any memory of this PE: of the device heap, of cudaMalloc, of the host. Large
/// messages are fast if all members pass the same objects of the device heap; others are sent in pieces.
/// Members synchronize before their kernels start. The host, rather than a kernel, thus waits for a missing
/// PE and can report it. All members name one whose arguments are wrong. Throws like StreamTeam's calls.
void run_on_device(State& state, const core::Called& called, const gpu::GroupArguments& arguments);
/// Returns the number of bytes received. Throws Error(shape_mismatch) on all members if one's dst is too
/// small.
std::size_t collect_on_device(State& state, const core::Called& called, const gpu::GroupArguments& arguments);
/// Fast if all members pass the same src of the device heap.
void alltoalls_on_device(State& state, const core::Called& called, const gpu::GroupArguments& arguments);

/// True if a transport connects some of the members.
bool is_far(const core::TeamState& team);
/// Runs the same collective on the host, on copies; call it after comparing the members' arguments. Copies
/// are in the lane's pinned memory if they fit. alltoalls needs a lane, through which it copies strided
/// arrays.
void run_by_host(core::TeamState& team, const gpu::GroupArguments& arguments,
                 const gpu::Lane* lane = nullptr);
/// Messages from and to memory that this PE's GPU can access. Throws Error like MessageGroup::run.
void run_messages_by_host(core::TeamState& team, const std::vector<MessageGroup::Message>& messages,
                          const gpu::Lane& lane);

}  // namespace atl::stream
