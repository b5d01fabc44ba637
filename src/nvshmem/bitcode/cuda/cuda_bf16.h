/* In place of CUDA's header of this name while bitcode is compiled: the type, its bits and its conversions.
 * GPUs before sm_80 have no instruction that rounds to bfloat16. */
#pragma once

struct __nv_bfloat16 {
    unsigned short bits;
};

__device__ inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
__device__ inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
__device__ inline float __bfloat162float(__nv_bfloat16 value) {
    const unsigned bits = static_cast<unsigned>(value.bits) << 16;
    float wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}
/* Rounds to the nearest, and to an even one of two. All NaNs become 0x7fff, as by CUDA. */
__device__ inline __nv_bfloat16 __float2bfloat16(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) return {0x7fff};
    return {static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}
