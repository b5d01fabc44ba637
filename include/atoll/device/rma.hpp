// Put and get from within kernels, by loads and stores into the peers' slots. Addresses are of the memory
// that the team was made for; nothing is checked. A put is complete at its caller when it returns, and
// ordered by what carries order: put_signal, fence, or quiet and a barrier.
#pragma once

#include "atoll/device/scope.hpp"
#include "atoll/device/words.hpp"

namespace atl::device {

/// One element of 4 or 8 bytes, never torn, in no order.
template <class T> ATOLL_ANYWHERE void p(const Team& team, T* dst, T value, int pe) {
    store_relaxed(peer(team, dst, pe), value);
}
template <class T> ATOLL_ANYWHERE T g(const Team& team, const T* src, int pe) {
    return load_relaxed(peer(team, src, pe));
}

namespace detail {

struct alignas(16) Quad {
    unsigned words[4];
};

/// Many loads before their stores: a link's latency is long, and stores wait for nobody.
constexpr unsigned in_flight = 4;

template <class Unit, class Scope>
ATOLL_ANYWHERE void copy_units(Unit* dst, const Unit* src, unsigned long long n, Scope scope) {
    const unsigned long long step = scope.size();
    unsigned long long i = scope.rank();
    for (; i < n && n - i > (in_flight - 1) * step; i += in_flight * step) {
        Unit units[in_flight];
        for (unsigned k = 0; k < in_flight; ++k) units[k] = src[i + k * step];
        for (unsigned k = 0; k < in_flight; ++k) dst[i + k * step] = units[k];
    }
    for (; i < n; i += step) dst[i] = src[i];
}

template <class Scope>
ATOLL_ANYWHERE void copy(void* dst, const void* src, unsigned long long bytes, Scope scope) {
    const unsigned long long either =
        reinterpret_cast<unsigned long long>(dst) | reinterpret_cast<unsigned long long>(src);
    unsigned long long done = 0;
    if (either % sizeof(Quad) == 0) {
        done = bytes / sizeof(Quad) * sizeof(Quad);
        copy_units(static_cast<Quad*>(dst), static_cast<const Quad*>(src), bytes / sizeof(Quad), scope);
    } else if (either % sizeof(unsigned long long) == 0) {  // words of 8 bytes are never torn
        done = bytes / sizeof(unsigned long long) * sizeof(unsigned long long);
        copy_units(static_cast<unsigned long long*>(dst), static_cast<const unsigned long long*>(src),
                   bytes / sizeof(unsigned long long), scope);
    } else if (either % sizeof(unsigned) == 0) {
        done = bytes / sizeof(unsigned) * sizeof(unsigned);
        copy_units(static_cast<unsigned*>(dst), static_cast<const unsigned*>(src), bytes / sizeof(unsigned),
                   scope);
    }
    copy_units(static_cast<char*>(dst) + done, static_cast<const char*>(src) + done, bytes - done, scope);
}

template <class T, class Scope>
ATOLL_ANYWHERE void copy_strided(T* dst, const T* src, long long dst_stride, long long src_stride,
                                 unsigned long long n, Scope scope) {
    for (unsigned long long i = scope.rank(); i < n; i += scope.size())
        dst[static_cast<long long>(i) * dst_stride] = src[static_cast<long long>(i) * src_stride];
}

ATOLL_ANYWHERE inline void full_fence() {
#if defined(__CUDA_ARCH__)
    __threadfence_system();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

}  // namespace detail

/// `src` may be written again by any thread of the scope after it returned.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void put(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                        Scope scope = {}) {
    detail::copy(peer(team, dst, pe), src, count * sizeof(T), scope);
    scope.sync();
}

/// Every thread of the scope may read `dst` after it returned.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void get(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                        Scope scope = {}) {
    detail::copy(dst, peer(team, src, pe), count * sizeof(T), scope);
    scope.sync();
}

/// Like put and get, but only quiet makes `src` of a put free, and `dst` of a get hold the data for all
/// threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void put_nbi(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                            Scope scope = {}) {
    detail::copy(peer(team, dst, pe), src, count * sizeof(T), scope);
}
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void get_nbi(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                            Scope scope = {}) {
    detail::copy(dst, peer(team, src, pe), count * sizeof(T), scope);
}

/// Element i goes from src[i * src_stride] to dst[i * dst_stride]; strides count elements.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void iput(const Team& team, T* dst, const T* src, long long dst_stride, long long src_stride,
                         unsigned long long count, int pe, Scope scope = {}) {
    detail::copy_strided(peer(team, dst, pe), src, dst_stride, src_stride, count, scope);
    scope.sync();
}
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void iget(const Team& team, T* dst, const T* src, long long dst_stride, long long src_stride,
                         unsigned long long count, int pe, Scope scope = {}) {
    detail::copy_strided(dst, peer(team, src, pe), dst_stride, src_stride, count, scope);
    scope.sync();
}

/// The scope's puts and atomics before it, and what its threads saw, are visible to every PE before what they
/// do after it.
template <class Scope = Thread> ATOLL_ANYWHERE void quiet(const Team&, Scope scope = {}) {
    scope.sync();
    if (scope.rank() == 0) detail::full_fence();
    scope.sync();
}

/// The same for each PE by itself; stores to all of them take the same way.
template <class Scope = Thread> ATOLL_ANYWHERE void fence(const Team& team, Scope scope = {}) {
    quiet(team, scope);
}

/// Sources of the scope's earlier puts may be written again; nothing is said of their targets.
template <class Scope = Thread> ATOLL_ANYWHERE void flush(const Team&, Scope scope = {}) { scope.sync(); }

}  // namespace atl::device
