"""Calls on arrays of a GPU, in stream order. The arrays are any memory of the GPU, of whichever library.

A communicator's group of GPUs carries them out. Reductions with custom scalars, and those of a few types, go through
symmetric memory that the PE sets aside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import _atoll
from ._device_groups import FOLDED, KINDS, DeviceGroup
from ._engines import Engine, TeamEngine
from ._lines import CODES, DeviceLine, Line
from ._streams import handle_of
from ._world import world
from .typing import INTEGERS, NARROW, NUMPY_NAMES, NcclDataType

_lock = threading.Lock()


def collective(
    group: DeviceGroup,
    kind: str,
    to: DeviceLine | None,
    source: DeviceLine | None,
    root: int | None,
    op: str | None,
    stream: Any,
) -> None:
    """Enqueue a collective.

    Parameters
    ----------
    group
        The communicator's ranks on their GPUs.
    kind
        A name of KINDS.
    to, source
        The arrays; nothing on ranks that have no such array.
    op
        The operator of a reduction.
    """
    given = None if source is None else source.span
    dtype = None if op is None or source is None else source.kind
    group.collective(KINDS[kind], to and to.span, given, root or 0, dtype, op or "sum", stream)


def in_order(state: Any, stream: Any, call: Callable[[], None]) -> None:
    """Make a call of another kind on a stream, in order with those of the communicator's group of GPUs."""
    if state.group is None:
        call()
    else:
        state.group.run(stream, call)


def has_gpu_form(kind: NcclDataType, op: str) -> bool:
    """Return True if groups of GPUs can reduce this type: not 8-bit floats, and not averages of integers."""
    return kind in FOLDED and (op != "avg" or kind not in INTEGERS)


def has_scaled_form(engine: Engine, kind: NcclDataType, root: int | None) -> bool:
    """Return whether a team reduces elements of a GPU times a scalar: float types, without a root."""
    return isinstance(engine, TeamEngine) and kind not in INTEGERS and root is None


def scaled(
    engine: Engine, scatters: bool, to: DeviceLine, source: DeviceLine, scalar: float, stream: Any
) -> None:
    """Sum a scalar's multiples through the stage, piece by piece. The host waits before the stage is used again."""
    assert isinstance(engine, TeamEngine)
    call = engine.premul_sum_scatter if scatters else engine.premul_sum
    blocks = engine.size if scatters else 1
    size, name, me = source.kind.itemsize, NUMPY_NAMES[source.kind], _atoll.my_pe()
    given = handle_of(stream)
    with _lock:
        half = len(world().stage) // 2
        count = len(source) // blocks
        step = max(half // (size * blocks) // 16 * 16, 1)
        for first in range(0, count, step):
            k = min(step, count - first)
            there = world().stage[: blocks * k * size]
            got = world().stage[half : half + k * size]
            for block in range(blocks):
                part = there[block * k * size : (block + 1) * k * size]
                _atoll.put(part, source.bytes_at((block * count + first) * size, k * size), me, stream=given)
            call(got.view(name), there.view(name), scalar, given)
            _atoll.get(to.bytes_at(first * size, k * size), got, me, stream=given)
        _atoll.check_kernels(stream=given)


def through_host(
    run: Callable[[Line | None, Line | None], None],
    to: DeviceLine | None,
    source: DeviceLine | None,
    stream: Any,
) -> None:
    """Carry out a collective on copies in host memory. The host waits.

    For what Atoll has no form on GPUs, and for communicators of several hosts.
    """
    given = handle_of(stream)
    with _lock:
        there = None if source is None else _read(source, given)
        into = there if to is source else None if to is None else _empty(to)
        run(into, there)
        if to is not None and into is not None:
            _write(to, into, given)


def _empty(line: DeviceLine) -> Line:
    """Return a line of the host like one of a GPU."""
    dtype = line.kind.numpy_dtype
    origin = np.empty(len(line), dtype)
    return Line(origin.view(CODES[dtype.itemsize]) if line.kind in NARROW else origin, line.kind, origin)


def _pieces(line: DeviceLine) -> Iterator[tuple[Any, Any, slice]]:
    """Yield parts of the stage, of a line's bytes on the GPU, and the place of those bytes."""
    total, room = line.span[1], len(world().stage)
    for first in range(0, total, room):
        end = min(first + room, total)
        yield world().stage[: end - first], line.bytes_at(first, end - first), slice(first, end)


def _read(line: DeviceLine, stream: int) -> Line:
    copy = _empty(line)
    for part, there, extent in _pieces(line):
        _atoll.put(part, there, _atoll.my_pe(), stream=stream)
        _atoll.check_kernels(stream=stream)
        copy.array.view(np.uint8)[extent] = part.numpy()
    return copy


def _write(line: DeviceLine, copy: Line, stream: int) -> None:
    for part, there, extent in _pieces(line):
        part[...] = copy.array.view(np.uint8)[extent]
        _atoll.get(there, part, _atoll.my_pe(), stream=stream)
        _atoll.check_kernels(stream=stream)


class Message(NamedTuple):
    """A send or a receive that a group carries out."""

    sends: bool
    line: Any
    """A Line or a DeviceLine."""
    rank: int
    state: Any
    """The communicator's."""
    stream: Any


def messages(listed: list[Message]) -> None:
    """Carry out messages at once: those of the host, and those of each communicator on GPUs."""
    on_host: list[Message] = []
    by_group: dict[int, list[Message]] = {}
    for x in listed:
        if x.line.on_gpu and x.state.group is not None:
            by_group.setdefault(id(x.state), []).append(x)
        else:
            on_host.append(x)
    if on_host:
        _of_host(on_host)
    for of_one in by_group.values():
        _of_gpus(of_one)


def _of_host(listed: list[Message]) -> None:
    """Carry out messages through the host; those of GPUs by copies."""
    channel = world().channel
    copies = [_host_line(x) for x in listed]
    if len(listed) == 1:
        _start(listed[0], copies[0], channel)
    else:
        with _atoll.group(channel):
            for x, copy in zip(listed, copies, strict=True):
                _start(x, copy, channel)
    for x, copy in zip(listed, copies, strict=True):
        if isinstance(x.line, DeviceLine) and not x.sends:
            with _lock:
                _write(x.line, copy, handle_of(x.stream))


def _host_line(message: Message) -> Line:
    line = message.line
    if isinstance(line, Line):
        return line
    with _lock:
        return _read(line, handle_of(message.stream)) if message.sends else _empty(line)


def _start(message: Message, line: Line, channel: _atoll.Team) -> None:
    pe = message.state.engine.pes[message.rank]
    (_atoll.send if message.sends else _atoll.recv)(line.array, pe, team=channel)


def _of_gpus(listed: list[Message]) -> None:
    """Enqueue messages of one communicator on the first one's stream. The other streams wait for them."""
    group, stream = listed[0].state.group, listed[0].stream
    others = [x.stream for x in listed if x.stream is not stream]
    if others:
        group.follow(stream, others)
    group.exchange([(x.sends, x.line.span, x.rank) for x in listed], stream)
    for other in others:
        group.follow(other, [stream])
