"""Put and get, and the operations that order them (atoll/device/rma.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.bodies import _moves
from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import address, there
from ._dsl._copies import copy_tensor, is_dense, size_in_bytes
from ._primitives import asm, full_fence, has_bulk
from ._threads import meet_threads, rank_and_size, rank_of
from ._types import GRID, THREAD, Scope, Team, is_shared, is_swizzled


def _copy_to(team, operation, dst, src, pe, scope) -> None:
    copy_tensor(there(operation, team, dst, pe), src, scope)


def _copy_from(team, operation, dst, src, pe, scope) -> None:
    copy_tensor(dst, there(operation, team, src, pe), scope)


BULK_UNIT, LEAST_BULK = 16, 1024
"""Bulk copies: the alignment of addresses and sizes, and the smallest size that is faster by them than by stores."""


@cute.jit
def _async_put(team: Team, dst: cute.Tensor, src: cute.Tensor, scope: Constexpr):
    to, source, nbytes = address(dst), address(src), size_in_bytes(src)
    if ((to | source | nbytes) & (BULK_UNIT - 1) == 0) & (nbytes >= LEAST_BULK):
        asm("fence.proxy.async.shared::cta;", "", None, [])
        meet_threads(team.control, scope)
        if rank_of(scope) == 0:
            copy = "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2; cp.async.bulk.commit_group;"
            asm(copy, "l,r,r", None, [to, Int32(src.iterator.toint()), Int32(nbytes)])
    else:
        copy_tensor(dst, src, scope)


def async_put(team, dst, src, pe, scope: Scope = THREAD):
    dst = there(CHECKS["async_put"], team, dst, pe)
    if has_bulk() and scope is not GRID and is_shared(src) and is_dense(dst) and is_dense(src):
        _async_put(team, dst, src, scope)
    else:
        copy_tensor(dst, src, scope)


@cute.jit
def copy_strided(
    dst: cute.Tensor, src: cute.Tensor, dst_stride: Int64, src_stride: Int64, count: Int64, scope: Constexpr
):
    to, source = dst.iterator, src.iterator
    i, step = rank_and_size(scope, Int64)
    while i < count:
        (to + i * dst_stride).store((source + i * src_stride).load())
        i += step


def refuse_swizzled(name: str, dst, src) -> None:
    for which, x in (("dst", dst), ("src", src)):
        if is_swizzled(x):
            raise TypeError(f"atoll.cute.{name}: {which} is swizzled; its elements have no strides")


def iput(team, dst, src, dst_stride, src_stride, count, pe, scope: Scope = THREAD):
    refuse_swizzled("iput", dst, src)
    dst = there(CHECKS["iput"], team, dst, pe)
    copy_strided(dst, src, Int64(dst_stride), Int64(src_stride), Int64(count), scope)
    meet_threads(team.control, scope)


def iget(team, dst, src, dst_stride, src_stride, count, pe, scope: Scope = THREAD):
    refuse_swizzled("iget", dst, src)
    src = there(CHECKS["iget"], team, src, pe)
    copy_strided(dst, src, Int64(dst_stride), Int64(src_stride), Int64(count), scope)
    meet_threads(team.control, scope)


# ---- order
@cute.jit
def _fence(scope: Constexpr):
    if rank_of(scope) == 0:
        full_fence()


globals().update(
    _moves.operations(prim.as_it_is, prim, _copy_to, _copy_from, meet_threads, _fence, THREAD=THREAD)
)
