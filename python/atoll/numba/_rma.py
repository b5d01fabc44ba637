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
    """Copy src to dst of PE `pe`.

    Contiguous arrays of one dtype; the smaller of the two sizes is moved. `dst` is symmetric; src is any
    memory of this PE. Called by all threads of the scope, each of which may write src afterwards. The data
    are visible after quiet, and to a PE that has seen a later signal. Local. Errors: TypingError when
    compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_put.
    """
    each, which = item(same("put", dst, src)), scope_of("put", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(peer_for(team, PUT, prim.address(dst), pe), prim.address(src), nbytes, which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def get(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    """Copy src of PE `pe` to dst.

    Contiguous arrays of one dtype; the smaller of the two sizes is moved. `src` is symmetric; dst is any
    memory of this PE. Called by all threads of the scope, each of which may read dst afterwards. Local.
    Errors: TypingError when compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM:
    shmem_get.
    """
    each, which = item(same("get", dst, src)), scope_of("get", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(prim.address(dst), peer_for(team, GET, prim.address(src), pe), nbytes, which)
        prim.meet(team.control, which)

    return impl


@vocabulary
def put_nbi(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    """Start to copy src to dst of PE `pe`.

    Contiguous arrays of one dtype; the smaller of the two sizes is moved. `dst` is symmetric; src is any
    memory of this PE. Called by all threads of the scope. Only after quiet are the data complete and may src
    be written. Local. Errors: TypingError when compiled; PeError, NotSymmetric when run (GPUs: KernelError).
    OpenSHMEM: shmem_put_nbi.
    """
    each, which = item(same("put_nbi", dst, src)), scope_of("put_nbi", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(peer_for(team, PUT, prim.address(dst), pe), prim.address(src), nbytes, which)

    return impl


@vocabulary
def get_nbi(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    """Start to copy src of PE `pe` to dst.

    Contiguous arrays of one dtype; the smaller of the two sizes is moved. `src` is symmetric; dst is any
    memory of this PE. Called by all threads of the scope. They may read dst only after quiet. Local. Errors:
    TypingError when compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_get_nbi.
    """
    each, which = item(same("get_nbi", dst, src)), scope_of("get_nbi", scope)

    def impl(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        nbytes = lesser(dst.size, src.size) * each
        prim.copy(prim.address(dst), peer_for(team, GET, prim.address(src), pe), nbytes, which)

    return impl


@vocabulary
def async_put(team: Any, dst: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    """Start to copy src to dst of PE `pe`, while the threads go on: for large blocks in shared memory.

    Contiguous arrays of one type; dst is symmetric. GPUs of sm_90 and later use bulk copies (1 KiB and more,
    addresses and size multiples of 16 bytes); otherwise it is put_nbi. After flush, src may be written again.
    quiet, fence and barrier complete the copies. Call one of these three before a signal that announces the
    data, in the scope that started the copies or one that contains it. Call one of the four before the block
    ends, since its shared memory ends then. Local. Errors: TypingError when compiled; PeError, NotSymmetric
    when run (GPUs: KernelError). Atoll's own.
    """
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
    """Copy src[i * src_stride] to dst[i * dst_stride] of PE `pe`, for i below `count`.

    Strides count elements from the first; arrays of one type. `dst` is symmetric; src is any memory of this
    PE. Called by all threads of the scope. Order and completion are those of put. Local. Errors: TypingError
    when compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_iput.
    """
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
    """Copy src[i * src_stride] of PE `pe` to dst[i * dst_stride], for i below `count`.

    Strides count elements from the first; arrays of one type. `src` is symmetric; dst is any memory of this
    PE. Called by all threads of the scope, each of which may read dst afterwards. Local. Errors: TypingError
    when compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_iget.
    """
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
    """Complete the scope's puts, atomics and signals at all PEs.

    These, async_put and _nbi too, and what the scope saw become visible to every PE before its later
    operations. Called by all threads of the scope. Local. Errors: TypingError when compiled. OpenSHMEM:
    shmem_quiet.
    """
    return _quiet("quiet", scope)


@vocabulary
def fence(team: Any, scope: Any = THREAD) -> Any:
    """Order the scope's earlier puts, atomics and signals before its later ones, at each PE. Here it is
    quiet: they are complete, async_put too. Called by all threads of the scope. Local. Errors: TypingError
    when compiled. OpenSHMEM: shmem_fence.
    """
    return _quiet("fence", scope)


@vocabulary
def flush(team: Any, scope: Any = THREAD) -> Any:
    """Wait until the sources of the scope's earlier puts, async_put too, may be written again.

    It does not complete them at their targets; quiet does. Called by all threads of the scope. Local. Errors:
    TypingError when compiled. Atoll's own.
    """
    which = scope_of("flush", scope)

    def impl(team: Any, scope: Any = THREAD) -> None:
        prim.read_bulk()
        prim.meet(team.control, which)

    return impl


# ---- signals: words that are written after the data that they announce


@vocabulary
def signal_set(team: Any, signal: Any, value: Any, pe: Any) -> Any:
    """Set signal[0] of PE `pe` to `value`, after all that the thread wrote and saw (release). `signal` is a
    symmetric array of int32, int64, uint32, uint64. Called by one thread. Local. Errors: TypingError when
    compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_signal_set.
    """
    kind = word("signal_set", "signal", signal, WORDS)
    number("signal_set", "value", value, kind)

    def impl(team: Any, signal: Any, value: Any, pe: Any) -> None:
        prim.store_release(kind, peer_for(team, SET_SIGNAL, prim.address(signal), pe), value)

    return impl


@vocabulary
def signal_add(team: Any, signal: Any, value: Any, pe: Any) -> Any:
    """Add `value` to signal[0] of PE `pe`, after all that the thread wrote and saw (release). `signal` is a
    symmetric array of int32, int64, uint32, uint64. Called by one thread. Local. Errors: TypingError when
    compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_signal_add.
    """
    kind = word("signal_add", "signal", signal, WORDS)
    number("signal_add", "value", value, kind)

    def impl(team: Any, signal: Any, value: Any, pe: Any) -> None:
        prim.add_release(kind, peer_for(team, ADD_SIGNAL, prim.address(signal), pe), value)

    return impl


@vocabulary
def signal_fetch(team: Any, signal: Any) -> Any:
    """Return this PE's signal[0] and acquire: what was written before it was set can be read. `signal` is of
    int32, int64, uint32, uint64; so is the result. Called by one thread. Local. Errors: TypingError when
    compiled. OpenSHMEM: shmem_signal_fetch.
    """
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
    """Copy src to dst of PE `pe`, then set (dev.SET) signal[0] there to `value`, or add it (dev.ADD).

    A PE that sees the signal by signal_wait_until also sees the data. Contiguous arrays of one dtype; the
    smaller of the two sizes is moved. `dst` and signal are symmetric, signal of int32, int64, uint32, uint64.
    `src` is any memory of this PE and may be written again afterwards. Called by all threads of the scope.
    Local. Errors: TypingError when compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM:
    shmem_put_signal.
    """
    return _put_signal("put_signal", dst, src, signal, value, op, scope)


@vocabulary
def put_signal_nbi(team: Any, dst: Any, src: Any, signal: Any, value: Any, op: Any, pe: Any, scope: Any = THREAD) -> Any:  # fmt: skip
    """Start to copy src to dst of PE `pe`, then to set (dev.SET) signal[0] there to `value`, or add it
    (dev.ADD).

    Here it is put_signal: src may be written again on return. Portable programs call quiet first. Contiguous
    arrays of one dtype; the smaller of the two sizes is moved. `dst` and signal are symmetric, signal of
    int32, int64, uint32, uint64. Called by all threads of the scope. Local. Errors: TypingError when
    compiled; PeError, NotSymmetric when run (GPUs: KernelError). OpenSHMEM: shmem_put_signal_nbi.
    """
    return _put_signal("put_signal_nbi", dst, src, signal, value, op, scope)


@vocabulary
def signal_wait_until(team: Any, signal: Any, cmp: Any, value: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:  # fmt: skip
    """Wait until this PE's signal[0] cmp `value` (dev.EQ NE GT GE LT LE).

    Acquires: all threads of the scope may then read what was written before the signal. `signal` is of int32,
    int64, uint32, uint64. `bound_ns` limits the wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then
    contains `tag`. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Local. OpenSHMEM:
    shmem_signal_wait_until.
    """
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
    """Wait until this PE's signal[0] is at least n, with acquire, then take n away.

    So a replayed graph finds the word as before. `signal` is of int32, int64, uint32, uint64. Called by all
    threads of the scope. `bound_ns` limits the wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then
    contains `tag`. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Local. Atoll's
    own.
    """
    kind, which = word("signal_consume", "signal", signal, WORDS), scope_of("signal_consume", scope)
    number("signal_consume", "n", n, kind)

    def impl(team: Any, signal: Any, n: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> None:
        if prim.rank(which) == 0:
            at, call = prim.address(signal), call_of(CONSUME, tag, bound_ns)
            wait_word(kind, team.control, at, GE, kind(n), call, -1)
            prim.fetch_add(kind, at, kind(0) - kind(n))
        prim.meet(team.control, which)

    return impl
