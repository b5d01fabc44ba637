// Element-wise operators of reductions on the host: one loop for each element type and operator.
// gpu/cuda/kernels/groups.cu has those of GPUs.
#pragma once

#include <cstddef>

#include "atoll/types.hpp"

namespace atl::collective {

/// Computes dst[i] = a[i] op b[i]. dst may be a or b, but may not otherwise overlap them.
using Fold = void (*)(void* dst, const void* a, const void* b, std::size_t count);

/// An operator on an element type.
struct Kernel {
    Fold fold = nullptr;
    std::size_t element_bytes = 1;

    /// `bytes` is a multiple of the element's size.
    void operator()(void* dst, const void* a, const void* b, std::size_t bytes) const {
        fold(dst, a, b, bytes / element_bytes);
    }
};

/// Throws Error(dtype_mismatch) that lists the types of `op`.
Kernel kernel_for(DType type, ReduceOp op);

}  // namespace atl::collective
