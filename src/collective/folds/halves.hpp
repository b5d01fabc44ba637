// float16 and bfloat16 on the host, which are widened before a reduction and narrowed after it.
#pragma once

#include "atoll/types.hpp"

#include <cstddef>

namespace atl::collective {

inline bool is_half(DType type) { return type == DType::float16 || type == DType::bfloat16; }

/// Converts to float. `src` may be the second half of dst's own bytes.
void widen(void* dst, const void* src, std::size_t count, DType type);
/// Rounds to nearest, ties to even; NaNs become 0x7fff, as on GPUs. `dst` may be `src`.
void narrow(void* dst, const void* src, std::size_t count, DType type);

}  // namespace atl::collective
