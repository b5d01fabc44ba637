// Signals: words written after the data that they announce. Setting and adding release whatever the calling
// thread wrote, or saw through a barrier of its scope; waiting acquires it. A signal to a far PE is ordered
// after earlier requests to that PE. For earlier requests to other far PEs, call quiet first.
#pragma once

#include "atoll/device/atomics.hpp"
#include "atoll/device/rma.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

using atl::SignalOp;

namespace detail {

/// Signals a far PE after all earlier requests to it, by this thread and those it synchronised with.
template <class T>
ATOLL_ANYWHERE void far_signal(const Team& team, Operation operation, T* signal, T value, AtomicOp op,
                               int slot) {
    static_assert(!IsFloating<T>::value, "signals are integers");
    far_word(team.control, far_code(operation, op, far_type<T>(), false, true), slot, signal, sizeof(T),
             bits(value), 0);
}

template <class Signal, class Scope>
ATOLL_ANYWHERE void far_put_signal(const Team& team, void* dst, const void* src, unsigned long long bytes,
                                   Signal* signal, Signal value, SignalOp op, int slot, bool waits,
                                   Scope scope) {
    static_assert(!IsFloating<Signal>::value, "signals are integers");
    scope.sync();
    if (scope.rank() == 0)
        far_copy(team.control, far_code(Operation::put_signal, far_type<Signal>(), op, waits), slot, dst,
                 const_cast<void*>(src), bytes, signal, bits(value));
    scope.sync();
}

}  // namespace detail

/// Set the signal of PE `pe` to `value`. Memory order: release: after all that the thread wrote and saw.
template <class T> ATOLL_ANYWHERE void signal_set(const Team& team, T* signal, SameAs<T> value, int pe) {
    const detail::Traced traced(team, Thread{}, Operation::signal_set, pe, signal, 0, detail::bits_of(value));
    const detail::Route route = detail::route_for(team, Operation::signal_set, signal, pe);
    if (detail::is_far(route.slot))
        return detail::far_signal(team, Operation::signal_set, signal, value, AtomicOp::set, route.slot);
    store_release(route.at(signal), value);
}

/// Add `value` to the signal of PE `pe`. Memory order: release: after all that the thread wrote and saw.
template <class T> ATOLL_ANYWHERE void signal_add(const Team& team, T* signal, SameAs<T> value, int pe) {
    const detail::Traced traced(team, Thread{}, Operation::signal_add, pe, signal, 0, detail::bits_of(value));
    const detail::Route route = detail::route_for(team, Operation::signal_add, signal, pe);
    if (detail::is_far(route.slot))
        return detail::far_signal(team, Operation::signal_add, signal, value, AtomicOp::add, route.slot);
    detail::add_release(route.at(signal), value);
}

/// Return this PE's signal. Memory order: acquire: all that was written before the signal was set can be
/// read.
template <class T> ATOLL_ANYWHERE T signal_fetch(const Team&, const T* signal) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "signals have 4 or 8 bytes");
    return load_acquire(signal);
}

/// Copy src to dst of PE `pe`, then set its signal to `value` (SET), or add `value` to it (ADD). A PE that
/// sees the signal by signal_wait_until also sees the data. On return src may be written again. src and dst
/// are as in put. Memory order: release: the signal becomes visible after the data.
template <class T, class Signal, class Scope = Thread>
ATOLL_ANYWHERE void put_signal(const Team& team, T* dst, const T* src, unsigned long long count,
                               Signal* signal, SameAs<Signal> value, SignalOp op, int pe, Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::put_signal, pe, signal, count * sizeof(T),
                                detail::bits_of(value));
    const detail::Route route = detail::route_for(team, Operation::put_signal, dst, pe);
    detail::check_address(team, Operation::put_signal, signal);
    if (detail::is_far(route.slot))
        return detail::far_put_signal<Signal>(team, dst, src, count * sizeof(T), signal, value, op,
                                              route.slot, true, scope);
    detail::copy(route.at(dst), src, count * sizeof(T), scope);
    // One thread's release behind the scope's barrier covers the stores of all of its threads.
    scope.sync();
    if (scope.rank() != 0) return;
    Signal* there = route.at(signal);
    if (op == SignalOp::set)
        store_release(there, value);
    else
        detail::add_release(there, value);
}
template <class T, class Signal, class Scope = Thread>
ATOLL_ANYWHERE void put_signal(const Team& team, T* dst, const T* src, unsigned long long count,
                               Signal* signal, SameAs<Signal> value, int pe, Scope scope = {}) {
    put_signal(team, dst, src, count, signal, value, SignalOp::set, pe, scope);
}

