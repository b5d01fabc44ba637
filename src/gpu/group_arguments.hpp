// GroupArguments: the arguments of a collective on memory of GPUs.
#pragma once

#include "gpu/device_calls.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::gpu {

/// The arguments of alltoalls: elements of one block, and strides in elements.
struct Strides {
    std::size_t count = 0;
    std::ptrdiff_t dst = 1, src = 1;
};

/// `bytes` is the size of one block; dst and src contain one block, or one for each PE. In collect it is this
/// member's own block, in alltoalls one element.
struct GroupArguments {
    Group kind;
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
    Strides strides{};     ///< strides of alltoalls

    /// True if no member has anything to do. In collect that is unknown here.
    bool is_empty() const {
        if (kind == Group::alltoalls && strides.count == 0) return true;
        return bytes == 0 && kind != Group::sync && kind != Group::collect;
    }
    /// True if this member's array is accessed at all.
    bool writes(int pe) const {
        if (kind == Group::collect) return room != 0;
        return (kind != Group::gather && kind != Group::reduce_to) || pe == root;
    }
    bool reads(int pe) const {
        if (kind == Group::collect) return bytes != 0;
        return !is_from_root(kind) || pe == root;
    }
    std::size_t dst_bytes(int n_pes) const {
        if (kind == Group::collect) return room;
        if (kind == Group::alltoalls) return extent(n_pes, strides.dst);
        return bytes * dst_blocks(n_pes);
    }
    std::size_t src_bytes(int n_pes) const {
        if (kind == Group::alltoalls) return extent(n_pes, strides.src);
        return bytes * src_blocks(n_pes);
    }
    /// Number of blocks of `bytes`: one, or one from each member.
    std::size_t dst_blocks(int n_pes) const {
        return static_cast<std::size_t>(is_by_source(kind) ? n_pes : 1);
    }
    /// Number of blocks of `bytes`: one, or one for each member.
    std::size_t src_blocks(int n_pes) const {
        return static_cast<std::size_t>(is_by_target(kind) ? n_pes : 1);
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

}  // namespace atl::gpu
