// What reductions on the host do to elements: one loop for each element type and operator. GPUs have theirs
// in cuda/kernels/groups.cu.
#pragma once

#include <cstddef>

#include "atoll/types.hpp"

namespace atl::collective {

/// dst[i] = a[i] op b[i]. dst may be a or b, nothing else of them.
using Fold = void (*)(void* dst, const void* a, const void* b, std::size_t count);

/// An operator on an element type.
struct Kernel {
    Fold fold = nullptr;
    std::size_t element_bytes = 1;

    /// `bytes` is a multiple of the element's.
    void operator()(void* dst, const void* a, const void* b, std::size_t bytes) const {
        fold(dst, a, b, bytes / element_bytes);
    }
};

/// Throws Error(dtype_mismatch), naming the types that `op` takes.
Kernel kernel_for(DType type, ReduceOp op);

}  // namespace atl::collective
