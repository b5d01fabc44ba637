// Bulk copies from a block's shared memory to any GPU's memory by the multiprocessor's copy engine (TMA;
// sm_90 and later). One thread starts them; they occupy no registers and no threads.
#pragma once

#include "atoll/device/scope.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

/// True if the scope lies within one block, so that its threads have shared memory in common.
template <class Scope> struct WithinBlock { static constexpr bool value = true; };
#if defined(__CUDACC__)
template <> struct WithinBlock<Grid> { static constexpr bool value = false; };
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr unsigned long long bulk_unit_bytes = 16;     ///< addresses and sizes are multiples
constexpr unsigned long long bulk_least_bytes = 1024;  ///< below, threads' stores are as fast

__device__ inline bool can_bulk(const void* dst, const void* src, unsigned long long bytes) {
    const unsigned long long all =
        reinterpret_cast<unsigned long long>(dst) | reinterpret_cast<unsigned long long>(src) | bytes;
    return bytes >= bulk_least_bytes && all % bulk_unit_bytes == 0 && __isShared(src);
}
/// Starts a copy. Called by one thread, after all writers of the source called see_shared and synchronised.
__device__ inline void start_bulk(void* dst, const void* src, unsigned long long bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst),
                 "r"(static_cast<unsigned>(__cvta_generic_to_shared(src))), "r"(static_cast<unsigned>(bytes))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Makes this thread's writes to shared memory visible to copies that start later.
__device__ inline void see_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// Waits until the copies started by this thread have written their targets.
__device__ inline void complete_bulk() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// Waits until the copies started by this thread have read their sources.
__device__ inline void read_bulk() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
#else
ATOLL_ANYWHERE inline void complete_bulk() {}
ATOLL_ANYWHERE inline void read_bulk() {}
#endif

}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
