// Put and get within kernels, by loads and stores into the peers' slots. Addresses are in the team's memory;
// only the PE is checked (atoll/device/peers.hpp). A put is locally complete on return. put_signal, fence, or
// quiet and a barrier order it.
#pragma once

#include "atoll/device/bulk.hpp"
#include "atoll/device/scope.hpp"
#include "atoll/device/words.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

/// Number of loads in flight before their stores: a link's latency is long, and stores do not wait.
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

/// Copies one word of the rest of a copy, if it has one of this size. The rest is less than a unit of the
/// largest size.
template <class Unit>
ATOLL_ANYWHERE unsigned copy_word(char* dst, const char* src, unsigned long long bytes) {
    if (bytes % (2 * sizeof(Unit)) < sizeof(Unit)) return 0;
    *reinterpret_cast<Unit*>(dst) = *reinterpret_cast<const Unit*>(src);
    return sizeof(Unit);
}

/// Copies in units as large as both addresses allow. Words of 2, 4 or 8 bytes at multiples of their size in
/// both arrays are not torn. Host compilers do not guarantee that.
template <class Unit, class Scope>
ATOLL_ANYWHERE void copy_aligned(void* to, const void* from, unsigned long long bytes, Scope scope) {
    copy_units(static_cast<Unit*>(to), static_cast<const Unit*>(from), bytes / sizeof(Unit), scope);
    const unsigned long long done = bytes / sizeof(Unit) * sizeof(Unit);
    if (done == bytes || scope.rank() != scope.size() - 1) return;
    char* dst = static_cast<char*>(to) + done;
    const char* src = static_cast<const char*>(from) + done;
    unsigned at = 0;
    if (sizeof(Unit) > 8) at += copy_word<Raw<unsigned long long>>(dst, src, bytes);
    if (sizeof(Unit) > 4) at += copy_word<Raw<unsigned>>(dst + at, src + at, bytes);
    if (sizeof(Unit) > 2) at += copy_word<Raw<unsigned short>>(dst + at, src + at, bytes);
    copy_word<char>(dst + at, src + at, bytes);
}

template <class Scope>
ATOLL_ANYWHERE void copy(void* dst, const void* src, unsigned long long bytes, Scope scope) {
    const unsigned long long either =
        reinterpret_cast<unsigned long long>(dst) | reinterpret_cast<unsigned long long>(src);
    if (either % sizeof(Quad) == 0)
        copy_aligned<Quad>(dst, src, bytes, scope);
    else if (either % sizeof(unsigned long long) == 0)
        copy_aligned<Raw<unsigned long long>>(dst, src, bytes, scope);
    else if (either % sizeof(unsigned) == 0)
        copy_aligned<Raw<unsigned>>(dst, src, bytes, scope);
    else if (either % sizeof(unsigned short) == 0)
        copy_aligned<Raw<unsigned short>>(dst, src, bytes, scope);
    else
        copy_units(static_cast<char*>(dst), static_cast<const char*>(src), bytes, scope);
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

/// Stores one element to a far PE through the host.
template <class T>
ATOLL_ANYWHERE void far_store(const Team& team, Operation operation, T* dst, T value, int slot) {
    const unsigned code = far_code(operation, FarKind::put, false);
    if constexpr (is_word<T>()) {
        const auto data = same_bits<typename Bits<sizeof(T)>::type>(value);
        far_word(team.control, code, slot, dst, sizeof(T), data, 0);
    } else {
        far_copy(team.control, code, slot, dst, &value, sizeof(T), nullptr, 0);
    }
}
template <class T> ATOLL_ANYWHERE T far_load(const Team& team, Operation operation, const T* src, int slot) {
    const unsigned code = far_code(operation, FarKind::get, true);
    T* from = const_cast<T*>(src);
    if constexpr (is_word<T>()) {
        using Word = typename Bits<sizeof(T)>::type;
        return same_bits<T>(static_cast<Word>(far_word(team.control, code, slot, from, sizeof(T), 0, 0)));
    } else {
        T value;
        far_copy(team.control, code, slot, from, &value, sizeof(T), nullptr, 0);
        return value;
    }
}

/// Makes one request for the whole scope, after a barrier of it. With `waits` it returns when `here` may be
/// reused.
template <class Scope>
ATOLL_ANYWHERE void far_move(const Team& team, Operation operation, FarKind kind, int slot, const void* there,
                             const void* here, unsigned long long bytes, bool waits, Scope scope) {
    scope.sync();
    if (bytes != 0 && scope.rank() == 0)
        far_copy(team.control, far_code(operation, kind, waits), slot, const_cast<void*>(there),
                 const_cast<void*>(here), bytes, nullptr, 0);
    if (waits) scope.sync();
}
template <class T, class Scope>
ATOLL_ANYWHERE void far_blocks(const Team& team, Operation operation, FarKind kind, int slot, const T* there,
                               const T* here, long long there_stride, long long here_stride,
                               unsigned long long block, unsigned long long count, Scope scope) {
    scope.sync();
    if (block != 0 && count != 0 && scope.rank() == 0)
        far_strided(team.control, far_code(operation, kind, true), slot, const_cast<T*>(there),
                    const_cast<T*>(here), there_stride * static_cast<long long>(sizeof(T)),
                    here_stride * static_cast<long long>(sizeof(T)), block * sizeof(T), count);
    scope.sync();
}

}  // namespace detail

