// Averages and sums of scaled elements on the host: a sum, and a pass over one PE's own array before or
// after.
#pragma once

#include "atoll/types.hpp"

#include <cstddef>

namespace atl::collective {

/// What the members fold by: a sum in place of an average. Throws Error(dtype_mismatch) for averages and
/// scaled sums of what has no arithmetic here.
ReduceOp folded_as(DType type, ReduceOp op, double factor = 1);
/// dst = factor * src. dst may be src.
void multiply(void* dst, const void* src, std::size_t count, DType type, double factor);
/// After the fold: an average is divided by the number of members.
void finish_average(void* dst, std::size_t count, DType type, ReduceOp op, int n_pes);

}  // namespace atl::collective
