// Element-wise operators of reductions on the host: one loop for each element type and operator.
// gpu/cuda/kernels/groups.cu has those of GPUs.
#pragma once

#include <cstddef>

#include "atoll/types.hpp"

namespace atl::collective {

/// Computes dst[i] = a[i] op b[i]. dst may be a or b, but may not otherwise overlap them.
using Fold = void (*)(void* dst, const void* a, const void* b, std::size_t count);

/// An operator on an element type. Halves are widened to float, folded there, and rounded once.
struct Kernel {
    Fold fold = nullptr;
    std::size_t element_bytes = 1;
    DType half = DType::float32;  ///< float16 or bfloat16; else elements are not widened
    float factor = 1;             ///< factor of each widened element
    bool averages = false;        ///< divides the fold of widened elements by their number

    bool widens() const { return half != DType::float32; }
    void widen(float* to, const void* from, std::size_t count) const;
    /// Rounds the fold of `n` sources; overwrites it.
    void narrow(void* to, float* folded, std::size_t count, int n) const;
    /// `bytes` is a multiple of the element's size. Not for halves.
    void operator()(void* dst, const void* a, const void* b, std::size_t bytes) const {
        fold(dst, a, b, bytes / element_bytes);
    }
};

/// Throws Error(dtype_mismatch) that lists the types of `op`.
Kernel kernel_for(DType type, ReduceOp op);

}  // namespace atl::collective
