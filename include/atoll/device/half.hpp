// half and bfloat16 (CUDA's types): sums of reductions in float, and atomic addition.
#pragma once

#include "atoll/device/operators.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace atl::device {

template <> struct Wide<__half> { using type = float; };
template <> struct Wide<__nv_bfloat16> { using type = float; };

#if defined(__CUDACC__)
/// dst += value on `pe`, rounded once; in no order. 2-byte aligned.
__device__ inline void atomic_add(const Team& team, __half* dst, __half value, int pe) {
    asm volatile("red.relaxed.sys.global.add.noftz.f16 [%0], %1;" ::"l"(peer(team, dst, pe)),
                 "h"(__half_as_ushort(value))
                 : "memory");
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ inline void atomic_add(const Team& team, __nv_bfloat16* dst, __nv_bfloat16 value, int pe) {
    asm volatile("red.relaxed.sys.global.add.noftz.bf16 [%0], %1;" ::"l"(peer(team, dst, pe)),
                 "h"(__bfloat16_as_ushort(value))
                 : "memory");
}
#endif
#endif

}  // namespace atl::device
