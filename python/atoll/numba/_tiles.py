"""Two-dimensional tiles (atoll/device/tiles.hpp): arrays of two axes, of fewer than 2^32 elements."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types

from .._kernels.checks import CHECKS
from .._kernels.ptx import AT
from . import _primitives as prim
from ._addresses import at_peer, check_address, item_of, kind_of, lesser, peer_for
from ._collectives import meet_members
from ._dsl._registration import DEVICE, HOST, helper, implement, operation
from ._polling import call_of
from ._reductions import combine_part, fold_at
from ._types import THREAD

i64 = types.int64
TILE_PUT, TILE_GET = CHECKS["tile_put"], CHECKS["tile_get"]
REDUCE, ALLGATHER = AT["tile_reduce"], AT["tile_allgather"]


class Rows(NamedTuple):
    """The place of a tile: its address, and the bytes from row to row and from column to column."""

    at: Any
    pitch: Any
    stride: Any


@helper
def pitch(x):
    return x.strides[0]


@helper
def stride(x):
    return x.strides[1]


@helper
def rows_at(at, x):
    """Return the place of a tile like x at another address."""
    return Rows(at, pitch(x), stride(x))


@helper
def unit_at(tile, stride, in_row, i):
    """The address of unit i, counted along the rows; the units of a row are `stride` bytes apart."""
    row = prim.quotient(i, in_row)
    return tile.at + row * tile.pitch + (i - row * in_row) * stride


@helper
def whole(tile, each, cols):
    """Return whether rows consist of units of 16 bytes."""
    return tile.stride == each and (tile.at | tile.pitch | cols * each) & 15 == 0


# ---- copies
@helper
def copy_units(to, source, rows, in_row, scope):
    """Copy units of 16 bytes, four of a thread in flight at once."""
    count, step = rows * in_row, prim.size(scope)
    i = prim.rank(scope)
    while i + 3 * step < count:
        a, b = prim.load_two(unit_at(source, 16, in_row, i))
        c, d = prim.load_two(unit_at(source, 16, in_row, i + step))
        e, f = prim.load_two(unit_at(source, 16, in_row, i + 2 * step))
        g, h = prim.load_two(unit_at(source, 16, in_row, i + 3 * step))
        prim.store_two(unit_at(to, 16, in_row, i), a, b)
        prim.store_two(unit_at(to, 16, in_row, i + step), c, d)
        prim.store_two(unit_at(to, 16, in_row, i + 2 * step), e, f)
        prim.store_two(unit_at(to, 16, in_row, i + 3 * step), g, h)
        i += 4 * step
    while i < count:
        a, b = prim.load_two(unit_at(source, 16, in_row, i))
        prim.store_two(unit_at(to, 16, in_row, i), a, b)
        i += step


@helper
def copy_elements(kind, to, source, rows, cols, scope):
    count, step = rows * cols, prim.size(scope)
    i = prim.rank(scope)
    while i < count:
        value = prim.load(kind, unit_at(source, source.stride, cols, i))
        prim.store(kind, unit_at(to, to.stride, cols, i), value)
        i += step


def copy_tile(kind, each, to, source, rows, cols, scope):
    """Copy rows times cols elements, without a barrier."""


@implement(HOST, copy_tile)
def _(*_):
    def rows_by_copies(kind, each, to, source, rows, cols, scope):
        if to.stride == each and source.stride == each:
            for row in range(rows):
                prim.copy(to.at + row * to.pitch, source.at + row * source.pitch, cols * each, scope)
        else:
            copy_elements(kind, to, source, rows, cols, scope)
        return 0

    return rows_by_copies


def _dealt(*_):
    def dealt(kind, each, to, source, rows, cols, scope):
        if whole(to, each, cols) and whole(source, each, cols):
            copy_units(to, source, rows, (cols * each) >> 4, scope)
        else:
            copy_elements(kind, to, source, rows, cols, scope)
        return 0

    return dealt


if DEVICE is not None:
    implement(DEVICE, copy_tile)(_dealt)


@helper
def copy_between(at, dst, source, src, scope):
    """Copy the tile src at the address `source` to the tile dst at the address `at`."""
    rows, cols = lesser(dst.shape[0], src.shape[0]), lesser(dst.shape[1], src.shape[1])
    copy_tile(kind_of(src), item_of(src), rows_at(at, dst), rows_at(source, src), rows, cols, scope)


@operation
def tile_put(team, dst, src, pe, scope=THREAD):
    copy_between(peer_for(team, TILE_PUT, prim.address(dst), pe), dst, prim.address(src), src, scope)
    prim.meet(team.control, scope)


@operation
def tile_get(team, dst, src, pe, scope=THREAD):
    copy_between(prim.address(dst), dst, peer_for(team, TILE_GET, prim.address(src), pe), src, scope)
    prim.meet(team.control, scope)


@operation
def tile_allgather(team, dst, src, scope=THREAD, tag=0, bound_ns=None):
    rows, cols = src.shape
    kind, each, call = kind_of(src), item_of(src), call_of(ALLGATHER, tag, bound_ns)
    check_address(team, ALLGATHER, dst)
    mine, source = prim.address(dst) + team.my_pe * rows * pitch(dst), rows_at(prim.address(src), src)
    meet_members(call, team, scope, False)
    pe, left = team.my_pe, team.n_pes
    while left > 0:  # the next member first, so that not all store to one at once
        pe = pe + 1 if pe + 1 < team.n_pes else 0
        copy_tile(kind, each, rows_at(at_peer(team, mine, pe), dst), source, rows, cols, scope)
        left = prim.uncounted(left - 1)
    meet_members(call, team, scope, False)


# ---- reductions: each member folds a part of the tile over the members, in PE order, and stores it at all of them
@helper
def part_of(team, count):
    """Return which of `count` units this member folds."""
    each = prim.quotient(count + team.n_pes - 1, team.n_pes)
    begin = min(team.my_pe * each, count)
    return begin, min(begin + each, count)


@helper
def fold_units(kind, op, each, team, to, source, rows, in_row, scope):
    begin, end = part_of(team, rows * in_row)
    i = begin + prim.rank(scope)
    while i < end:
        at = unit_at(source, 16, in_row, i)
        a, b = prim.load_two(at_peer(team, at, 0))
        pe = i64(1)
        while pe < team.n_pes:
            c, d = prim.load_two(at_peer(team, at, pe))
            a, b = combine_part(kind, op, each, a, c), combine_part(kind, op, each, b, d)
            pe = prim.uncounted(pe + 1)
        there = unit_at(to, 16, in_row, i)
        pe = i64(0)
        while pe < team.n_pes:
            prim.store_two(at_peer(team, there, pe), a, b)
            pe = prim.uncounted(pe + 1)
        i += prim.size(scope)


@helper
def fold_elements(kind, op, team, to, source, rows, cols, scope):
    begin, end = part_of(team, rows * cols)
    i = begin + prim.rank(scope)
    while i < end:
        so_far = fold_at(kind, op, team, unit_at(source, source.stride, cols, i))
        there = unit_at(to, to.stride, cols, i)
        pe = i64(0)
        while pe < team.n_pes:
            prim.store(kind, at_peer(team, there, pe), so_far)
            pe = prim.uncounted(pe + 1)
        i += prim.size(scope)


@operation
def tile_reduce(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
    rows, cols = src.shape
    kind, each, call = kind_of(src), item_of(src), call_of(REDUCE, tag, bound_ns)
    check_address(team, REDUCE, dst)
    check_address(team, REDUCE, src)
    to, source = rows_at(prim.address(dst), dst), rows_at(prim.address(src), src)
    meet_members(call, team, scope, False)
    if whole(to, each, cols) and whole(source, each, cols):
        fold_units(kind, op, each, team, to, source, rows, (cols * each) >> 4, scope)
    else:
        fold_elements(kind, op, team, to, source, rows, cols, scope)
    meet_members(call, team, scope, False)
