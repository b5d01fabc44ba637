// Collectives within kernels, at thread (of the host too), warp, block and grid scope. All members call with
// one scope each, in the same order, with the same counts, roots and operators; one at a time for a team. On
// return dst holds this member's result for all threads of the scope, and all members may overwrite src. A
// team's next call may come from other threads (another warp, another block). These first synchronise with
// the threads of the last call, by __syncthreads or wider. Only the root is checked. dst and src may overlap
// only if a function allows it. A wait longer than `bound_ns` is reported with `tag`; 0 means the team's
// bound.
//
// Small ones use flagged words in the team's own slots: one trip over the link, and any src and dst that the
// caller can address. Others (see `is_small`) synchronise before and after, and need a symmetric dst;
// reductions also a symmetric src. Reductions are evaluated in PE order, so all members and all runs get the
// same bits.
#pragma once

#include "atoll/device/exchange.hpp"
#include "atoll/device/operators.hpp"
#include "atoll/device/rma.hpp"
#include "atoll/device/sync.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// True if messages of this size between members use flagged words.
template <class T> ATOLL_ANYWHERE bool is_small(const Team& team, unsigned long long count) {
    return count * sizeof(T) <= detail::Exchange<Thread>::most_bytes(team);
}

namespace detail {

template <class T, class Scope>
ATOLL_ANYWHERE void copy_own(T* dst, const T* src, unsigned long long count, Scope scope) {
    if (dst != src) copy(dst, src, count * sizeof(T), scope);
}

/// Copies to all members, starting with the next, so that members do not all store to one at once.
template <class T, class Scope>
ATOLL_ANYWHERE void put_to_all(const Team& team, T* dst, const T* src, unsigned long long count,
                               Scope scope) {
    int pe = team.my_pe;
    ATOLL_ROLLED for (int k = 0; k < team.n_pes; ++k) {
        pe = pe + 1 < team.n_pes ? pe + 1 : 0;
        T* const to = at(team, dst, pe);
        if (to != src) copy(to, src, count * sizeof(T), scope);
    }
}

/// Eight bytes of elements.
template <class T> union Part {
    static_assert(8 % sizeof(T) == 0, "elements are of 1, 2, 4 or 8 bytes");
    unsigned long long bits;
    T element[8 / sizeof(T)];
    ATOLL_ANYWHERE Part() : bits(0) {}
};

/// Folds eight bytes of elements over the members, in PE order. from(pe) returns each member's.
template <class T, class Op, class From>
ATOLL_ANYWHERE unsigned long long fold_part(const Team& team, Op op, From from) {
    using W = typename Wide<T>::type;
    constexpr unsigned n = 8 / sizeof(T);
    W so_far[n] = {};
    Part<T> part;
    for (int pe = 0; pe < team.n_pes; ++pe) {
        part.bits = from(pe);
        for (unsigned k = 0; k < n; ++k) {
            const W value = Conversion<T>::widen(part.element[k]);
            so_far[k] = pe == 0 ? value : op(so_far[k], value);
        }
    }
    for (unsigned k = 0; k < n; ++k) part.element[k] = Conversion<T>::narrow(so_far[k]);
    return part.bits;
}

/// Folds the messages of all members into dst; `own` holds this member's part.
template <class T, class Op, class Scope>
ATOLL_ANYWHERE void fold_received(const Team& team, const Exchange<Scope>& exchange, T* dst, const T* own,
                                  unsigned long long bytes, Op op, Scope scope) {
    const auto pairs = static_cast<unsigned>((bytes + 7) / 8);
    for (unsigned i = scope.rank(); i < pairs; i += scope.size()) {
        const unsigned long long folded = fold_part<T>(team, op, [&](int pe) {
            return pe == team.my_pe ? load_part(own, bytes, i) : exchange.part(pe, i);
        });
        store_part(dst, bytes, i, folded);
    }
    if (pairs == 0)
        exchange.receive(
            0, [](int) { return 0ull; }, [](int, unsigned, unsigned long long) {});
}

/// Folds `n` elements of src, `step` apart from i on, over the members. Their loads are in flight at once.
template <unsigned n, class T, class Op>
ATOLL_ANYWHERE void fold_apart(const Team& team, const T* src, unsigned long long i, unsigned long long step,
                               Op op, T (&folded)[n]) {
    using W = typename Wide<T>::type;
    W so_far[n] = {};
    ATOLL_ROLLED for (int pe = 0; pe < team.n_pes; ++pe) {
        const T* from = at(team, src, pe) + i;
        T value[n];
        for (unsigned k = 0; k < n; ++k) value[k] = from[k * step];
        for (unsigned k = 0; k < n; ++k)
            so_far[k] =
                pe == 0 ? Conversion<T>::widen(value[k]) : op(so_far[k], Conversion<T>::widen(value[k]));
    }
    for (unsigned k = 0; k < n; ++k) folded[k] = Conversion<T>::narrow(so_far[k]);
}

/// Folds the elements [begin, end) of src over the members and passes them on: to(i, step, values), with
/// values `step` apart from i on. Each thread has its own elements.
template <class T, class Op, class Scope, class To>
ATOLL_ANYWHERE void fold_pulled(const Team& team, const T* src, unsigned long long begin,
                                unsigned long long end, Op op, Scope scope, To to) {
    constexpr unsigned most = 4;
    const unsigned long long step = scope.size();
    unsigned long long i = begin + scope.rank();
    for (; i + (most - 1) * step < end; i += most * step) {
        T folded[most];
        fold_apart(team, src, i, step, op, folded);
        to(i, step, folded);
    }
    ATOLL_ROLLED for (; i < end; i += step) {
        T folded[1];
        fold_apart(team, src, i, step, op, folded);
        to(i, step, folded);
    }
}

/// Stores results of fold_pulled to this PE's dst, whose first element has index `begin`. (A struct: NVRTC
/// accepts no generic lambdas.)
template <class T> struct StoreHere {
    T* dst;
    unsigned long long begin;
    template <unsigned n>
    ATOLL_ANYWHERE void operator()(unsigned long long i, unsigned long long step,
                                   const T (&values)[n]) const {
        for (unsigned k = 0; k < n; ++k) dst[i - begin + k * step] = values[k];
    }
};

/// Stores to all members, starting with the next, so that members do not all store to one at once.
template <class T> struct StoreToAll {
    const Team& team;
    T* dst;
    template <unsigned n>
    ATOLL_ANYWHERE void operator()(unsigned long long i, unsigned long long step,
                                   const T (&values)[n]) const {
        int pe = team.my_pe;
        ATOLL_ROLLED for (int k = 0; k < team.n_pes; ++k) {
            pe = pe + 1 < team.n_pes ? pe + 1 : 0;
            StoreHere<T>{at(team, dst, pe), 0}(i, step, values);
        }
    }
};

}  // namespace detail

