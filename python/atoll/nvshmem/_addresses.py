"""Calls of NVSHMEM4Py's lower layer, nvshmem.bindings, on memory given by its address and streams by theirs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _atoll
from . import amo, collective, memory, rma
from ._dtypes import NAMES, numpy_dtype
from ._state import (
    STATE,
    NvshmemError,
    NvshmemInvalid,
    address_of,
    allocation_of,
    other_bytes_at,
    require,
    translated_as,
)
from .direct import comparison_of, signal_of, team_n_pes

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


def _full(function: str) -> str:
    return f"nvshmem.bindings.{function}"


def _part(function: str, found: tuple[int, Any] | None, address: int, nbytes: int) -> Any:
    """Return bytes of an allocation that was found. Raises NvshmemInvalid."""
    require()
    offset = address - found[0] if found else 0
    if found is None or offset + nbytes > found[1].nbytes:
        raise NvshmemInvalid(
            f"{_full(function)}: no allocation has the {nbytes} bytes at {address:#x}; pass an address that "
            "malloc() returned, or that of an array or tensor of nvshmem.core."
        )
    return found[1][offset : offset + nbytes]


def _symmetric(function: str, address: int, nbytes: int) -> Any:
    """Return symmetric bytes. Raises NvshmemInvalid."""
    return _part(function, allocation_of(address), address, nbytes)


def _local(function: str, address: int, nbytes: int) -> Any:
    """Return bytes that may lie outside symmetric memory."""
    found = allocation_of(address)
    return _part(function, found, address, nbytes) if found else other_bytes_at(address, nbytes)


def _operation(function: str, given: int) -> int:
    """Return the operation of a signal. Raises NvshmemInvalid."""
    signal_of(_full(function), given)
    return given


def _comparison(function: str, given: int) -> int:
    """Return the comparison. Raises NvshmemInvalid."""
    comparison_of(_full(function), given)
    return given


def _allocated(function: str, size: int, alignment: int = 0) -> int:
    if size == 0:
        return 0
    try:
        block = translated_as(_full(function))(memory.allocate)(size, alignment, _full(function))
    except NvshmemError:
        return 0
    return int(block.buffer.handle)


def malloc(size: int) -> int:
    """Return the address of new symmetric bytes, filled with zeros; 0 for no bytes or no room. Collective."""
    return _allocated("malloc", size)


def calloc(count: int, size: int) -> int:
    """Do as malloc, for `count` elements of `size` bytes. Collective over all PEs."""
    memory.refuse_negative(_full("calloc"), count=count, size=size)
    return _allocated("calloc", count * size)


def align(alignment: int, size: int) -> int:
    """Do as malloc, at a multiple of `alignment`. Collective over all PEs."""
    return _allocated("align", size, alignment)


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
    if pe == _atoll.my_pe():
        return dest
    try:
        there = translated_as(_full("ptr"))(_atoll.peer)(STATE.blocks[found[0]].memory, pe)
    except (NvshmemError, NvshmemInvalid):
        return 0
    return address_of(there) + dest - found[0]


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
    rma.put_signal(to, _local(name, source, bytes), word, signal, _operation(name, sig_op), pe, Stream(cstrm))


def putmem_signal_nbi_on_stream(
    dest: int, source: int, bytes: int, sig_addr: int, signal: int, sig_op: int, pe: int, cstrm: int
) -> None:
    """Do as putmem_signal_on_stream; the source must not be changed before a quiet. Local."""
    name = "putmem_signal_nbi_on_stream"
    to, word = _symmetric(name, dest, bytes), _symmetric(name, sig_addr, 8)
    rma.put_signal_nbi(
        to, _local(name, source, bytes), word, signal, _operation(name, sig_op), pe, Stream(cstrm)
    )


def signal_op_on_stream(sig_addr: int, signal: int, sig_op: int, pe: int, cstrm: int) -> None:
    """Change PE pe's signal, in the order of a stream's work. Local."""
    name = "signal_op_on_stream"
    rma.signal_op(_symmetric(name, sig_addr, 8), signal, _operation(name, sig_op), pe, Stream(cstrm))


def signal_wait_until_on_stream(sig_addr: int, cmp: int, cmp_value: int, cstream: int) -> None:
    """Let a stream wait for this PE's signal; without a GPU the host waits. Local."""
    name = "signal_wait_until_on_stream"
    rma.signal_wait(_symmetric(name, sig_addr, 8), cmp_value, _comparison(name, cmp), Stream(cstream))


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
    if matched and matched[2] in amo.__all__ and matched[1] in _atomic_types(matched[2]):
        return _named(name, _atomic(name, matched[2], numpy_dtype(matched[1])))
    matched = _COLLECTIVE.fullmatch(name)
    if matched and matched[1] in NAMES:
        form = (matched[2] is not None, matched[3])
        if form in _COUNTS:
            return _named(name, _collective(name, matched[1], matched[2], matched[3]))
    return None


