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
    DType type = DType::uint8;
    ReduceOp op = ReduceOp::sum;
    double scale = 1;  ///< of sums
    /// What the user called it, where that is not the name of `kind`.
    device::Operation operation = device::Operation::none;

    /// Whether this member's array is written or read at all.
    bool writes(int pe) const { return kind != heap::Group::gather || pe == root; }
    bool reads(int pe) const {
        return (kind != heap::Group::broadcast && kind != heap::Group::scatter) || pe == root;
    }
    std::size_t dst_bytes(int n_pes) const {
        const bool blocks =
            kind == heap::Group::fcollect || kind == heap::Group::alltoall || kind == heap::Group::gather;
        return bytes * static_cast<std::size_t>(blocks ? n_pes : 1);
    }
    std::size_t src_bytes(int n_pes) const {
        const bool blocks = kind == heap::Group::alltoall || kind == heap::Group::scatter ||
                            kind == heap::Group::reduce_scatter;
        return bytes * static_cast<std::size_t>(blocks ? n_pes : 1);
    }
};

/// Nothing is checked but the team. Throws Error: use_after_free, unsupported.
heap::GroupCall group_call(TeamState& team, const DeviceMemory& device, const GroupArguments& arguments);
/// From how many bytes on the second half of a reduce goes by copy engines: ATOLL_REDUCE_ENGINES.
std::uint64_t reduce_engines_bytes(const TeamState& team);
/// In the order of the stream: one kernel, or, of large reductions, kernels and copies between them.
void start_group(const TeamState& team, const DeviceMemory& device, const heap::GroupCall& call,
                 heap::StreamHandle stream);
/// Throws Error(dtype_mismatch) for what GPUs do not reduce.
void check_reduction(DType type, ReduceOp op, double scale = 1);
/// Throws Error(invalid_argument) where dst and src share bytes, unless it is the same array in `reduce` and
/// `broadcast`, or this PE's own block in its place.
void check_overlap(const char* operation, const GroupArguments& arguments, int my_pe, int n_pes);

}  // namespace atl::core