/// Copy src of member `root` to dst of every member, the root too. dst may be src. A wait longer than
/// `bound_ns` is reported with `tag`. Memory order: on return all threads of the scope may read dst and write
/// src.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void broadcast(const Team& team, T* dst, const T* src, unsigned long long count, int root,
                              Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::broadcast, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, root, nullptr, count * sizeof(T));
    detail::check_pe(team, Operation::broadcast, root);
    detail::check_near(team, Operation::broadcast);
    const unsigned long long bytes = count * sizeof(T);
    if (!is_small<T>(team, count)) {
        detail::check_address(team, call.operation, dst);
        detail::meet(team, scope, call);
        if (team.my_pe == root) detail::put_to_all(team, dst, src, count, scope);
        return detail::meet(team, scope, call);
    }
    const detail::Exchange<Scope> exchange(team, scope, call);
    exchange.send(team.my_pe == root ? bytes : 0, [&](int) { return src; });
    exchange.receive(
        bytes, [&](int pe) { return pe == root ? bytes : 0; },
        [&](int pe, unsigned i, unsigned long long data) {
            if (pe == root) detail::store_part(dst, bytes, i, data);
        });
    if (team.my_pe == root) detail::copy_own(dst, src, count, scope);
    exchange.end();
}

namespace detail {

template <class T, class Scope>
ATOLL_ANYWHERE void gather_to_all(const Team& team, T* dst, const T* src, unsigned long long count,
                                  Scope scope, const Call& call) {
    const unsigned long long bytes = count * sizeof(T);
    T* own = dst + static_cast<unsigned long long>(team.my_pe) * count;
    if (!is_small<T>(team, count)) {
        check_address(team, call.operation, dst);
        meet(team, scope, call);
        put_to_all(team, own, src, count, scope);
        return meet(team, scope, call);
    }
    const Exchange<Scope> exchange(team, scope, call);
    exchange.send(bytes, [&](int) { return src; });
    exchange.receive(
        bytes, [&](int) { return bytes; },
        [&](int pe, unsigned i, unsigned long long data) {
            store_part(dst + static_cast<unsigned long long>(pe) * count, bytes, i, data);
        });
    copy_own(own, src, count, scope);
    exchange.end();
}

}  // namespace detail

/// Gather src of member 0, 1, … one after the other in dst of every member. src may be its own block of dst.
/// A wait longer than `bound_ns` is reported with `tag`. Memory order: on return all threads of the scope may
/// read dst and write src.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void fcollect(const Team& team, T* dst, const T* src, unsigned long long count,
                             Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Traced traced(team, scope, Operation::fcollect, -1, nullptr, count * sizeof(T));
    detail::check_near(team, Operation::fcollect);
    detail::gather_to_all(team, dst, src, count, scope, {Operation::fcollect, tag, bound_ns});
}

