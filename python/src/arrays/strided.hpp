// Copies between arrays of any strides. The axes are sorted and merged first, which makes the inner loop as
// long and simple as possible.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calls/py.hpp"

namespace atl::python {

struct Strides {
    npy_intp of[NPY_MAXDIMS];
};
/// The strides of a contiguous array in C order.
Strides packed_strides(const npy_intp* dims, int nd, std::size_t item) noexcept;

/// Copies dst[i] = src[i] for every index of `nd` axes. Strides are in bytes, of any sign; a source stride of
/// 0 repeats. The memory of both may overlap.
void copy_strided(char* dst, const npy_intp* dst_strides, const char* src, const npy_intp* src_strides,
                  const npy_intp* dims, int nd, std::size_t item);

/// The range of bytes that contains an array's elements.
struct ByteRange {
    std::uintptr_t low;
    std::uintptr_t high;
};
ByteRange range_of(const char* data, const npy_intp* strides, const npy_intp* dims, int nd,
                   std::size_t item) noexcept;

/// One axis of a copy.
struct Axis {
    npy_intp dim;
    npy_intp dst;
    npy_intp src;
};

/// The sorted axes of a copy, with neighbours merged, and the size of the contiguous block below the
/// innermost.
struct CopyPlan {
    Axis axes[NPY_MAXDIMS];
    int n = 0;
    std::size_t block = 0;  ///< bytes that are contiguous on both sides
};
CopyPlan plan_copy(const npy_intp* dst_strides, const npy_intp* src_strides, const npy_intp* dims, int nd,
                   std::size_t item);

/// Calls `f(dst_offset, src_offset)` for every block of the plan.
template <class F> void for_each_block(const CopyPlan& plan, F&& f) {
    npy_intp at[NPY_MAXDIMS] = {};
    npy_intp dst = 0;
    npy_intp src = 0;
    for (;;) {
        f(dst, src);
        int k = plan.n - 1;
        for (; k >= 0; --k) {
            dst += plan.axes[k].dst;
            src += plan.axes[k].src;
            if (++at[k] < plan.axes[k].dim) break;
            dst -= plan.axes[k].dst * plan.axes[k].dim;
            src -= plan.axes[k].src * plan.axes[k].dim;
            at[k] = 0;
        }
        if (k < 0) return;
    }
}

}  // namespace atl::python
