// A collective on device memory, from arguments to the device heap's call: for streams and for the host's
// calls.
#pragma once

#include "core/device_memory.hpp"
#include "core/team_state.hpp"

namespace atl::core {

/// `bytes` is one block; dst and src hold one, or one for each PE.
struct GroupArguments {
    heap::Group kind;
    void* dst = nullptr;
    const void* src = nullptr;
    std::size_t bytes = 0;
    int root = -1;
    bool dst_blocks = false;
    bool src_blocks = false;
    DType type = DType::uint8;
    ReduceOp op = ReduceOp::sum;
};

/// Throws Error: not_symmetric, use_after_free, unsupported.
heap::GroupCall group_call(TeamState& team, const DeviceMemory& device, const GroupArguments& arguments);
/// Throws Error(dtype_mismatch) for what GPUs do not reduce.
void check_reduction(DType type, ReduceOp op);

}  // namespace atl::core