/// Gather src of member 0, 1, …, whose sizes may differ, in dst of every member; return the number of
/// elements. The target is symmetric; src may be this member's part of it. A wait longer than `bound_ns` is
/// reported with `tag`. Memory order: on return all threads of the scope may read dst and write src.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long collect(const Team& team, T* dst, const T* src, unsigned long long count,
                                          Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::collect, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, count * sizeof(T));
    detail::check_near(team, Operation::collect);
    detail::check_address(team, call.operation, dst);
    unsigned long long* counts = detail::counts_of(team);
    detail::gather_to_all(team, counts, &count, 1, scope, call);
    unsigned long long before = 0, all = 0;
    for (int pe = 0; pe < team.n_pes; ++pe) {
        if (pe < team.my_pe) before += counts[pe];
        all += counts[pe];
    }
    detail::meet(team, scope, call);
    detail::put_to_all(team, dst + before, src, count, scope);
    detail::meet(team, scope, call);
    return all;
}

/// Copy block j of this member's src to block my_pe of member j's dst. A block has `count` elements. A wait
/// longer than `bound_ns` is reported with `tag`. Memory order: on return all threads of the scope may read
/// dst and write src.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void alltoall(const Team& team, T* dst, const T* src, unsigned long long count,
                             Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::alltoall, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, count * sizeof(T));
    detail::check_near(team, Operation::alltoall);
    const unsigned long long bytes = count * sizeof(T);
    const auto block = [&](int pe) { return static_cast<unsigned long long>(pe) * count; };
    if (!is_small<T>(team, count)) {
        detail::check_address(team, call.operation, dst);
        detail::meet(team, scope, call);
        for (int k = 0; k < team.n_pes; ++k) {
            const int pe = (team.my_pe + k) % team.n_pes;
            detail::copy(detail::at(team, dst + block(team.my_pe), pe), src + block(pe), bytes, scope);
        }
        return detail::meet(team, scope, call);
    }
    const detail::Exchange<Scope> exchange(team, scope, call);
    exchange.send(bytes, [&](int pe) { return src + block(pe); });
    exchange.receive(
        bytes, [&](int) { return bytes; },
        [&](int pe, unsigned i, unsigned long long data) {
            detail::store_part(dst + block(pe), bytes, i, data);
        });
    detail::copy_own(dst + block(team.my_pe), src + block(team.my_pe), count, scope);
    exchange.end();
}

/// Set dst of every member to src of member 0 op src of member 1 op …, element by element. Folded in PE
/// order: the same bits on all members. Integers wrap around, and NaN propagates. dst may be src. A wait
/// longer than `bound_ns` is reported with `tag`. Memory order: on return all threads of the scope may read
/// dst and write src.
template <class T, class Op, class Scope = Thread>
ATOLL_ANYWHERE void reduce(const Team& team, T* dst, const T* src, unsigned long long count, Op op,
                           Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::reduce, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, count * sizeof(T));
    detail::check_near(team, Operation::reduce);
    if (is_small<T>(team, count)) {
        const detail::Exchange<Scope> exchange(team, scope, call);
        exchange.send(count * sizeof(T), [&](int) { return src; });
        scope.sync();  // dst may be src: write it only after all threads have sent
        detail::fold_received(team, exchange, dst, src, count * sizeof(T), op, scope);
        return exchange.end();
    }
    detail::check_address(team, call.operation, dst);
    detail::check_address(team, call.operation, src);
    detail::meet(team, scope, call);
    const auto n = static_cast<unsigned long long>(team.n_pes),
               me = static_cast<unsigned long long>(team.my_pe);
    const unsigned long long part = (count + n - 1) / n;
    const unsigned long long begin = me * part < count ? me * part : count;
    const unsigned long long end = begin + part < count ? begin + part : count;
    detail::fold_pulled(team, src, begin, end, op, scope, detail::StoreToAll<T>{team, dst});
    detail::meet(team, scope, call);
}

/// Set dst to block my_pe of the reduction of src over the members. src has n_pes blocks of `count` elements,
/// apart from dst. Folded in PE order. A wait longer than `bound_ns` is reported with `tag`. Memory order: on
/// return all threads of the scope may read dst and write src.
template <class T, class Op, class Scope = Thread>
ATOLL_ANYWHERE void reduce_scatter(const Team& team, T* dst, const T* src, unsigned long long count, Op op,
                                   Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::reduce_scatter, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, count * sizeof(T));
    detail::check_near(team, Operation::reduce_scatter);
    const auto block = [&](int pe) { return static_cast<unsigned long long>(pe) * count; };
    if (is_small<T>(team, count)) {
        const detail::Exchange<Scope> exchange(team, scope, call);
        exchange.send(count * sizeof(T), [&](int pe) { return src + block(pe); });
        detail::fold_received(team, exchange, dst, src + block(team.my_pe), count * sizeof(T), op, scope);
        return exchange.end();
    }
    detail::check_address(team, call.operation, src);
    detail::meet(team, scope, call);
    const unsigned long long begin = block(team.my_pe);
    detail::fold_pulled(team, src, begin, begin + count, op, scope, detail::StoreHere<T>{dst, begin});
    detail::meet(team, scope, call);
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