/// Start to copy src to dst of PE `pe`, then to set its signal to `value` (SET), or add `value` to it (ADD).
/// In kernels it is put_signal: on return src may be written again. Portable programs call quiet first. For a
/// PE that only a transport reaches, src must stay unchanged until quiet. Memory order: release: the signal
/// becomes visible after the data.
template <class T, class Signal, class Scope = Thread>
ATOLL_ANYWHERE void put_signal_nbi(const Team& team, T* dst, const T* src, unsigned long long count,
                                   Signal* signal, SameAs<Signal> value, SignalOp op, int pe,
                                   Scope scope = {}) {
    const detail::Route route = detail::route_for(team, Operation::put_signal_nbi, dst, pe);
    if (detail::is_far(route.slot)) {
        const detail::Traced traced(team, scope, Operation::put_signal_nbi, pe, signal, count * sizeof(T),
                                    detail::bits_of(value));
        return detail::far_put_signal<Signal>(team, dst, src, count * sizeof(T), signal, value, op,
                                              route.slot, false, scope);
    }
    put_signal(team, dst, src, count, signal, value, op, pe, scope);
}

namespace detail {

/// Waits as signal_wait_until does. The thread of rank 0 gets the value that ended the wait.
template <class T, class Scope>
ATOLL_ANYWHERE T signal_that_ends(const Team& team, const T* signal, Compare cmp, T value, Scope scope,
                                  int tag, unsigned long long bound_ns) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "signals have 4 or 8 bytes");
    const Traced traced(team, scope, Operation::signal_wait_until, -1, signal, 0, bits_of(value));
    T last{};
    if (scope.rank() == 0) {
        const Call call{Operation::signal_wait_until, tag, bound_ns};
        spin_on(
            team, signal,
            [&](T found) {
                last = found;
                return compare(found, cmp, value);
            },
            [&] { return waiting(team.control, call, signal, cmp, value); });
    }
    scope.sync();
    return last;
}

}  // namespace detail

/// Wait until this PE's signal cmp `value` holds. A wait longer than `bound_ns` is reported with `tag`.
/// Memory order: acquire, for all threads of the scope: they may read all that was written before the signal.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void signal_wait_until(const Team& team, const T* signal, Compare cmp, SameAs<T> value,
                                      Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    static_cast<void>(detail::signal_that_ends<T>(team, signal, cmp, value, scope, tag, bound_ns));
}

/// Wait until this PE's signal is at least n, then subtract n. So a CUDA graph that is launched again finds
/// the word as before. The subtraction is an atomic of the GPU: no CPU may write the word meanwhile. A wait
/// longer than `bound_ns` is reported with `tag`. Memory order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void signal_consume(const Team& team, T* signal, SameAs<T> n, Scope scope = {}, int tag = 0,
                                   unsigned long long bound_ns = 0) {
    const detail::Traced traced(team, scope, Operation::signal_consume, -1, signal, 0, detail::bits_of(T(n)));
    if (scope.rank() == 0) {
        const detail::Call call{Operation::signal_consume, tag, bound_ns};
        detail::spin_on(
            team, signal, [&](T found) { return found >= n; },
            [&] { return detail::waiting(team.control, call, signal, Compare::ge, n); });
        static_cast<void>(detail::fetch_add_at(signal, static_cast<T>(T{0} - n)));
    }
    scope.sync();
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
