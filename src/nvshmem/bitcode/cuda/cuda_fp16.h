/* In place of CUDA's header of this name while bitcode is compiled: the type, its bits and its conversions.
 */
#pragma once

struct __half {
    unsigned short bits;
};
typedef __half half;

__device__ inline unsigned short __half_as_ushort(__half value) { return value.bits; }
__device__ inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
__device__ inline float __half2float(__half value) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
}
__device__ inline __half __float2half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return {bits};
}
