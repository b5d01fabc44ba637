// Tiles of any number of modes (axes) with any strides, and collectives with a root on tiles. A tile of many
// modes is moved as two-dimensional ones (atoll/device/tiles.hpp), whose rules hold here.
#pragma once

#include "atoll/device/tiles.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// Element (i0, i1, …) is data[i0 * stride[0] + i1 * stride[1] + …]. At most 2^31 elements.
template <class T, int Modes> struct TileOf {
    T* data;
    unsigned extent[Modes];
    long long stride[Modes];
};

namespace detail {

template <class T> ATOLL_ANYWHERE TileOf<T, 2> with_modes(const Tile<T>& tile) {
    return {tile.data, {tile.rows, tile.cols}, {tile.pitch, 1}};
}

template <class T, int Modes> ATOLL_ANYWHERE unsigned long long bytes_of_tile(const TileOf<T, Modes>& tile) {
    unsigned long long elements = 1;
    for (int m = 0; m < Modes; ++m) elements *= tile.extent[m];
    return elements * sizeof(T);
}

/// The modes of two tiles that become the columns and rows of two-dimensional ones; -1: none does.
struct Plane {
    int cols, rows;
};
/// Columns have no gaps in either tile, so that neighbours move together. The longest other mode is the rows.
template <class T, class S, int Modes>
ATOLL_ANYWHERE Plane plane_of(const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src) {
    Plane plane{-1, -1};
    for (int m = 0; m < Modes; ++m)
        if (dst.stride[m] == 1 && src.stride[m] == 1 &&
            (plane.cols < 0 || src.extent[m] > src.extent[plane.cols]))
            plane.cols = m;
    for (int m = 0; m < Modes; ++m)
        if (m != plane.cols && (plane.rows < 0 || src.extent[m] > src.extent[plane.rows])) plane.rows = m;
    return plane;
}

/// Calls each(dst, src) for the two-dimensional tiles that two tiles consist of. Both have the shape of
/// `src`.
template <class T, class S, int Modes, class Each>
ATOLL_ANYWHERE void for_planes(const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src, Each each) {
    const Plane plane = plane_of(dst, src);
    const unsigned cols = plane.cols < 0 ? 1 : src.extent[plane.cols];
    const unsigned rows = plane.rows < 0 ? 1 : src.extent[plane.rows];
    const long long dst_pitch = plane.rows < 0 ? 0 : dst.stride[plane.rows];
    const long long src_pitch = plane.rows < 0 ? 0 : src.stride[plane.rows];
    unsigned planes = 1;
    for (int m = 0; m < Modes; ++m)
        if (m != plane.cols && m != plane.rows) planes *= src.extent[m];
    for (unsigned number = 0; number < planes; ++number) {
        unsigned rest = number;
        T* to = dst.data;
        S* from = src.data;
        for (int m = 0; m < Modes; ++m) {
            if (m == plane.cols || m == plane.rows) continue;
            const unsigned i = rest % src.extent[m];
            rest /= src.extent[m];
            to += i * dst.stride[m];
            from += i * src.stride[m];
        }
        each(Tile<T>{to, rows, cols, dst_pitch}, Tile<const T>{from, rows, cols, src_pitch});
    }
}

template <class T, class S, int Modes, class Scope>
ATOLL_ANYWHERE void push_modes(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                               Scope scope) {
    for_planes(dst, src,
               [&](const Tile<T>& to, const Tile<const T>& from) { push_tile(team, to, from, scope); });
}

template <Fold fold, class T, class S, int Modes, class Op, class Scope>
ATOLL_ANYWHERE void fold_modes(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                               Op op, Scope scope) {
    for_planes(dst, src, [&](const Tile<T>& to, const Tile<const T>& from) {
        fold_tile<fold>(team, to, from, op, scope);
    });
}

}  // namespace detail

/// Copies `src` to `dst` on `pe`, both of src's shape; ordered and complete like a put.
template <class T, class S, int Modes, class Scope = Thread>
ATOLL_ANYWHERE void tile_put(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                             int pe, Scope scope = {}) {
    detail::for_planes(
        dst, src, [&](const Tile<T>& to, const Tile<const T>& from) { tile_put(team, to, from, pe, scope); });
}

/// Copies `src` on `pe` to `dst`, both of src's shape. On return every thread of the scope may read `dst`.
template <class T, class S, int Modes, class Scope = Thread>
ATOLL_ANYWHERE void tile_get(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                             int pe, Scope scope = {}) {
    detail::for_planes(
        dst, src, [&](const Tile<T>& to, const Tile<const T>& from) { tile_get(team, to, from, pe, scope); });
}