_COUNTS = {
    (True, "reduce"): (1, 1),
    (True, "reducescatter"): (1, 0),
    (False, "alltoall"): (0, 0),
    (False, "fcollect"): (0, 1),
    (False, "broadcast"): (1, 1),
}
"""Forms of collectives, with an operation or not: parts of the destination and of the source; 0 is one for each PE."""

_OF_BITS = ("uint", "ulong", "ulonglong", "int32", "uint32", "int64", "uint64")
_INTEGERS = (*_OF_BITS, "int", "long", "longlong", "size", "ptrdiff")


def _atomic_types(operation: str) -> tuple[str, ...]:
    """Return the types of an atomic operation on hosts."""
    change = operation.removeprefix("atomic_").removeprefix("fetch_")
    if change in ("and", "or", "xor"):
        return _OF_BITS
    return _INTEGERS if change in ("inc", "compare_swap") else (*_INTEGERS, "float", "double")


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


def _atomic(name: str, operation: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """Return an atomic operation. Its parameters have the names of NVSHMEM's."""
    call = getattr(amo, operation)

    def word(address: int) -> Any:
        return _symmetric(name, address, dtype.itemsize).view(dtype)

    def fetch(source: int, pe: int) -> Any:
        return call(word(source), pe)

    def step(dest: int, pe: int) -> Any:
        return call(word(dest), pe)

    def change(dest: int, value: Any, pe: int) -> Any:
        return call(word(dest), value, pe)

    def compare_swap(dest: int, cond: Any, value: Any, pe: int) -> Any:
        return call(word(dest), cond, value, pe)

    forms: dict[str, Callable[..., Any]] = {
        "atomic_fetch": fetch,
        "atomic_inc": step,
        "atomic_fetch_inc": step,
        "atomic_compare_swap": compare_swap,
    }
    return forms.get(operation, change)


def _collective(name: str, kind: str, op: str | None, form: str) -> Callable[..., Any]:
    """Return a collective. Its parameters have the names of NVSHMEM's."""
    call: Any = getattr(collective, form)
    parts = _COUNTS[op is not None, form]
    # NumPy has no bfloat16. Copies need none.
    dtype = numpy_dtype("uint16" if kind == "bfloat16" and op is None else kind)

    def run(team: int, dest: int, src: int, count: int, stream: int, *how: Any) -> None:
        require()
        if kind == "bfloat16" and op is not None and not STATE.on_gpu:
            raise NvshmemInvalid(
                f"{_full(name)}: bfloat16 needs a GPU for arithmetic; on the host call {name.replace(kind, 'float')}."
            )
        to, source = (
            _symmetric(name, address, count * (n or team_n_pes(team)) * dtype.itemsize).view(dtype)
            for address, n in zip((dest, src), parts, strict=True)
        )
        call(team, to, source, *how, stream=Stream(stream))

    def reduction(team: int, dest: int, src: int, nreduce: int, stream: int) -> None:
        run(team, dest, src, nreduce, stream, op)

    def exchange(team: int, dest: int, src: int, nelem: int, stream: int) -> None:
        run(team, dest, src, nelem, stream)

    def broadcast(team: int, dest: int, src: int, nelem: int, pe_root: int, stream: int) -> None:
        run(team, dest, src, nelem, stream, pe_root)

    return reduction if op else broadcast if form == "broadcast" else exchange
