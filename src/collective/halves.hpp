// float16 and bfloat16 on the host: there they are only ever widened for a reduction and narrowed after it.
#pragma once

#include "atoll/types.hpp"

#include <cstddef>

namespace atl::collective {

inline bool is_half(DType type) { return type == DType::float16 || type == DType::bfloat16; }

/// `dst[i] = src[i]` as float. The halves may be the second half of dst's own bytes.
void widen(void* dst, const void* src, std::size_t count, DType type);
/// To the nearest, ties to even, NaNs to 0x7fff, as GPUs do. `dst` may be `src`.
void narrow(void* dst, const void* src, std::size_t count, DType type);

}  // namespace atl::collective
