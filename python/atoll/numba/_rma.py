"""Put and get, signals, and the operations that order them (atoll/device/rma.hpp, signals.hpp).

Arrays are contiguous; the smaller of the two sizes is moved. The types of arguments are checked, and PE
numbers unless ATOLL_CHECK=none. Hosts also check that an array at another PE is symmetric; on GPUs, kernels
compiled with ATOLL_CHECK=all do.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._layout import AT
from ._targets import (
    FLOATS,
    GE,
    GRID,
    SET,
    THREAD,
    WORDS,
    array,
    number,
    one_of,
    same,
    scope_of,
    vocabulary,
    word,
)
from ._waiting import CONSUME, SIGNAL_WAIT, call_of, wait_word
from ._who import at_peer, check_place, lesser, peer_for

PUT, GET, IPUT, IGET = AT["check put"], AT["check get"], AT["check iput"], AT["check iget"]
UNSIGNED = {1: types.uint8, 2: types.uint16}
ASYNC_PUT = AT["check async_put"]
SET_SIGNAL, ADD_SIGNAL, PUT_SIGNAL = AT["check signal_set"], AT["check signal_add"], AT["check put_signal"]


def item(kind: Any) -> int:
    """Bytes of an element."""
    return (
        int(kind.bitwidth) // 8 if hasattr(kind, "bitwidth") else {"bool": 1}.get(str(kind), 0) or _wide(kind)
    )


def _wide(kind: Any) -> int:
    from numba.np.numpy_support import as_dtype

    return int(as_dtype(kind).itemsize)


@vocabulary
def put(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    each, which = item(same("put", dst, src)), scope_of("put", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(peer_for(team, PUT, prim.address(dst), pe), prim.address(src), nbytes, which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def get(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    each, which = item(same("get", dst, src)), scope_of("get", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(prim.address(dst), peer_for(team, GET, prim.address(src), pe), nbytes, which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def put_nbi(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    each, which = item(same("put_nbi", dst, src)), scope_of("put_nbi", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(peer_for(team, PUT, prim.address(dst), pe), prim.address(src), nbytes, which)

    return impl


@vocabulary
def get_nbi(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    each, which = item(same("get_nbi", dst, src)), scope_of("get_nbi", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(prim.address(dst), peer_for(team, GET, prim.address(src), pe), nbytes, which)

    return impl


@vocabulary
def async_put(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    each, which = item(same("async_put", dst, src)), scope_of("async_put", scope)
    within_block = which is not GRID

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
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


def _strided(name: str, dst: Any, src: Any) -> tuple[Any, int]:
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
def iput(
    team: Any, dst: Any, src: Any, dst_stride: Any, src_stride: Any, count: Any, pe: Any, scope: Any = THREAD
) -> Any:
    (kind, half), which = _strided("iput", dst, src), scope_of("iput", scope)
    each = item(dst.dtype)

    def impl(
        team: Any,
        dst: Any,
        src: Any,
        dst_stride: Any,
        src_stride: Any,
        count: Any,
        pe: Any,
        scope: Any = THREAD,
    ) -> None:
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
def iget(
    team: Any, dst: Any, src: Any, dst_stride: Any, src_stride: Any, count: Any, pe: Any, scope: Any = THREAD
) -> Any:
    (kind, half), which = _strided("iget", dst, src), scope_of("iget", scope)
    each = item(dst.dtype)

    def impl(
        team: Any,
        dst: Any,
        src: Any,
        dst_stride: Any,
        src_stride: Any,
        count: Any,
        pe: Any,
        scope: Any = THREAD,
    ) -> None:
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


# ---- order


def _quiet(name: str, scope: Any) -> Any:
    which = scope_of(name, scope)

    def impl(team: Any, scope: Any = THREAD) -> None:
        prim.complete_bulk()
        prim.meet(team.control, which)
        if prim.rank(which) == 0:
            prim.full_fence()
        prim.meet(team.control, which)

    return impl


@vocabulary
def quiet(team: Any, scope: Any = THREAD) -> Any:
    return _quiet("quiet", scope)


@vocabulary
def fence(team: Any, scope: Any = THREAD) -> Any:
    return _quiet("fence", scope)


@vocabulary
def flush(team: Any, scope: Any = THREAD) -> Any:
    which = scope_of("flush", scope)

    def impl(team: Any, scope: Any = THREAD) -> None:
        prim.read_bulk()
        prim.meet(team.control, which)

    return impl


# ---- signals: words that are written after the data that they announce


@vocabulary
def signal_set(team: Any, signal: Any, value: Any, pe: Any) -> Any:
    kind = word("signal_set", "signal", signal, WORDS)
    number("signal_set", "value", value, kind)

    def impl(team: Any, signal: Any, value: Any, pe: Any) -> None:
        prim.store_release(kind, peer_for(team, SET_SIGNAL, prim.address(signal), pe), value)

    return impl


@vocabulary
def signal_add(team: Any, signal: Any, value: Any, pe: Any) -> Any:
    kind = word("signal_add", "signal", signal, WORDS)
    number("signal_add", "value", value, kind)

    def impl(team: Any, signal: Any, value: Any, pe: Any) -> None:
        prim.add_release(kind, peer_for(team, ADD_SIGNAL, prim.address(signal), pe), value)

    return impl


@vocabulary
def signal_fetch(team: Any, signal: Any) -> Any:
    kind = word("signal_fetch", "signal", signal, WORDS)
    return lambda team, signal: prim.load_acquire(kind, prim.address(signal))


def _put_signal(name: str, dst: Any, src: Any, signal: Any, value: Any, op: Any, scope: Any) -> Any:
    each, which = item(same(name, dst, src)), scope_of(name, scope)
    kind = word(name, "signal", signal, WORDS)
    number(name, "value", value, kind)
    setting = one_of("op of a signal", name, op) is SET

    def impl(
        team: Any, dst: Any, src: Any, signal: Any, value: Any, op: Any, pe: Any, scope: Any = THREAD
    ) -> None:
        nbytes = lesser(dst.size, src.size) * each
        to = peer_for(team, PUT_SIGNAL, prim.address(dst), pe)
        check_place(team, PUT_SIGNAL, signal)
        prim.copy(to, prim.address(src), nbytes, which)
        prim.meet(team.control, which)
        if prim.rank(which) == 0:
            if setting:
                prim.store_release(kind, at_peer(team, prim.address(signal), pe), value)
            else:
                prim.add_release(kind, at_peer(team, prim.address(signal), pe), value)

    return impl


@vocabulary
def put_signal(
    team: Any, dst: Any, src: Any, signal: Any, value: Any, op: Any, pe: Any, scope: Any = THREAD
) -> Any:
    return _put_signal("put_signal", dst, src, signal, value, op, scope)


@vocabulary
def put_signal_nbi(team: Any, dst: Any, src: Any, signal: Any, value: Any, op: Any, pe: Any, scope: Any = THREAD) -> Any:  # fmt: skip
    return _put_signal("put_signal_nbi", dst, src, signal, value, op, scope)


@vocabulary
def signal_wait_until(team: Any, signal: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:  # fmt: skip
    kind, which = word("signal_wait_until", "signal", signal, WORDS), scope_of("signal_wait_until", scope)
    one_of("cmp", "signal_wait_until", cmp)
    number("signal_wait_until", "value", value, kind)

    def impl(
        team: Any, signal: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
    ) -> None:
        if prim.rank(which) == 0:
            at, call = prim.address(signal), call_of(SIGNAL_WAIT, tag, bound_ns)
            wait_word(kind, team.control, at, cmp, kind(value), call, -1)
        prim.meet(team.control, which)

    return impl


@vocabulary
def signal_consume(
    team: Any, signal: Any, n: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
) -> Any:
    kind, which = word("signal_consume", "signal", signal, WORDS), scope_of("signal_consume", scope)
    number("signal_consume", "n", n, kind)

    def impl(team: Any, signal: Any, n: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> None:
        if prim.rank(which) == 0:
            at, call = prim.address(signal), call_of(CONSUME, tag, bound_ns)
            wait_word(kind, team.control, at, GE, kind(n), call, -1)
            prim.fetch_add(kind, at, kind(0) - kind(n))
        prim.meet(team.control, which)

    return impl
