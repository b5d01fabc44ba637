// half and bfloat16 (CUDA's types): their headers, and atomics at PEs in the window. (Reductions support them
// without this header, unless a macro as __CUDA_NO_HALF_CONVERSIONS__ switches CUDA's conversions off.)
#pragma once

#include "atoll/device/atomics.hpp"
#include "atoll/device/operators.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

#if defined(__CUDACC__)
namespace detail {

template <> struct Conversion<__half> {
    static ATOLL_ANYWHERE float widen(__half value) { return __half2float(value); }
    static ATOLL_ANYWHERE __half narrow(float value) { return __float2half(value); }
};
template <> struct Conversion<__nv_bfloat16> {
    static ATOLL_ANYWHERE float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
    static ATOLL_ANYWHERE __nv_bfloat16 narrow(float value) { return __float2bfloat16(value); }
};

/// The address of an element of two bytes on `pe`, as bits.
template <class Half>
__device__ unsigned short* half_for(const Team& team, Operation operation, const Half* element, int pe) {
    return reinterpret_cast<unsigned short*>(near_for(team, operation, const_cast<Half*>(element), pe));
}
/// Replaces two bytes by change(those found), which it returns. It compares and swaps the surrounding four
/// bytes until no other update intervened.
template <class Change> __device__ unsigned short change_half(unsigned short* element, Change change) {
    const auto address = reinterpret_cast<unsigned long long>(element);
    unsigned* around = reinterpret_cast<unsigned*>(address / 4 * 4);
    const unsigned shift = address % 4 * 8;
    for (unsigned before = load_relaxed(around);;) {
        const auto old = static_cast<unsigned short>(before >> shift);
        const unsigned after = (before & ~(0xffffu << shift)) | static_cast<unsigned>(change(old)) << shift;
        const unsigned found = compare_swap_bits(around, before, after);
        if (found == before) return old;
        before = found;
    }
}

__device__ inline unsigned short bits_of_half(__half value) { return __half_as_ushort(value); }
__device__ inline unsigned short bits_of_half(__nv_bfloat16 value) { return __bfloat16_as_ushort(value); }
__device__ inline __half half_of_bits(unsigned short bits, __half) { return __ushort_as_half(bits); }
__device__ inline __nv_bfloat16 half_of_bits(unsigned short bits, __nv_bfloat16) {
    return __ushort_as_bfloat16(bits);
}
template <class Half> __device__ Half half_of(unsigned short bits) { return half_of_bits(bits, Half{}); }

/// The bits of a sum, evaluated in float and rounded once.
template <class Half> __device__ unsigned short sum_of_halves(unsigned short bits, Half value) {
    using As = Conversion<Half>;
    return bits_of_half(As::narrow(As::widen(half_of<Half>(bits)) + As::widen(value)));
}

}  // namespace detail

/// dst += value on `pe`, rounded once, unordered. 2-byte aligned.
__device__ inline void atomic_add(const Team& team, __half* dst, __half value, int pe) {
    asm volatile("red.relaxed.sys.global.add.noftz.f16 [%0], %1;" ::"l"(
                     detail::near_for(team, Operation::atomic_add, dst, pe)),
                 "h"(__half_as_ushort(value))
                 : "memory");
}
/// The same for bfloat16. GPUs before sm_90 lack this addition.
__device__ inline void atomic_add(const Team& team, __nv_bfloat16* dst, __nv_bfloat16 value, int pe) {
    unsigned short* there = detail::half_for(team, Operation::atomic_add, dst, pe);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.sys.global.add.noftz.bf16 [%0], %1;" ::"l"(there),
                 "h"(__bfloat16_as_ushort(value))
                 : "memory");
#else
    detail::change_half(there, [&](unsigned short old) { return detail::sum_of_halves(old, value); });
#endif
}

/// These are declared for each half type, so that calls with other types choose the functions of
/// atoll/device/atomics.hpp. The same rules hold; 2-byte aligned.
#define ATOLL_HALF_ATOMICS(HALF)                                                                         \
    __device__ inline HALF atomic_fetch(const Team& team, const HALF* src, int pe) {                     \
        unsigned short bits;                                                                             \
        asm volatile("ld.relaxed.sys.global.u16 %0, [%1];"                                               \
                     : "=h"(bits)                                                                        \
                     : "l"(detail::half_for(team, Operation::atomic_fetch, src, pe))                     \
                     : "memory");                                                                        \
        return detail::half_of<HALF>(bits);                                                              \
    }                                                                                                    \
    __device__ inline void atomic_set(const Team& team, HALF* dst, HALF value, int pe) {                 \
        asm volatile("st.relaxed.sys.global.u16 [%0], %1;" ::"l"(                                        \
                         detail::half_for(team, Operation::atomic_set, dst, pe)),                        \
                     "h"(detail::bits_of_half(value))                                                    \
                     : "memory");                                                                        \
    }                                                                                                    \
    __device__ inline HALF atomic_swap(const Team& team, HALF* dst, HALF value, int pe) {                \
        return detail::half_of<HALF>(                                                                    \
            detail::change_half(detail::half_for(team, Operation::atomic_swap, dst, pe),                 \
                                [&](unsigned short) { return detail::bits_of_half(value); }));           \
    }                                                                                                    \
    __device__ inline HALF atomic_fetch_add(const Team& team, HALF* dst, HALF value, int pe) {           \
        return detail::half_of<HALF>(                                                                    \
            detail::change_half(detail::half_for(team, Operation::atomic_fetch_add, dst, pe),            \
                                [&](unsigned short old) { return detail::sum_of_halves(old, value); })); \
    }
ATOLL_HALF_ATOMICS(__half)
ATOLL_HALF_ATOMICS(__nv_bfloat16)
#undef ATOLL_HALF_ATOMICS
#endif

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
