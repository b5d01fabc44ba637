// Collectives on device memory, from arguments to the device heap's call. For streams and for the host's
// calls.
#pragma once

#include "core/team/team_state.hpp"
#include "gpu/heap/device_memory.hpp"

namespace atl::core {

/// The arguments of alltoalls: elements of one block, and strides in elements.
struct Strides {
    std::size_t count = 0;
    std::ptrdiff_t dst = 1, src = 1;
};

/// `bytes` is the size of one block; dst and src contain one block, or one for each PE. In collect it is this
/// member's own block, in alltoalls one element.
struct GroupArguments {
    gpu::Group kind;
    void* dst = nullptr;
    const void* src = nullptr;
    std::size_t bytes = 0;
    int root = -1;
    DType type = DType::uint8;
    ReduceOp op = ReduceOp::sum;
    double scale = 1;  ///< factor of sums
    /// The user's name of the call, if it is not the name of `kind`.
    device::Operation operation = device::Operation::none;
    std::size_t room = 0;  ///< bytes of dst, in collect
    Strides strides{};     ///< of alltoalls

    /// True if no member has anything to do. In collect that is unknown here.
    bool is_empty() const {
        if (kind == gpu::Group::alltoalls && strides.count == 0) return true;
        return bytes == 0 && kind != gpu::Group::sync && kind != gpu::Group::collect;
    }
    /// True if this member's array is accessed at all.
    bool writes(int pe) const {
        if (kind == gpu::Group::collect) return room != 0;
        return (kind != gpu::Group::gather && kind != gpu::Group::reduce_to) || pe == root;
    }
    bool reads(int pe) const {
        if (kind == gpu::Group::collect) return bytes != 0;
        return (kind != gpu::Group::broadcast && kind != gpu::Group::scatter) || pe == root;
    }
    std::size_t dst_bytes(int n_pes) const {
        if (kind == gpu::Group::collect) return room;
        if (kind == gpu::Group::alltoalls) return extent(n_pes, strides.dst);
        const bool blocks =
            kind == gpu::Group::fcollect || kind == gpu::Group::alltoall || kind == gpu::Group::gather;
        return bytes * static_cast<std::size_t>(blocks ? n_pes : 1);
    }
    std::size_t src_bytes(int n_pes) const {
        if (kind == gpu::Group::alltoalls) return extent(n_pes, strides.src);
        const bool blocks =
            kind == gpu::Group::alltoall || kind == gpu::Group::scatter || kind == gpu::Group::reduce_scatter;
        return bytes * static_cast<std::size_t>(blocks ? n_pes : 1);
    }

  private:
    /// Bytes from the first element to the end of the last; saturates.
    std::size_t extent(int n_pes, std::ptrdiff_t stride) const {
        std::size_t elements = 0, steps = 0, all = 0;
        if (strides.count == 0) return 0;
        if (__builtin_mul_overflow(strides.count, static_cast<std::size_t>(n_pes), &elements) ||
            __builtin_mul_overflow(elements - 1, static_cast<std::size_t>(stride), &steps) ||
            __builtin_mul_overflow(steps + 1, bytes, &all))
            return SIZE_MAX;
        return all;
    }
};

/// Builds the call. Checks only the team. Throws Error: use_after_free, unsupported.
gpu::GroupCall group_call(TeamState& team, const gpu::DeviceMemory& device, const GroupArguments& arguments);
/// Smallest size at which the second half of a reduce uses copy engines: ATOLL_REDUCE_ENGINES.
std::uint64_t reduce_engines_bytes(const TeamState& team);
/// Starts the call in stream order: one kernel; for large reductions kernels and copies between them.
void start_group(const TeamState& team, const gpu::DeviceMemory& device, const gpu::GroupCall& call,
                 gpu::StreamHandle stream);
/// Starts a collective of any kind, if the window reaches all members; `call` is group_call's of the
/// arguments.
void start_collective(const TeamState& team, const gpu::DeviceMemory& device, const GroupArguments& arguments,
                      gpu::GroupCall call, gpu::StreamHandle stream);
/// Throws Error(dtype_mismatch) for reductions that GPUs do not support.
void check_reduction(DType type, ReduceOp op, double scale = 1);
/// Checks a scan: exclusive ones support sums only, and none supports averages. Throws
/// Error(invalid_argument).
void check_scan(ReduceOp op, bool inclusive);
/// Throws Error(invalid_argument) if dst and src overlap. Allowed are the same array in a reduction, a scan
/// or `broadcast`, and this PE's own block in its place.
void check_overlap(const char* operation, const GroupArguments& arguments, int my_pe, int n_pes);

}  // namespace atl::core
