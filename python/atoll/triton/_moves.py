"""Put and get, and the operations that order them (atoll/device/rma.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ._addresses import checks, peer_for
from ._types import INTERPRETED

_PUT, _GET = checks("put"), checks("get")
_PUT_NBI, _GET_NBI = checks("put_nbi"), checks("get_nbi")
_IPUT, _IGET = checks("iput"), checks("iget")


@jit
def copy(to, src, n, BLOCK: tl.constexpr, VOLATILE: tl.constexpr = False):
    """Copy n elements; VOLATILE if another PE has them."""
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(to + at, tl.load(src + at, mask=at < n, volatile=VOLATILE), mask=at < n)


@jit
def put_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    copy(peer_for(team, dst, pe, _PUT_NBI), src, n, BLOCK)


@jit
def put(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    copy(peer_for(team, dst, pe, _PUT), src, n, BLOCK)
    tl.debug_barrier()


@jit
def get_nbi(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    copy(dst, peer_for(team, src, pe, _GET_NBI), n, BLOCK, True)


@jit
def get(team, dst, src, n, pe, BLOCK: tl.constexpr = 1024):
    copy(dst, peer_for(team, src, pe, _GET), n, BLOCK, True)
    tl.debug_barrier()


@jit
def _copy_strided(to, src, to_stride, src_stride, n, BLOCK: tl.constexpr, VOLATILE: tl.constexpr):
    for begin in range(0, n, BLOCK):
        at = (begin + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(
            to + at * to_stride, tl.load(src + at * src_stride, mask=at < n, volatile=VOLATILE), mask=at < n
        )
    tl.debug_barrier()


@jit
def iput(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    _copy_strided(peer_for(team, dst, pe, _IPUT), src, dst_stride, src_stride, n, BLOCK, False)


@jit
def iget(team, dst, src, dst_stride, src_stride, n, pe, BLOCK: tl.constexpr = 1024):
    _copy_strided(dst, peer_for(team, src, pe, _IGET), dst_stride, src_stride, n, BLOCK, True)


@jit
def quiet(team):
    tl.debug_barrier()
    if not INTERPRETED:
        tl.inline_asm_elementwise("fence.sc.sys; mov.u32 $0, 0;", "=r", [], tl.int32, is_pure=False, pack=1)
    tl.debug_barrier()


@jit
def fence(team):
    quiet(team)


@jit
def flush(team):
    tl.debug_barrier()
