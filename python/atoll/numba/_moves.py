"""Put and get, and the operations that order them (atoll/device/rma.hpp).

Arrays are contiguous; the smaller of the two sizes is moved. The types of arguments are checked, and PE
numbers unless ATOLL_CHECK=none. Hosts also check that an array at another PE is symmetric; on GPUs, kernels
compiled with ATOLL_CHECK=all do.
"""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import lesser, peer_for
from ._registration import vocabulary
from ._types import FLOATS, GRID, THREAD, array, item, same, scope_of

PUT, GET, IPUT, IGET = CHECKS["put"], CHECKS["get"], CHECKS["iput"], CHECKS["iget"]
UNSIGNED = {1: types.uint8, 2: types.uint16}
ASYNC_PUT = CHECKS["async_put"]


@vocabulary
def put(team, dst, src, pe, scope=THREAD):
    each, which = item(same("put", dst, src)), scope_of("put", scope)

    def impl(team, dst, src, pe, scope=THREAD):
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(peer_for(team, PUT, prim.address(dst), pe), prim.address(src), nbytes, which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def get(team, dst, src, pe, scope=THREAD):
    each, which = item(same("get", dst, src)), scope_of("get", scope)

    def impl(team, dst, src, pe, scope=THREAD):
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(prim.address(dst), peer_for(team, GET, prim.address(src), pe), nbytes, which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def put_nbi(team, dst, src, pe, scope=THREAD):
    each, which = item(same("put_nbi", dst, src)), scope_of("put_nbi", scope)

    def impl(team, dst, src, pe, scope=THREAD):
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(peer_for(team, PUT, prim.address(dst), pe), prim.address(src), nbytes, which)

    return impl


@vocabulary
def get_nbi(team, dst, src, pe, scope=THREAD):
    each, which = item(same("get_nbi", dst, src)), scope_of("get_nbi", scope)

    def impl(team, dst, src, pe, scope=THREAD):
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(prim.address(dst), peer_for(team, GET, prim.address(src), pe), nbytes, which)

    return impl


@vocabulary
def async_put(team, dst, src, pe, scope=THREAD):
    each, which = item(same("async_put", dst, src)), scope_of("async_put", scope)
    within_block = which is not GRID

    def impl(team, dst, src, pe, scope=THREAD):
        nbytes = lesser(dst.size, src.size) * each
        to, source = peer_for(team, ASYNC_PUT, prim.address(dst), pe), prim.address(src)
        if within_block and prim.can_bulk(to, source, nbytes):
            prim.see_shared()
            prim.meet(team.control, which)
            if prim.rank(which) == 0:
                prim.start_bulk(to, source, nbytes)
        else:
            prim.copy(to, source, nbytes, which)

    return impl


def _strided(name: str, dst, src):
    """Return the type by which elements are moved.

    The second result is the offset of the second half of an element that is moved in two parts, else 0.
    """
    to, source = (array(name, which, x, contiguous=False) for which, x in (("dst", dst), ("src", src)))
    if to != source:
        raise TypingError(f"atoll.numba.{name}: dst is of {to}, src of {source}; they must have one type")
    if isinstance(to, types.Integer) or to in FLOATS:
        return to, 0
    if isinstance(to, types.Complex):  # complex numbers are aligned as their halves
        return to.underlying_float, item(to.underlying_float)
    if isinstance(to, (types.Boolean, types.Float)):
        return UNSIGNED[item(to)], 0
    raise TypingError(
        f"atoll.numba.{name}: dst is of {to}; it must be of integers, floats, complex numbers or bool"
    )


@vocabulary
def iput(team, dst, src, dst_stride, src_stride, count, pe, scope=THREAD):
    (kind, half), which = _strided("iput", dst, src), scope_of("iput", scope)
    each = item(dst.dtype)

    def impl(team, dst, src, dst_stride, src_stride, count, pe, scope=THREAD):
        to, source = peer_for(team, IPUT, prim.address(dst), pe), prim.address(src)
        i = prim.rank(which)
        while i < count:
            prim.store(kind, to + i * dst_stride * each, prim.load(kind, source + i * src_stride * each))
            if half:
                second = source + i * src_stride * each + half
                prim.store(kind, to + i * dst_stride * each + half, prim.load(kind, second))
            i += prim.size(which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def iget(team, dst, src, dst_stride, src_stride, count, pe, scope=THREAD):
    (kind, half), which = _strided("iget", dst, src), scope_of("iget", scope)
    each = item(dst.dtype)

    def impl(team, dst, src, dst_stride, src_stride, count, pe, scope=THREAD):
        to, source = prim.address(dst), peer_for(team, IGET, prim.address(src), pe)
        i = prim.rank(which)
        while i < count:
            prim.store(kind, to + i * dst_stride * each, prim.load(kind, source + i * src_stride * each))
            if half:
                second = source + i * src_stride * each + half
                prim.store(kind, to + i * dst_stride * each + half, prim.load(kind, second))
            i += prim.size(which)
        prim.meet(team.control, which)

    return impl


def _quiet(name: str, scope):
    which = scope_of(name, scope)

    def impl(team, scope=THREAD):
        prim.complete_bulk()
        prim.meet(team.control, which)
        if prim.rank(which) == 0:
            prim.full_fence()
        prim.meet(team.control, which)

    return impl


@vocabulary
def quiet(team, scope=THREAD):
    return _quiet("quiet", scope)


@vocabulary
def fence(team, scope=THREAD):
    return _quiet("fence", scope)


@vocabulary
def flush(team, scope=THREAD):
    which = scope_of("flush", scope)

    def impl(team, scope=THREAD):
        prim.read_bulk()
        prim.meet(team.control, which)

    return impl
