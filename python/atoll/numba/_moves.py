"""Put and get, and the operations that order them (atoll/device/rma.hpp)."""

from __future__ import annotations

from numba.core import types

from .._kernels.bodies import _moves
from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import item_of, lesser, peer_for
from ._dsl._registration import helper, operation, vocabulary
from ._types import FLOATS, GRID, THREAD, constant, item

IPUT, IGET, ASYNC_PUT = CHECKS["iput"], CHECKS["iget"], CHECKS["async_put"]
UNSIGNED = {1: types.uint8, 2: types.uint16}


@helper
def copy_to(team, check, dst, src, pe, scope):
    """Copy src to dst of PE `pe`, without a barrier."""
    nbytes = lesser(dst.size, src.size) * item_of(dst)
    prim.copy(peer_for(team, check, prim.address(dst), pe), prim.address(src), nbytes, scope)


@helper
def copy_from(team, check, dst, src, pe, scope):
    """Copy src of PE `pe` to dst, without a barrier."""
    nbytes = lesser(dst.size, src.size) * item_of(dst)
    prim.copy(prim.address(dst), peer_for(team, check, prim.address(src), pe), nbytes, scope)


@vocabulary
def is_in_block(scope):
    found = constant(scope) is not GRID
    return lambda scope: found


@operation
def async_put(team, dst, src, pe, scope=THREAD):
    nbytes = lesser(dst.size, src.size) * item_of(dst)
    to, source = peer_for(team, ASYNC_PUT, prim.address(dst), pe), prim.address(src)
    if is_in_block(scope) and prim.can_bulk(to, source, nbytes):
        prim.see_shared()
        prim.meet(team.control, scope)
        if prim.rank(scope) == 0:
            prim.start_bulk(to, source, nbytes)
    else:
        prim.copy(to, source, nbytes, scope)


def unit(kind):
    """Return the type by which an element is moved, at once or in two halves."""
    if isinstance(kind, types.Complex):  # complex numbers are aligned as their halves
        return kind.underlying_float
    if kind not in FLOATS and isinstance(kind, (types.Boolean, types.Float)):
        return UNSIGNED[item(kind)]
    return kind


@vocabulary
def unit_of(x):
    kind = unit(x.dtype)
    return lambda x: kind


@vocabulary
def half_of(x):
    """Return the offset of the second half of an element that is moved in two, else 0."""
    offset = item(x.dtype) // 2 if isinstance(x.dtype, types.Complex) else 0
    return lambda x: offset


@helper
def copy_strided(dst, to, source, dst_stride, src_stride, count, scope):
    kind, half, each = unit_of(dst), half_of(dst), item_of(dst)
    i = prim.rank(scope)
    while i < count:
        prim.store(kind, to + i * dst_stride * each, prim.load(kind, source + i * src_stride * each))
        if half:
            second = source + i * src_stride * each + half
            prim.store(kind, to + i * dst_stride * each + half, prim.load(kind, second))
        i += prim.size(scope)


@operation
def iput(team, dst, src, dst_stride, src_stride, count, pe, scope=THREAD):
    to, source = peer_for(team, IPUT, prim.address(dst), pe), prim.address(src)
    copy_strided(dst, to, source, dst_stride, src_stride, count, scope)
    prim.meet(team.control, scope)


@operation
def iget(team, dst, src, dst_stride, src_stride, count, pe, scope=THREAD):
    to, source = prim.address(dst), peer_for(team, IGET, prim.address(src), pe)
    copy_strided(dst, to, source, dst_stride, src_stride, count, scope)
    prim.meet(team.control, scope)


@helper
def fence_by_first(scope):
    if prim.rank(scope) == 0:
        prim.full_fence()


globals().update(
    _moves.operations(operation, prim, copy_to, copy_from, prim.meet, fence_by_first, THREAD=THREAD)
)
