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
    """Store `value` at `dst` of PE `pe`: one element, or a block of values at a block of pointers.

    dst: symmetric, any type of Triton's, to which value is converted. No order; complete after quiet. If the
    team has no PE `pe`, the kernel ends with an error that names p. Local. Source: OpenSHMEM 1.6, section 9.5
    (shmem_p).
    """
    pointer("p", "dst", dst)
    number("p", "value", value, "dst", dst)
    tl.store(peer_for(team, dst, pe, _P), value)


@jit
def g(team, src, pe):
    """Return the element at `src` of PE `pe`, or a block of them for a block of pointers.

    src: symmetric, any type of Triton's. The load bypasses this GPU's caches and has no order. If the team
    has no PE `pe`, the kernel ends with an error that names g. Local. Source: OpenSHMEM 1.6, section 9.5
    (shmem_g).
    """
    pointer("g", "src", src)
    return tl.load(peer_for(team, src, pe, _G), volatile=True)


@jit
def copy(to, src, n, BLOCK: tl.constexpr):
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(to + at, tl.load(src + at, mask=at < n), mask=at < n)


@jit
def put_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """Copy n elements from `src` to `dst` of PE `pe`; src may be written again after flush or quiet.

    Pointers to the same type; dst is symmetric, src need not be. BLOCK, a power of two: the number of
    elements moved at a time. quiet, fence or a signal completes and orders it. If the team has no PE `pe`,
    the kernel ends with an error that names put_nbi. Local. Source: OpenSHMEM 1.6, section 9.6
    (shmem_put_nbi).
    """
    alike("put_nbi", dst, src)
    copy(peer_for(team, dst, pe, _PUT_NBI), src, n, BLOCK)


@jit
def put(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """Copy n elements from `src` to `dst` of PE `pe`; src may be written again afterwards.

    Pointers to the same type; dst is symmetric, src need not be. BLOCK, a power of two: the number of
    elements moved at a time. quiet, fence or a signal completes and orders it. If the team has no PE `pe`,
    the kernel ends with an error that names put. Local. Source: OpenSHMEM 1.6, section 9.5 (shmem_put).
    """
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
    """Copy n elements from `src` of PE `pe` to `dst`, which the program may read after quiet.

    Pointers to the same type; src is symmetric, dst need not be. BLOCK, a power of two: the number of
    elements moved at a time. If the team has no PE `pe`, the kernel ends with an error that names get_nbi.
    Local. Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).
    """
    alike("get_nbi", dst, src)
    _fetch(dst, peer_for(team, src, pe, _GET_NBI), n, BLOCK)


@jit
def get(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    """Copy n elements from `src` of PE `pe` to `dst`, which may be read afterwards by all of the program.

    Pointers to the same type; src is symmetric, dst need not be. BLOCK, a power of two: the number of
    elements moved at a time. If the team has no PE `pe`, the kernel ends with an error that names get. Local.
    Source: OpenSHMEM 1.6, section 9.5 (shmem_get).
    """
    alike("get", dst, src)
    _fetch(dst, peer_for(team, src, pe, _GET), n, BLOCK)
    tl.debug_barrier()


@jit
def iput(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    """Copy n elements, i from src + i * src_stride to dst + i * dst_stride of PE `pe`.

    Pointers to the same type; strides count elements; dst is symmetric; src may be written again afterwards.
    BLOCK, a power of two: the number of elements moved at a time. Order and completion are those of put. If
    the team has no PE `pe`, the kernel ends with an error that names iput. Local. Source: OpenSHMEM 1.6,
    section 9.5 (shmem_iput).
    """
    alike("iput", dst, src)
    to = peer_for(team, dst, pe, _IPUT)
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(to + at * dst_stride, tl.load(src + at * src_stride, mask=at < n), mask=at < n)
    tl.debug_barrier()


@jit
def iget(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    """Copy n elements, i from src + i * src_stride of PE `pe` to dst + i * dst_stride.

    Pointers to the same type; strides count elements; src is symmetric; dst may be read afterwards. BLOCK, a
    power of two: the number of elements moved at a time. If the team has no PE `pe`, the kernel ends with an
    error that names iget. Local. Source: OpenSHMEM 1.6, section 9.5 (shmem_iget).
    """
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
    """Copy a tile of rows * cols elements from `src` to `dst` of PE `pe`; src may be written again.

    Pointers to the same type; row r begins at x + r * pitch, and pitches count elements. ROWS and COLS,
    powers of two: the rows and columns moved at a time. `dst` is symmetric. Order and completion are those of
    put. If the team has no PE `pe`, the kernel ends with an error that names tile_put. Local. Source: Atoll.
    """
    alike("tile_put", dst, src)
    copy_tile(peer_for(team, dst, pe, _TILE_PUT), src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()


@jit
def tile_get(
    team, dst, src, dst_pitch, src_pitch, rows, cols, pe, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    """Copy a tile of rows * cols elements from `src` of PE `pe` to `dst`, which may be read afterwards.

    Pointers to the same type; row r begins at x + r * pitch, and pitches count elements. ROWS and COLS,
    powers of two: the rows and columns moved at a time. `src` is symmetric. If the team has no PE `pe`, the
    kernel ends with an error that names tile_get. Local. Source: Atoll.
    """
    alike("tile_get", dst, src)
    copy_tile(dst, peer_for(team, src, pe, _TILE_GET), dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    tl.debug_barrier()
