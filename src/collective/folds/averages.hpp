// Averages and sums of scaled elements on the host: a sum, and one pass over one PE's own array before or
// after it.
#pragma once

#include "collective/folds/host_folds.hpp"

#include <cstddef>

namespace atl::collective {

/// The operator with which the members fold: a sum for an average. For halves the kernel scales and divides,
/// too; for other types `multiply` and `finish_average` do. Throws Error(dtype_mismatch), for averages and
/// scaled sums of all but floating-point types.
Kernel reduction_kernel(DType type, ReduceOp op, double factor = 1);
/// Computes dst = factor * src. dst may be src.
void multiply(void* dst, const void* src, std::size_t count, DType type, double factor);
/// Call it after the fold: divides an average by the number of members, except of halves.
void finish_average(void* dst, std::size_t count, DType type, ReduceOp op, int n_pes);

}  // namespace atl::collective
