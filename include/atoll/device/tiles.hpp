// Two-dimensional tiles: put, get, and collectives over a team's members, with the rules of
// atoll/device/collectives.hpp. Rows may be separated (the pitch), so a tile may be a part of a matrix. No
// multicast: loads and stores into the peers' slots.
#pragma once

#include "atoll/device/operators.hpp"
#include "atoll/device/rma.hpp"
#include "atoll/device/sync.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// `rows` times `cols` elements; row r begins at data + r * pitch. At most 2^31 elements.
template <class T> struct Tile {
    T* data;
    unsigned rows, cols;
    long long pitch;
};
template <class T> ATOLL_ANYWHERE Tile<T> make_tile(T* data, unsigned rows, unsigned cols, long long pitch) {
    return {data, rows, cols, pitch};
}

namespace detail {

template <class A, class B> struct IsSame { static constexpr bool value = false; };
template <class A> struct IsSame<A, A> { static constexpr bool value = true; };

template <class T> ATOLL_ANYWHERE unsigned long long bits_of_tile(const Tile<T>& tile) {
    return reinterpret_cast<unsigned long long>(tile.data) |
           static_cast<unsigned long long>(tile.pitch) * sizeof(T) | tile.cols * sizeof(T);
}

template <class T> ATOLL_ANYWHERE unsigned long long bytes_of_tile(const Tile<T>& tile) {
    return static_cast<unsigned long long>(tile.rows) * tile.cols * sizeof(T);
}

/// Consecutive elements that are loaded and stored at once.
template <class T, unsigned N> struct alignas(N == 1 ? alignof(T) : N * sizeof(T)) ATOLL_MAY_ALIAS Run {
    T element[N];
};

/// Number of elements of T in `Bytes` bytes; 1 if they do not divide it, or T is at least as large.
template <class T, unsigned Bytes> struct RunOf {
    static constexpr unsigned value = sizeof(T) < Bytes && Bytes % sizeof(T) == 0 ? Bytes / sizeof(T) : 1;
};

/// Address of run number i of a tile, counted along its rows.
template <unsigned N, class T> ATOLL_ANYWHERE T* run_at(const Tile<T>& tile, unsigned i) {
    const unsigned in_row = tile.cols / N, row = i / in_row;
    return tile.data + row * tile.pitch + (i - row * in_row) * N;
}

template <unsigned N, class T, class Scope>
ATOLL_ANYWHERE void copy_runs(const Tile<T>& dst, const Tile<const T>& src, Scope scope) {
    using R = Run<T, N>;
    const unsigned all = src.cols / N * src.rows, step = scope.size();
    for (unsigned i = scope.rank(); i < all; i += in_flight * step) {
        R runs[in_flight] = {};
        for (unsigned k = 0; k < in_flight; ++k)
            if (i + k * step < all) runs[k] = *reinterpret_cast<const R*>(run_at<N>(src, i + k * step));
        for (unsigned k = 0; k < in_flight; ++k)
            if (i + k * step < all) *reinterpret_cast<R*>(run_at<N>(dst, i + k * step)) = runs[k];
    }
}

/// Copies a tile. Both have the shape of `src`.
template <class T, class Scope>
ATOLL_ANYWHERE void copy_tile(const Tile<T>& dst, const Tile<const T>& src, Scope scope) {
    const unsigned long long bits = bits_of_tile(dst) | bits_of_tile(src);
    if (bits % 16 == 0)
        copy_runs<RunOf<T, 16>::value>(dst, src, scope);
    else if (bits % 8 == 0)
        copy_runs<RunOf<T, 8>::value>(dst, src, scope);
    else
        copy_runs<1>(dst, src, scope);
}

/// The part of a reduction that one member computes, and the members that get it.
enum class Fold {
    shared,     ///< this member's share, stored at all members
    here,       ///< all of it, stored here
    everywhere  ///< all of it, stored at all members
};

/// Folds runs over the members in PE order.
template <unsigned N, Fold fold, class T, class Op, class Scope>
ATOLL_ANYWHERE void fold_runs(const Team& team, const Tile<T>& dst, const Tile<const T>& src, Op op,
                              Scope scope) {
    using R = Run<T, N>;
    using W = typename Wide<T>::type;
    const auto n = static_cast<unsigned>(team.n_pes), me = static_cast<unsigned>(team.my_pe);
    const unsigned all = src.cols / N * src.rows, part = fold == Fold::shared ? (all + n - 1) / n : all;
    const unsigned begin = fold != Fold::shared ? 0 : me * part < all ? me * part : all;
    const unsigned end = part < all - begin ? begin + part : all;
    for (unsigned i = begin + scope.rank(); i < end; i += scope.size()) {
        const R* from = reinterpret_cast<const R*>(run_at<N>(src, i));
        W so_far[N] = {};
        for (int first = 0; first < team.n_pes; first += in_flight) {
            R runs[in_flight] = {};
            for (int k = 0; k < static_cast<int>(in_flight); ++k)
                if (first + k < team.n_pes) runs[k] = *at(team, from, first + k);
            for (int k = 0; k < static_cast<int>(in_flight); ++k)
                if (first + k < team.n_pes)
                    for (unsigned e = 0; e < N; ++e) {
                        const W value = Conversion<T>::widen(runs[k].element[e]);
                        so_far[e] = first + k == 0 ? value : op(so_far[e], value);
                    }
        }
        R result;
        for (unsigned e = 0; e < N; ++e) result.element[e] = Conversion<T>::narrow(so_far[e]);
        R* to = reinterpret_cast<R*>(run_at<N>(dst, i));
        if constexpr (fold == Fold::here)
            *to = result;
        else
            for (int k = 1; k <= team.n_pes; ++k) *at(team, to, (team.my_pe + k) % team.n_pes) = result;
    }
}

/// Folds the tiles `src` of all members into `dst`. Both have the shape of `src`.
template <Fold fold, class T, class Op, class Scope>
ATOLL_ANYWHERE void fold_tile(const Team& team, const Tile<T>& dst, const Tile<const T>& src, Op op,
                              Scope scope) {
    if ((bits_of_tile(dst) | bits_of_tile(src)) % 16 == 0)
        fold_runs<RunOf<T, 16>::value, fold>(team, dst, src, op, scope);
    else
        fold_runs<1, fold>(team, dst, src, op, scope);
}

/// Stores `src` in `dst` of every member, this one last.
template <class T, class Scope>
ATOLL_ANYWHERE void push_tile(const Team& team, const Tile<T>& dst, const Tile<const T>& src, Scope scope) {
    for (int k = 1; k <= team.n_pes; ++k) {
        T* there = at(team, dst.data, (team.my_pe + k) % team.n_pes);
        copy_tile(Tile<T>{there, src.rows, src.cols, dst.pitch}, src, scope);
    }
}

template <class T, class S> ATOLL_ANYWHERE Tile<const T> as_source(const Tile<S>& src) {
    static_assert(IsSame<const T, const S>::value, "tiles of one element type");
    return {src.data, src.rows, src.cols, src.pitch};
}

}  // namespace detail

