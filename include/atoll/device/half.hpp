// half and bfloat16 (CUDA's types): their headers, and atomic addition at PEs in the window. (Reductions
// support them without this header.)
#pragma once

#include "atoll/device/atomics.hpp"
#include "atoll/device/operators.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

#if defined(__CUDACC__)
/// dst += value on `pe`, rounded once, unordered. 2-byte aligned.
__device__ inline void atomic_add(const Team& team, __half* dst, __half value, int pe) {
    asm volatile("red.relaxed.sys.global.add.noftz.f16 [%0], %1;" ::"l"(
                     detail::near_for(team, Operation::atomic_add, dst, pe)),
                 "h"(__half_as_ushort(value))
                 : "memory");
}
/// The same for bfloat16. GPUs before sm_90 lack this addition: they compare and swap the surrounding four
/// bytes until no other update intervened.
__device__ inline void atomic_add(const Team& team, __nv_bfloat16* dst, __nv_bfloat16 value, int pe) {
    __nv_bfloat16* there = detail::near_for(team, Operation::atomic_add, dst, pe);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.sys.global.add.noftz.bf16 [%0], %1;" ::"l"(there),
                 "h"(__bfloat16_as_ushort(value))
                 : "memory");
#else
    const auto address = reinterpret_cast<unsigned long long>(there);
    unsigned* around = reinterpret_cast<unsigned*>(address / 4 * 4);
    const unsigned shift = address % 4 * 8;
    for (unsigned before = load_relaxed(around);;) {
        const __nv_bfloat16 old = __ushort_as_bfloat16(static_cast<unsigned short>(before >> shift));
        const unsigned sum =
            __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(old) + __bfloat162float(value)));
        const unsigned found =
            detail::compare_swap_bits(around, before, (before & ~(0xffffu << shift)) | sum << shift);
        if (found == before) return;
        before = found;
    }
#endif
}
#endif

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
