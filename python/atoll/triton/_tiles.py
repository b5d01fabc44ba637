"""Tiles of rows * cols elements: row r begins at x + r * pitch; ROWS and COLS of them are moved at a time."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels.ptx import AT
from ._addresses import at_pe, check_address, checks, peer_for
from ._collectives import meet_members
from ._reductions import fold_to_all

_TILE_REDUCE, _TILE_ALLGATHER = tl.constexpr(AT["tile_reduce"]), tl.constexpr(AT["tile_allgather"])


@jit
def tile_reduce(
    team, dst, src, dst_pitch, src_pitch, rows, cols, op: tl.constexpr, COLS: tl.constexpr = 1024, tag=0,
    bound_ns=0,
):  # fmt: skip
    check_address(team, dst, _TILE_REDUCE)
    check_address(team, src, _TILE_REDUCE)
    meet_members(team, _TILE_REDUCE, tag, bound_ns)
    for row in range(team.my_pe, rows, team.n_pes):
        to, come = dst + row.to(tl.int64) * dst_pitch, src + row.to(tl.int64) * src_pitch
        fold_to_all(team, to, come, 0, cols, op, COLS)
    meet_members(team, _TILE_REDUCE, tag, bound_ns)


@jit
def tile_allgather(
    team, dst, src, dst_pitch, src_pitch, rows, cols, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64, tag=0,
    bound_ns=0,
):  # fmt: skip
    check_address(team, dst, _TILE_ALLGATHER)
    meet_members(team, _TILE_ALLGATHER, tag, bound_ns)
    mine = dst + (team.my_pe + tl.full((), 0, tl.int64)) * rows * dst_pitch
    for k in range(team.n_pes):
        to = at_pe(team, mine, (team.my_pe + k) % team.n_pes)
        copy_tile(to, src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    meet_members(team, _TILE_ALLGATHER, tag, bound_ns)


_TILE_PUT, _TILE_GET = checks("tile_put"), checks("tile_get")


@jit
def copy_tile(dst, src, dst_pitch, src_pitch, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    for top in range(0, rows, ROWS):
        r = (top + tl.arange(0, ROWS)).to(tl.int64)[:, None]
        for begin in range(0, cols, COLS):
            c = begin + tl.arange(0, COLS)[None, :]
            inside = (r < rows) & (c < cols)
            tl.store(
                dst + r * dst_pitch + c,
                tl.load(src + r * src_pitch + c, mask=inside, volatile=True),
                mask=inside,
            )


@jit
def tile_put(
    team, dst, src, dst_pitch, src_pitch, rows, cols, pe, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    copy_tile(peer_for(team, dst, pe, _TILE_PUT), src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()


@jit
def tile_get(
    team, dst, src, dst_pitch, src_pitch, rows, cols, pe, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    copy_tile(dst, peer_for(team, src, pe, _TILE_GET), dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()
