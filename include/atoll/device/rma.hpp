// Put, get and signals from within kernels, by loads and stores into the peers' slots. Addresses are of the
// memory that the team was made for; nothing is checked. A put is complete at its caller when it returns, and
// ordered by what carries order: put_signal, or quiet and a barrier.
#pragma once

#include "atoll/device/scope.hpp"
#include "atoll/device/words.hpp"

#if !defined(__CUDACC_RTC__)
#include <sched.h>
#endif

namespace atl::device {

enum class Compare { eq, ne, gt, ge, lt, le };

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
    for (; i + (in_flight - 1) * step < n; i += in_flight * step) {
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
    } else if (either % sizeof(unsigned) == 0) {
        done = bytes / sizeof(unsigned) * sizeof(unsigned);
        copy_units(static_cast<unsigned*>(dst), static_cast<const unsigned*>(src), bytes / sizeof(unsigned),
                   scope);
    }
    copy_units(static_cast<char*>(dst) + done, static_cast<const char*>(src) + done, bytes - done, scope);
}

/// More PEs than cores is a normal way to run on a host.
ATOLL_ANYWHERE inline void rest(unsigned looks) {
#if !defined(__CUDA_ARCH__)
    if (looks >= 64) ::sched_yield();
#else
    static_cast<void>(looks);
#endif
}

template <class T> ATOLL_ANYWHERE bool compare(T found, Compare cmp, T expected) {
    switch (cmp) {
        case Compare::eq:
            return found == expected;
        case Compare::ne:
            return found != expected;
        case Compare::gt:
            return found > expected;
        case Compare::ge:
            return found >= expected;
        case Compare::lt:
            return found < expected;
        default:
            return found <= expected;
    }
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

template <class T> ATOLL_ANYWHERE void signal_set(const Team& team, T* signal, T value, int pe) {
    store_release(peer(team, signal, pe), value);
}

/// put, then `signal` is set after the data stand there: whoever sees it by signal_wait_until sees the data.
/// One release by one thread behind the scope's barrier covers what all of its threads stored.
template <class T, class Signal, class Scope = Thread>
ATOLL_ANYWHERE void put_signal(const Team& team, T* dst, const T* src, unsigned long long count,
                               Signal* signal, Signal value, int pe, Scope scope = {}) {
    put(team, dst, src, count, pe, scope);
    if (scope.rank() == 0) signal_set(team, signal, value, pe);
}

/// Waits for this PE's own word, with acquire order for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void signal_wait_until(const Team&, const T* signal, Compare cmp, T value, Scope scope = {}) {
    if (scope.rank() == 0)
        for (unsigned looks = 0; !detail::compare(load_acquire(signal), cmp, value); ++looks)
            detail::rest(looks);
    scope.sync();
}

/// All of this thread's puts, and what it saw through a barrier of its scope, are visible to every PE.
ATOLL_ANYWHERE inline void quiet(const Team&) {
#if defined(__CUDA_ARCH__)
    __threadfence_system();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

}  // namespace atl::device
