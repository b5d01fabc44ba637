"""Calls of NVSHMEM4Py's lower layer, nvshmem.bindings, on memory given by its address and streams by theirs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import amo, collective, memory, rma
from ._dtypes import NAMES, numpy_dtype
from ._state import STATE, NvshmemError, NvshmemInvalid, allocation_of, bytes_at, require, translated_as
from .direct import ComparisonType, SignalOp, team_n_pes

__all__ = [
    "align",
    "calloc",
    "flush_on_stream",
    "free",
    "getmem_nbi_on_stream",
    "getmem_on_stream",
    "malloc",
    "ptr",
    "putmem_nbi_on_stream",
    "putmem_on_stream",
    "putmem_signal_nbi_on_stream",
    "putmem_signal_on_stream",
    "signal_fetch",
    "signal_op_on_stream",
    "signal_wait_until_on_stream",
    "team_sync_on_stream",
]


class Stream:
    """A stream by its address, as cuda.core describes streams."""

    def __init__(self, address: int) -> None:
        self._address = int(address)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


def _symmetric(function: str, address: int, nbytes: int) -> Any:
    """Return symmetric bytes. Raises NvshmemInvalid."""
    require()
    found = allocation_of(address)
    offset = address - found[0] if found else 0
    if found is None or offset + nbytes > found[1].nbytes:
        raise NvshmemInvalid(
            f"nvshmem.bindings.{function}: no allocation has the {nbytes} bytes at {address:#x}; pass an address that "
            "malloc() returned, or that of an array or tensor of nvshmem.core."
        )
    return found[1][offset : offset + nbytes]


def _local(function: str, address: int, nbytes: int) -> Any:
    """Return bytes that may lie outside symmetric memory."""
    return _symmetric(function, address, nbytes) if allocation_of(address) else bytes_at(address, nbytes)


def malloc(size: int) -> int:
    """Return the address of new symmetric bytes, filled with zeros; 0 for no bytes or no room. Collective."""
    return align(0, size)


def calloc(count: int, size: int) -> int:
    """Do as malloc, for `count` elements of `size` bytes. Collective over all PEs."""
    return malloc(count * size)


def align(alignment: int, size: int) -> int:
    """Do as malloc, at a multiple of `alignment`. Collective over all PEs."""
    if size == 0:
        return 0
    try:
        return int(translated_as("align")(memory.allocate)(size, alignment).buffer.handle)
    except NvshmemError:
        return 0


def free(ptr: int) -> None:
    """Free what malloc returned. Collective over all PEs."""
    if ptr and not memory.is_over():
        memory.free_at(ptr)


def ptr(dest: int, pe: int) -> int:
    """Return the address here of PE pe's copy, or 0 if it cannot be reached. Local."""
    require()
    found = allocation_of(dest)
    if found is None:
        return 0
    try:
        peer = memory.get_peer_buffer(STATE.blocks[found[0]].buffer, pe)
    except (NvshmemError, NvshmemInvalid):
        return 0
    return int(peer.handle) + dest - found[0]


def putmem_on_stream(dest: int, source: int, bytes: int, pe: int, cstrm: int) -> None:
    """Copy to PE pe, in the order of a stream's work. Local."""
    to = _symmetric("putmem_on_stream", dest, bytes)
    rma.put(to, _local("putmem_on_stream", source, bytes), pe, Stream(cstrm))


def putmem_nbi_on_stream(dest: int, source: int, bytes: int, pe: int, cstrm: int) -> None:
    """Do as putmem_on_stream; the source must not be changed before a quiet. Local."""
    to = _symmetric("putmem_nbi_on_stream", dest, bytes)
    rma.put_nbi(to, _local("putmem_nbi_on_stream", source, bytes), pe, Stream(cstrm))


def getmem_on_stream(dest: int, source: int, bytes: int, pe: int, cstrm: int) -> None:
    """Copy from PE pe, in the order of a stream's work. Local."""
    source_there = _symmetric("getmem_on_stream", source, bytes)
    rma.get(_local("getmem_on_stream", dest, bytes), source_there, pe, Stream(cstrm))


def getmem_nbi_on_stream(dest: int, source: int, bytes: int, pe: int, cstrm: int) -> None:
    """Do as getmem_on_stream; the data are there after a quiet. Local."""
    source_there = _symmetric("getmem_nbi_on_stream", source, bytes)
    rma.get_nbi(_local("getmem_nbi_on_stream", dest, bytes), source_there, pe, Stream(cstrm))


