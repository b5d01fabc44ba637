// Words for synchronisation among the threads of one PE, such as blocks of a kernel that wait for their
// neighbours only. No other PE sees them, so they use the device's scope on a GPU, which costs less than the
// system's. They have 4 or 8 bytes, in global memory, symmetric or not. Words in a block's shared memory are
// not detected; use __syncthreads there.
#pragma once

#include "atoll/device/signals.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

#if defined(__CUDA_ARCH__)
__device__ inline unsigned load_local(const unsigned* p) { return load_in_gpu(p); }
__device__ inline unsigned long long load_local(const unsigned long long* p) {
    unsigned long long value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline void store_local(unsigned* p, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ inline void store_local(unsigned long long* p, unsigned long long value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
#endif

template <class T> ATOLL_ANYWHERE T load_acquire_local(const T* p) {
#if defined(__CUDA_ARCH__)
    return same_bits<T>(load_local(reinterpret_cast<const typename Bits<sizeof(T)>::type*>(p)));
#else
    return load_acquire(p);
#endif
}

}  // namespace detail

/// Set this PE's word to `value`, for its own threads that wait by local_wait_until. Memory order: release
/// among this PE's threads; after `Scope::sync` it includes the other threads' writes.
template <class T> ATOLL_ANYWHERE void local_set(const Team&, T* word, SameAs<T> value) {
#if defined(__CUDA_ARCH__)
    using Bits = typename detail::Bits<sizeof(T)>::type;
    detail::store_local(reinterpret_cast<Bits*>(word), detail::same_bits<Bits>(value));
#else
    store_release(word, value);
#endif
}

/// Wait until this PE's word cmp `value` holds, where only this PE's threads set it, by local_set. A wait
/// longer than `bound_ns` is reported with `tag`. Memory order: acquire among this PE's threads, for all
/// threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void local_wait_until(const Team& team, const T* word, Compare cmp, SameAs<T> value,
                                     Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Traced traced(team, scope, Operation::local_wait_until, -1, word, 0,
                                detail::bits_of(T(value)));
    if (scope.rank() == 0)
        detail::spin(
            team, [&] { return detail::compare(detail::load_acquire_local(word), cmp, value); },
            [&] {
                return detail::waiting(team.control, {Operation::local_wait_until, tag, bound_ns}, word, cmp,
                                       value);
            });
    scope.sync();
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