/// Store `value` in dst[0] of PE `pe`. Memory order: none: only fence and quiet order the store. An element
/// of 1, 2, 4 or 8 bytes is never torn.
template <class T> ATOLL_ANYWHERE void p(const Team& team, T* dst, SameAs<T> value, int pe) {
    const detail::Route route = detail::route_for(team, Operation::p, dst, pe);
    if (detail::is_far(route.slot)) return detail::far_store(team, Operation::p, dst, value, route.slot);
    if constexpr (detail::is_word<T>())
        store_relaxed(route.at(dst), value);
    else
        *route.at(dst) = value;
}

/// Return src[0] of PE `pe`. Memory order: none. An element of 1, 2, 4 or 8 bytes is never torn.
template <class T> ATOLL_ANYWHERE T g(const Team& team, const T* src, int pe) {
    const detail::Route route = detail::route_for(team, Operation::g, src, pe);
    if (detail::is_far(route.slot)) return detail::far_load(team, Operation::g, src, route.slot);
    if constexpr (detail::is_word<T>())
        return load_relaxed(route.at(src));
    else
        return *route.at(src);
}

/// Copy src to dst of PE `pe`. On return src may be written again. Memory order: the data are visible after
/// quiet, and to a PE that has seen a later signal.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void put(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                        Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::put, pe, dst, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::put, dst, pe);
    if (detail::is_far(route.slot))
        return detail::far_move(team, Operation::put, FarKind::put, route.slot, dst, src, count * sizeof(T),
                                true, scope);
    detail::copy(route.at(dst), src, count * sizeof(T), scope);
    scope.sync();
}

/// Copy src of PE `pe` to dst. On return all threads of the scope may read dst. Memory order: the data have
/// arrived on return. It orders no other operation.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void get(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                        Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::get, pe, src, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::get, src, pe);
    if (detail::is_far(route.slot))
        return detail::far_move(team, Operation::get, FarKind::get, route.slot, src, dst, count * sizeof(T),
                                true, scope);
    detail::copy(dst, route.at(src), count * sizeof(T), scope);
    scope.sync();
}

/// Start to copy src to dst of PE `pe`. The data are complete, and src may be written, only after quiet. src
/// may also be written after flush. Memory order: the data are visible after quiet.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void put_nbi(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                            Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::put_nbi, pe, dst, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::put_nbi, dst, pe);
    if (detail::is_far(route.slot))
        return detail::far_move(team, Operation::put_nbi, FarKind::put, route.slot, dst, src,
                                count * sizeof(T), false, scope);
    detail::copy(route.at(dst), src, count * sizeof(T), scope);
}

/// Start to copy src of PE `pe` to dst. dst may be read only after quiet. Memory order: the data arrive by
/// quiet. It orders no other operation.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void get_nbi(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                            Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::get_nbi, pe, src, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::get_nbi, src, pe);
    if (detail::is_far(route.slot))
        return detail::far_move(team, Operation::get_nbi, FarKind::get, route.slot, src, dst,
                                count * sizeof(T), false, scope);
    detail::copy(dst, route.at(src), count * sizeof(T), scope);
}