def putmem_signal_on_stream(
    dest: int, source: int, bytes: int, sig_addr: int, signal: int, sig_op: int, pe: int, cstrm: int
) -> None:
    """Copy to PE pe and change its signal, in the order of a stream's work. Local."""
    name = "putmem_signal_on_stream"
    to, word = _symmetric(name, dest, bytes), _symmetric(name, sig_addr, 8)
    rma.put_signal(to, _local(name, source, bytes), word, signal, SignalOp(sig_op), pe, Stream(cstrm))


def putmem_signal_nbi_on_stream(
    dest: int, source: int, bytes: int, sig_addr: int, signal: int, sig_op: int, pe: int, cstrm: int
) -> None:
    """Do as putmem_signal_on_stream; the source must not be changed before a quiet. Local."""
    name = "putmem_signal_nbi_on_stream"
    to, word = _symmetric(name, dest, bytes), _symmetric(name, sig_addr, 8)
    rma.put_signal_nbi(to, _local(name, source, bytes), word, signal, SignalOp(sig_op), pe, Stream(cstrm))


def signal_op_on_stream(sig_addr: int, signal: int, sig_op: int, pe: int, cstrm: int) -> None:
    """Change PE pe's signal, in the order of a stream's work. Local."""
    word = _symmetric("signal_op_on_stream", sig_addr, 8)
    rma.signal_op(word, signal, SignalOp(sig_op), pe, Stream(cstrm))


def signal_wait_until_on_stream(sig_addr: int, cmp: int, cmp_value: int, cstream: int) -> None:
    """Let a stream wait for this PE's signal; without a GPU the host waits. Local."""
    word = _symmetric("signal_wait_until_on_stream", sig_addr, 8)
    rma.signal_wait(word, cmp_value, ComparisonType(cmp), Stream(cstream))


def signal_fetch(sig_addr: int) -> int:
    """Return the value of this PE's signal. Local."""
    return rma.signal_fetch(_symmetric("signal_fetch", sig_addr, 8))


def flush_on_stream(cstrm: int) -> None:
    """Make the sources of earlier puts on a stream safe to change, in its order. Local."""
    rma.flush(Stream(cstrm))


def team_sync_on_stream(team: int, stream: int) -> int:
    """Wait for a team, in the order of a stream's work; completes no puts. Collective over the team."""
    collective.sync(team, Stream(stream))
    return 0


_COLLECTIVE = re.compile(r"([a-z]+\d*)_(?:(sum|min|max)_)?(\w+)_on_stream")
_ATOMIC = re.compile(r"([a-z]+\d*)_(atomic_\w+)")


def typed(name: str) -> Callable[..., Any] | None:
    """Return the function of a name that contains a type, such as float_sum_reduce_on_stream; None for another."""
    matched = _ATOMIC.fullmatch(name)
    if matched and matched[1] in NAMES and matched[2] in amo.__all__:
        return _atomic(name, getattr(amo, matched[2]), numpy_dtype(matched[1]))
    matched = _COLLECTIVE.fullmatch(name)
    # NumPy has no bfloat16.
    if matched and matched[1] in NAMES and matched[1] != "bfloat16":
        form = (matched[2] is not None, matched[3])
        if form in _COUNTS:
            return _collective(name, numpy_dtype(matched[1]), matched[2], matched[3])
    return None


_COUNTS = {
    (True, "reduce"): (1, 1),
    (True, "reducescatter"): (1, 0),
    (False, "alltoall"): (0, 0),
    (False, "fcollect"): (0, 1),
    (False, "broadcast"): (1, 1),
}
"""Forms of collectives, with an operation or not: parts of the destination and of the source; 0 is one for each PE."""


def _atomic(name: str, call: Callable[..., Any], dtype: np.dtype[Any]) -> Callable[..., Any]:
    def atomic(dest: int, *values: Any) -> Any:
        *operands, pe = values
        return call(_symmetric(name, dest, dtype.itemsize).view(dtype), *operands, pe)

    return atomic


def _collective(name: str, dtype: np.dtype[Any], op: str | None, form: str) -> Callable[..., Any]:
    call: Any = getattr(collective, form)
    parts = _COUNTS[op is not None, form]

    def on_stream(team: int, dest: int, src: int, count: int, *rest: int) -> None:
        *root, stream = rest
        to, source = (
            _symmetric(name, address, count * (n or team_n_pes(team)) * dtype.itemsize).view(dtype)
            for address, n in zip((dest, src), parts, strict=True)
        )
        call(team, to, source, *([op] if op else root), stream=Stream(stream))

    return on_stream
