// Averages and sums of scaled elements on the host: a sum, and one pass over one PE's own array before or
// after it.
#pragma once

#include "atoll/types.hpp"

#include <cstddef>

namespace atl::collective {

/// The operator with which the members fold: a sum for an average. Throws Error(dtype_mismatch) for averages
/// and scaled sums of types without arithmetic on the host.
ReduceOp folded_as(DType type, ReduceOp op, double factor = 1);
/// Computes dst = factor * src. dst may be src.
void multiply(void* dst, const void* src, std::size_t count, DType type, double factor);
/// Call it after the fold: divides an average by the number of members.
void finish_average(void* dst, std::size_t count, DType type, ReduceOp op, int n_pes);

}  // namespace atl::collective