/// Start to copy src to dst of PE `pe`, while the threads go on: for large blocks in shared memory. GPUs of
/// sm_90 and later use bulk copies (1 KiB and more, addresses and size multiples of 16 bytes); otherwise it
/// is put_nbi. After flush src may be written again. Quiet, fence and barrier complete the copies. Call one
/// of these three before a signal that announces the data, in the scope of the copies or a larger one. Call
/// one of the four before the block ends, since its shared memory ends then. Memory order: the data are
/// visible after quiet, fence or barrier.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void async_put(const Team& team, T* dst, const T* src, unsigned long long count, int pe,
                              Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::async_put, pe, dst, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::async_put, dst, pe);
    if (detail::is_far(route.slot))
        return detail::far_move(team, Operation::async_put, FarKind::put, route.slot, dst, src,
                                count * sizeof(T), false, scope);
    T* there = route.at(dst);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (detail::WithinBlock<Scope>::value) {
        if (detail::can_bulk(there, src, count * sizeof(T))) {
            detail::see_shared();
            scope.sync();
            if (scope.rank() == 0) detail::start_bulk(there, src, count * sizeof(T));
            return;
        }
    }
#endif
    detail::copy(there, src, count * sizeof(T), scope);
}

/// Copy src[i * src_stride] to dst[i * dst_stride] of PE `pe`, for each i below the count. Strides count
/// elements from the first. Memory order: as put.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void iput(const Team& team, T* dst, const T* src, long long dst_stride, long long src_stride,
                         unsigned long long count, int pe, Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::iput, pe, dst, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::iput, dst, pe);
    if (detail::is_far(route.slot))
        return detail::far_blocks(team, Operation::iput, FarKind::put, route.slot, dst, src, dst_stride,
                                  src_stride, 1, count, scope);
    detail::copy_strided(route.at(dst), src, dst_stride, src_stride, count, scope);
    scope.sync();
}

/// Copy src[i * src_stride] of PE `pe` to dst[i * dst_stride], for each i below the count. Strides count
/// elements from the first. On return all threads of the scope may read dst. Memory order: as get.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void iget(const Team& team, T* dst, const T* src, long long dst_stride, long long src_stride,
                         unsigned long long count, int pe, Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::iget, pe, src, count * sizeof(T));
    const detail::Route route = detail::route_for(team, Operation::iget, src, pe);
    if (detail::is_far(route.slot))
        return detail::far_blocks(team, Operation::iget, FarKind::get, route.slot, src, dst, src_stride,
                                  dst_stride, 1, count, scope);
    detail::copy_strided(dst, route.at(src), dst_stride, src_stride, count, scope);
    scope.sync();
}

namespace detail {

/// Fences all PEs in the window at once: stores to them use the same path.
template <class Scope> ATOLL_ANYWHERE void fence_near(Scope scope) {
    complete_bulk();
    scope.sync();
    if (scope.rank() == 0) full_fence();
    scope.sync();
}

}  // namespace detail

/// Complete the puts, atomics and signals of the scope at all PEs. They, also those of async_put and the _nbi
/// forms, and all that the scope saw, become visible to every PE before its later operations. It waits for no
/// other PE. Memory order: release and acquire at all PEs (a full fence).
template <class Scope = Thread> ATOLL_ANYWHERE void quiet(const Team& team, Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::quiet);
    detail::settle_far(team, Operation::quiet, FarKind::quiet, scope);
    detail::fence_near(scope);
}

/// Order the earlier puts, atomics and signals of the scope before its later ones, at each PE. In kernels it
/// is quiet: they are complete, async_put too. Memory order: as quiet.
template <class Scope = Thread> ATOLL_ANYWHERE void fence(const Team& team, Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::fence);
    detail::settle_far(team, Operation::fence, FarKind::fence, scope);
    detail::fence_near(scope);
}

/// Wait until the sources of the earlier puts of the scope, async_put too, may be written again. It does not
/// complete them at their targets; quiet does. Memory order: none: it completes nothing at the targets.
template <class Scope = Thread> ATOLL_ANYWHERE void flush(const Team& team, Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::flush);
    detail::settle_far(team, Operation::flush, FarKind::flush, scope);
    detail::read_bulk();
    scope.sync();
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
