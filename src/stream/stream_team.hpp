// Collectives on device memory, from arguments to the device heap's call. For streams and for the host's
// calls.
#pragma once

#include "core/team/team_state.hpp"
#include "gpu/group_arguments.hpp"
#include "gpu/heap/device_memory.hpp"

namespace atl::stream {

using gpu::GroupArguments;
using gpu::Strides;

/// Builds the call. Checks only the team. Throws Error: use_after_free, unsupported.
gpu::GroupCall group_call(core::TeamState& team, const GroupArguments& arguments);
/// Smallest size at which the second half of a reduce uses copy engines: ATOLL_REDUCE_ENGINES.
std::uint64_t reduce_engines_bytes(const core::TeamState& team);
/// Starts the call in stream order: one kernel; for large reductions kernels and copies between them.
void start_group(const core::TeamState& team, const gpu::DeviceMemory& device, const gpu::GroupCall& call,
                 gpu::StreamHandle stream);
/// Starts a collective of any kind, if the window reaches all members; `call` is group_call's of the
/// arguments.
void start_collective(const core::TeamState& team, const gpu::DeviceMemory& device,
                      const GroupArguments& arguments, gpu::GroupCall call, gpu::StreamHandle stream);
/// Throws Error(dtype_mismatch) for reductions that GPUs do not support.
void check_reduction(DType type, ReduceOp op, double scale = 1);
/// Throws Error(invalid_argument) if dst and src overlap. Allowed are the same array in a reduction, a scan
/// or `broadcast`, and this PE's own block in its place.
void check_overlap(const char* operation, const GroupArguments& arguments, int my_pe, int n_pes);

}  // namespace atl::stream
