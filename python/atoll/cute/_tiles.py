"""Two-dimensional tiles (atoll/device/tiles.hpp): tensors of two flat modes, rows and columns, with any
strides.

So they may be tiles of a matrix. If rows consist of units of 16 bytes, these are moved, and the threads take
them in turn along the rows.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.checks import CHECKS
from .._kernels.ptx import AT
from ._addresses import address, at_peer, check_address, moved, there
from ._collectives import meet_members
from ._polling import call_of
from ._primitives import asm
from ._reductions import fold_pulled, share_of, store_many
from ._threads import meet_threads, rank_and_size, rank_of, size_of
from ._types import THREAD, Scope, Team, is_swizzled

IN_FLIGHT = 4


class Rows(NamedTuple):
    """The place of a tile: its address, and the bytes from row to row and from column to column."""

    at: Int64
    pitch: Int64
    stride: Int64


def _tile(x) -> Rows:
    if is_swizzled(x):  # it does not consist of units
        return Rows(address(x), Int64(0), Int64(0))
    item = x.element_type.width // 8
    return Rows(address(x), Int64(x.stride[0]) * item, Int64(x.stride[1]) * item)


def _fits(name: str, dst, src) -> None:
    """Refuse a dst that is known to be smaller than src."""
    for mode in (0, 1) if name != "tile_allgather" else (1,):
        room, n = dst.shape[mode], src.shape[mode]
        if isinstance(room, int) and isinstance(n, int) and room < n:
            raise ValueError(
                f"atoll.cute.{name}: dst has the shape {dst.shape}, and src {src.shape}; pass a part of src that fits dst"
            )


def _unit_at(tile: Rows, stride, in_row, i):
    """The address of unit i, counted along the rows."""
    row = i // in_row
    return tile.at + Int64(row) * tile.pitch + Int64(i - row * in_row) * stride


def _whole(tile: Rows, cols, item: int):
    """Return whether rows consist of units of 16 bytes."""
    return (tile.stride == item) & ((tile.at | tile.pitch | Int64(cols * item)) & 15 == 0)


def _load_unit(at):
    return asm("ld.v2.u64 {$0, $1}, [$2];", "=l,=l,l", (Int64, Int64), [at])


def _store_unit(at, unit) -> None:
    asm("st.v2.u64 [$0], {$1, $2};", "l,l,l", None, [at, *unit])


@cute.jit
def _copy(
    dst: Rows, src: Rows, dst_elements: cute.Tensor, src_elements: cute.Tensor, rows: Int32, cols: Int32,
    item: Constexpr, scope: Constexpr,
):  # fmt: skip
    """Copy rows times cols elements, without a barrier. Only the tensors can address single elements."""
    i, step = rank_and_size(scope, Int32)
    if _whole(dst, cols, item) & _whole(src, cols, item):
        in_row = cols * item // 16
        count = rows * in_row
        while i + (IN_FLIGHT - 1) * step < count:
            units = [_load_unit(_unit_at(src, 16, in_row, i + k * step)) for k in range(IN_FLIGHT)]
            for k in cutlass.range_constexpr(IN_FLIGHT):
                _store_unit(_unit_at(dst, 16, in_row, i + k * step), units[k])
            i += IN_FLIGHT * step
        while i < count:
            _store_unit(_unit_at(dst, 16, in_row, i), _load_unit(_unit_at(src, 16, in_row, i)))
            i += step
    else:
        while i < rows * cols:
            row = i // cols
            dst_elements[row, i - row * cols] = src_elements[row, i - row * cols]
            i += step


def _copy_tile(dst, src, shape, scope) -> None:
    """Copy src to dst, both of that shape."""
    rows, cols = shape
    _copy(_tile(dst), _tile(src), dst, src, Int32(rows), Int32(cols), src.element_type.width // 8, scope)


def tile_put(team, dst, src, pe, scope: Scope = THREAD):
    _fits("tile_put", dst, src)
    _copy_tile(there(CHECKS["tile_put"], team, dst, pe), src, src.shape, scope)
    meet_threads(team.control, scope)


def tile_get(team, dst, src, pe, scope: Scope = THREAD):
    _fits("tile_get", dst, src)
    _copy_tile(dst, there(CHECKS["tile_get"], team, src, pe), dst.shape, scope)
    meet_threads(team.control, scope)


@cute.jit
def _gather(team: Team, dst: cute.Tensor, src: cute.Tensor, mine: Int64, scope: Constexpr):
    """Put to each member, beginning with the next one, so that not all store to one at once."""
    for k in cutlass.range(1, team.n_pes + 1, unroll=1):
        to = at_peer(team, mine, (team.my_pe + k) % team.n_pes)
        _copy_tile(moved(dst, to, dst.element_type.width // 8), src, src.shape, scope)


def tile_allgather(team, dst, src, scope: Scope = THREAD, tag=0, bound_ns=0):
    _fits("tile_allgather", dst, src)
    to = _tile(dst)
    mine = to.at + Int64(team.my_pe) * Int64(src.shape[0]) * to.pitch
    call = call_of(AT["tile_allgather"], tag, bound_ns)
    check_address(team, call.operation, to.at)
    meet_members(call, team, scope, False)
    _gather(team, dst, src, mine, scope)
    meet_members(call, team, scope, False)


# ---- reductions: each member folds a part of the tile over the members, in PE order, and stores it at all of them
@cute.jit
def _fold(
    team: Team, kind: Constexpr, op: Constexpr, many: Constexpr, dst: Rows, src: Rows, rows: Int32, in_row: Int32,
    scope: Constexpr,
):  # fmt: skip
    """Fold in units of `many` elements."""
    item = kind.width // 8
    unit = many * item
    begin, end = share_of(team, rows * in_row)
    i = begin + Int32(rank_of(scope))
    while i < end:
        at = _unit_at(src, unit if cutlass.const_expr(many > 1) else src.stride, in_row, i)
        folded = fold_pulled(team, kind, op, many, (at,))[0]
        there = _unit_at(dst, unit if cutlass.const_expr(many > 1) else dst.stride, in_row, i)
        for k in cutlass.range(1, team.n_pes + 1, unroll=1):
            store_many(kind, many, at_peer(team, there, (team.my_pe + k) % team.n_pes), folded)
        i += Int32(size_of(scope))


@cute.jit
def _reduce(
    team: Team, kind: Constexpr, op: Constexpr, dst: Rows, src: Rows, rows: Int32, cols: Int32, scope: Constexpr,
    call: Constexpr,
):  # fmt: skip
    item = kind.width // 8
    check_address(team, call.operation, dst.at)
    check_address(team, call.operation, src.at)
    meet_members(call, team, scope, False)
    if _whole(dst, cols, item) & _whole(src, cols, item):
        _fold(team, kind, op, 16 // item, dst, src, rows, cols * item // 16, scope)
    else:
        _fold(team, kind, op, 1, dst, src, rows, cols, scope)
    meet_members(call, team, scope, False)


def tile_reduce(team, dst, src, op, scope: Scope = THREAD, tag=0, bound_ns=0):
    _fits("tile_reduce", dst, src)
    call = call_of(AT["tile_reduce"], tag, bound_ns)
    _reduce(
        team,
        src.element_type,
        op,
        _tile(dst),
        _tile(src),
        Int32(src.shape[0]),
        Int32(src.shape[1]),
        scope,
        call,
    )