/// Copy a tile src to the tile dst of PE `pe`. On return src may be written again. Both have src's shape.
/// Memory order: as put.
template <class T, class S, class Scope = Thread>
ATOLL_ANYWHERE void tile_put(const Team& team, const Tile<T>& dst, const Tile<S>& src, int pe,
                             Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::tile_put, pe, dst.data, detail::bytes_of_tile(src));
    const detail::Route route = detail::route_for(team, Operation::tile_put, dst.data, pe);
    if (detail::is_far(route.slot))
        return detail::far_blocks<T>(team, Operation::tile_put, FarKind::put, route.slot, dst.data, src.data,
                                     dst.pitch, src.pitch, src.cols, src.rows, scope);
    const Tile<T> there{route.at(dst.data), src.rows, src.cols, dst.pitch};
    detail::copy_tile(there, detail::as_source<T>(src), scope);
    scope.sync();
}

/// Copy a tile src of PE `pe` to the tile dst. On return all threads of the scope may read dst. Both have
/// dst's shape. Memory order: as get.
template <class T, class S, class Scope = Thread>
ATOLL_ANYWHERE void tile_get(const Team& team, const Tile<T>& dst, const Tile<S>& src, int pe,
                             Scope scope = {}) {
    const detail::Traced traced(team, scope, Operation::tile_get, pe, src.data, detail::bytes_of_tile(dst));
    const detail::Route route = detail::route_for(team, Operation::tile_get, src.data, pe);
    if (detail::is_far(route.slot))
        return detail::far_blocks<T>(team, Operation::tile_get, FarKind::get, route.slot, src.data, dst.data,
                                     src.pitch, dst.pitch, dst.cols, dst.rows, scope);
    const Tile<S> there{route.at(src.data), dst.rows, dst.cols, src.pitch};
    detail::copy_tile(dst, detail::as_source<T>(there), scope);
    scope.sync();
}

/// Set the tile dst of every member to src of member 0 op src of member 1 op …, element by element. Folded in
/// PE order: the same bits on all members. dst may be src. Half types are folded in float. Both are
/// symmetric, and of src's shape. A wait longer than `bound_ns` is reported with `tag`. Memory order: on
/// return all threads of the scope may read dst and write src.
template <class T, class S, class Op, class Scope = Thread>
ATOLL_ANYWHERE void tile_reduce(const Team& team, const Tile<T>& dst, const Tile<S>& src, Op op,
                                Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::tile_reduce, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, detail::bytes_of_tile(src));
    detail::check_near(team, Operation::tile_reduce);
    const Tile<const T> from = detail::as_source<T>(src);
    const Tile<T> to{dst.data, src.rows, src.cols, dst.pitch};
    detail::check_address(team, call.operation, to.data);
    detail::check_address(team, call.operation, from.data);
    detail::meet(team, scope, call);
    detail::fold_tile<detail::Fold::shared>(team, to, from, op, scope);
    detail::meet(team, scope, call);
}

/// Gather the tiles src of member 0, 1, … one below the other in dst of every member. The target is
/// symmetric, and has n_pes times the rows of src. A wait longer than `bound_ns` is reported with `tag`.
/// Memory order: on return all threads of the scope may read dst and write src.
template <class T, class S, class Scope = Thread>
ATOLL_ANYWHERE void tile_allgather(const Team& team, const Tile<T>& dst, const Tile<S>& src, Scope scope = {},
                                   int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::tile_allgather, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, detail::bytes_of_tile(src));
    detail::check_near(team, Operation::tile_allgather);
    const Tile<const T> from = detail::as_source<T>(src);
    T* mine = dst.data + static_cast<long long>(team.my_pe) * src.rows * dst.pitch;
    detail::check_address(team, call.operation, dst.data);
    detail::meet(team, scope, call);
    detail::push_tile(team, Tile<T>{mine, src.rows, src.cols, dst.pitch}, from, scope);
    detail::meet(team, scope, call);
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