/// dst of every member = src of member 0 op src of member 1 op …, as for two modes.
template <class T, class S, int Modes, class Op, class Scope = Thread>
ATOLL_ANYWHERE void tile_reduce(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                                Op op, Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::tile_reduce, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, detail::bytes_of_tile(src));
    detail::check_near(team, call.operation);
    detail::check_address(team, call.operation, dst.data);
    detail::check_address(team, call.operation, src.data);
    detail::meet(team, scope, call);
    detail::fold_modes<detail::Fold::shared>(team, dst, src, op, scope);
    detail::meet(team, scope, call);
}

/// Set the tile dst of member `root` to src of member 0 op src of member 1 op …, element by element. The bits
/// are those of tile_reduce. dst of other members keeps its elements. It may be any memory. A wait longer
/// than `bound_ns` is reported with `tag`. Memory order: on return all threads of the scope may read dst and
/// write src.
template <class T, class S, int Modes, class Op, class Scope = Thread>
ATOLL_ANYWHERE void tile_rooted_reduce(const Team& team, const TileOf<T, Modes>& dst,
                                       const TileOf<S, Modes>& src, Op op, int root, Scope scope = {},
                                       int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::tile_rooted_reduce, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, root, nullptr, detail::bytes_of_tile(src));
    detail::check_near(team, call.operation);
    detail::check_pe(team, call.operation, root);
    detail::check_address(team, call.operation, src.data);
    detail::meet(team, scope, call);
    if (team.my_pe == root) detail::fold_modes<detail::Fold::here>(team, dst, src, op, scope);
    detail::meet(team, scope, call);
}

/// Set the tile dst of member `root` to src of member 0 op src of member 1 op …, element by element. The bits
/// are those of tile_reduce. dst of other members keeps its elements. It may be any memory. A wait longer
/// than `bound_ns` is reported with `tag`. Memory order: on return all threads of the scope may read dst and
/// write src.
template <class T, class S, class Op, class Scope = Thread>
ATOLL_ANYWHERE void tile_rooted_reduce(const Team& team, const Tile<T>& dst, const Tile<S>& src, Op op,
                                       int root, Scope scope = {}, int tag = 0,
                                       unsigned long long bound_ns = 0) {
    tile_rooted_reduce(team, detail::with_modes(dst), detail::with_modes(src), op, root, scope, tag,
                       bound_ns);
}

/// Set the tile dst of every member to src of member `root`. dst is symmetric; src of other members is not
/// read. A wait longer than `bound_ns` is reported with `tag`. Memory order: on return all threads of the
/// scope may read dst and write src.
template <class T, class S, int Modes, class Scope = Thread>
ATOLL_ANYWHERE void tile_broadcast(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                                   int root, Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::tile_broadcast, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, root, nullptr, detail::bytes_of_tile(src));
    detail::check_near(team, call.operation);
    detail::check_pe(team, call.operation, root);
    detail::check_address(team, call.operation, dst.data);
    detail::meet(team, scope, call);
    if (team.my_pe == root) detail::push_modes(team, dst, src, scope);
    detail::meet(team, scope, call);
}

/// Set the tile dst of every member to src of member `root`. dst is symmetric; src of other members is not
/// read. A wait longer than `bound_ns` is reported with `tag`. Memory order: on return all threads of the
/// scope may read dst and write src.
template <class T, class S, class Scope = Thread>
ATOLL_ANYWHERE void tile_broadcast(const Team& team, const Tile<T>& dst, const Tile<S>& src, int root,
                                   Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    tile_broadcast(team, detail::with_modes(dst), detail::with_modes(src), root, scope, tag, bound_ns);
}

/// dst of every member gets src of member 0, 1, … one after another along a mode. dst is symmetric.
template <class T, class S, int Modes, class Scope = Thread>
ATOLL_ANYWHERE void tile_allgather(const Team& team, const TileOf<T, Modes>& dst, const TileOf<S, Modes>& src,
                                   int mode, Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Call call{Operation::tile_allgather, tag, bound_ns};
    const detail::Traced traced(team, scope, call.operation, -1, nullptr, detail::bytes_of_tile(src));
    detail::check_near(team, call.operation);
    detail::check_address(team, call.operation, dst.data);
    TileOf<T, Modes> mine = dst;
    mine.data += static_cast<long long>(team.my_pe) * src.extent[mode] * dst.stride[mode];
    detail::meet(team, scope, call);
    detail::push_modes(team, mine, src, scope);
    detail::meet(team, scope, call);
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
