// CUDA's names that the device headers use, by clang's builtins. Code for every GPU from sm_70 on.
#pragma once

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
// NVRTC is the compiler without headers of a host, as here.
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 0  // no version of CUDA, so that newer instructions are not used
#define __CUDACC_VER_MINOR__ 0

#include <stddef.h>
#include <stdint.h>

struct dim3 {
    unsigned x, y, z;
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(16) double2 {
    double x, y;
};
#include <__clang_cuda_builtin_vars.h>

#define memcpy __builtin_memcpy

__device__ inline void __syncwarp() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
__device__ inline void __threadfence_system() { __nvvm_membar_sys(); }
__device__ inline void __trap() { asm volatile("trap;"); }
__device__ inline void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
__device__ inline bool __isGlobal(const void* address) { return __nvvm_isspacep_global(address); }

template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves words");
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof value);
    for (unsigned& word : words)
        asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, %2;" : "+r"(word) : "r"(lane), "r"(mask));
    memcpy(&value, words, sizeof value);
    return value;
}

__device__ inline unsigned atomicCAS_system(unsigned* word, unsigned expected, unsigned value) {
    unsigned before;
    asm volatile("atom.relaxed.sys.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(before)
                 : "l"(word), "r"(expected), "r"(value)
                 : "memory");
    return before;
}
__device__ inline unsigned long long atomicAdd(unsigned long long* word, unsigned long long value) {
    unsigned long long before;
    asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : "memory");
    return before;
}
