"""put, get and tiles of rows * cols elements: row r begins at x + r * pitch; ROWS and COLS of them are moved
at a time.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ._core import checks, peer_for
from ._kinds import alike, number, pointer

_P, _G, _PUT, _GET = checks("p"), checks("g"), checks("put"), checks("get")
_PUT_NBI, _GET_NBI = checks("put_nbi"), checks("get_nbi")
_IPUT, _IGET = checks("iput"), checks("iget")
_TILE_PUT, _TILE_GET = checks("tile_put"), checks("tile_get")


@jit
def p(team, dst, value, pe):
    pointer("p", "dst", dst)
    number("p", "value", value, "dst", dst)
    tl.store(peer_for(team, dst, pe, _P), value)


@jit
def g(team, src, pe):
    pointer("g", "src", src)
    return tl.load(peer_for(team, src, pe, _G), volatile=True)


@jit
def copy(to, src, n, BLOCK: tl.constexpr):
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(to + at, tl.load(src + at, mask=at < n), mask=at < n)


@jit
def put_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    alike("put_nbi", dst, src)
    copy(peer_for(team, dst, pe, _PUT_NBI), src, n, BLOCK)


@jit
def put(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    alike("put", dst, src)
    copy(peer_for(team, dst, pe, _PUT), src, n, BLOCK)
    tl.debug_barrier()


@jit
def _fetch(dst, come, n, BLOCK: tl.constexpr):
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(dst + at, tl.load(come + at, mask=at < n, volatile=True), mask=at < n)


@jit
def get_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    alike("get_nbi", dst, src)
    _fetch(dst, peer_for(team, src, pe, _GET_NBI), n, BLOCK)


@jit
def get(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    alike("get", dst, src)
    _fetch(dst, peer_for(team, src, pe, _GET), n, BLOCK)
    tl.debug_barrier()


@jit
def iput(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    alike("iput", dst, src)
    to = peer_for(team, dst, pe, _IPUT)
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(to + at * dst_stride, tl.load(src + at * src_stride, mask=at < n), mask=at < n)
    tl.debug_barrier()


@jit
def iget(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    alike("iget", dst, src)
    come = peer_for(team, src, pe, _IGET)
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(
            dst + at * dst_stride, tl.load(come + at * src_stride, mask=at < n, volatile=True), mask=at < n
        )
    tl.debug_barrier()


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
    alike("tile_put", dst, src)
    copy_tile(peer_for(team, dst, pe, _TILE_PUT), src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()


@jit
def tile_get(
    team, dst, src, dst_pitch, src_pitch, rows, cols, pe, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    alike("tile_get", dst, src)
    copy_tile(dst, peer_for(team, src, pe, _TILE_GET), dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()
