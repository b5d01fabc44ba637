"""Calls on arrays of a GPU: as they are if they are symmetric, else through symmetric memory that the PE sets aside.

Arrays of CuPy and PyTorch that their own allocators made are not symmetric. Then data are copied on the call's stream into
a stage, the call moves them between stages, and they are copied out of it. The host waits before the stage is used again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _atoll
from ._engines import Engine, TeamEngine
from ._errors import NcclInvalid
from ._lines import CODES, Line, Shown
from ._world import world
from .typing import INTEGERS, NARROW, NUMPY_NAMES, NcclDataType

PIECE_BYTES = 4 << 20
"""Messages of GPUs go in pieces of at most this size, alike on both sides."""
LEGACY = 0
"""The stream of calls that name none, as NCCL's."""

_lock = threading.Lock()


def bytes_at(line: Line, first: int, nbytes: int) -> Any:
    """Return some bytes of a line on a GPU."""
    return Shown(line.address + first, nbytes, np.dtype(np.uint8), line.array)


def _blocks(kind: str, size: int) -> tuple[int, int]:
    """Return how many blocks the source and the target of a collective have."""
    inward = size if kind in ("reduce_scatter", "premul_sum_scatter", "all_to_all") else 1
    return inward, size if kind in ("all_gather", "all_to_all") else 1


def collective(engine: Engine, kind: str, to: Line | None, source: Line, arguments: Any, stream: Any) -> None:
    """Carry out a collective on arrays of a GPU.

    Parameters
    ----------
    kind
        The engine's method.
    to
        The target; nothing on ranks that get no result.
    arguments
        The method's own arguments: an operator, a root.
    """
    if not isinstance(engine, TeamEngine):
        run = getattr(engine, kind)
        through_host(lambda into, there: run(into.array, there.array, *arguments), to, source, stream)
        return
    call = getattr(engine, kind)
    if is_direct(source) and (to is None or (is_direct(to) and _may_meet(engine, kind, to, source))):
        call(source.array if to is None else to.array, source.array, *arguments, stream)
        return
    with _lock:
        _staged(engine, call, kind, to, source, arguments, LEGACY if stream is None else stream)


def has_gpu_form(engine: Engine, kind: NcclDataType, op: str, scalar: Any, root: int | None) -> bool:
    """Return whether Atoll reduces arrays of a GPU so: for teams; averages and factors of float types, without a root."""
    if not isinstance(engine, TeamEngine):
        return False
    plain = scalar is None and op != "avg"
    return plain or (kind not in INTEGERS and (scalar is None or root is None))


def is_direct(line: Line) -> bool:
    """Return whether Atoll's calls take a line as it is."""
    return _atoll.is_symmetric(line.array)


def _may_meet(engine: TeamEngine, kind: str, to: Line, source: Line) -> bool:
    """Return whether a target and a source are apart, or overlap as the collective allows."""
    size = source.kind.itemsize
    first, start = to.address, source.address
    if first + len(to) * size <= start or start + len(source) * size <= first:
        return True
    if kind == "all_gather":
        return start == first + engine.rank * len(source) * size
    return _blocks(kind, engine.size) == (1, 1) and first == start


def _staged(
    engine: TeamEngine, call: Any, kind: str, to: Line | None, source: Line, arguments: Any, stream: Any
) -> None:
    inward, outward = _blocks(kind, engine.size)
    size, name, me = source.kind.itemsize, NUMPY_NAMES[source.kind], _atoll.my_pe()
    half = len(world().stage) // 2
    count = len(source) // inward
    step = max(half // (size * max(inward, outward)) // 16 * 16, 1)
    for first in range(0, count, step):
        k = min(step, count - first)
        given = world().stage[: inward * k * size]
        got = world().stage[half : half + outward * k * size]
        for block in range(inward):
            part = given[block * k * size : (block + 1) * k * size]
            _atoll.put(part, bytes_at(source, (block * count + first) * size, k * size), me, stream=stream)
        call(got.view(name), given.view(name), *arguments, stream)
        if to is None:
            continue
        for block in range(outward):
            part = got[block * k * size : (block + 1) * k * size]
            _atoll.get(bytes_at(to, (block * count + first) * size, k * size), part, me, stream=stream)
    _atoll.check_kernels(stream=stream)


def through_host(run: Callable[[Any, Line], None], to: Line | None, source: Line, stream: Any) -> None:
    """Carry out a collective on copies in host memory, for what Atoll has no form on GPUs. The host waits."""
    given = LEGACY if stream is None else stream
    with _lock:
        there = _read(source, given)
        into = there if to is source else None if to is None else _empty(to)
        run(into, there)
        if to is not None and into is not None:
            _write(to, into, given)


def _empty(line: Line) -> Line:
    """Return a line of the host like one of a GPU."""
    dtype = line.kind.numpy_dtype
    origin = np.empty(len(line), dtype)
    return Line(origin.view(CODES[dtype.itemsize]) if line.kind in NARROW else origin, line.kind, origin)


def _pieces(line: Line) -> Iterator[tuple[Any, Any, slice]]:
    """Yield parts of the stage, of a line's bytes on the GPU, and the place of those bytes."""
    total, room = len(line) * line.kind.itemsize, len(world().stage)
    for first in range(0, total, room):
        end = min(first + room, total)
        yield world().stage[: end - first], bytes_at(line, first, end - first), slice(first, end)


def _read(line: Line, stream: Any) -> Line:
    copy = _empty(line)
    for part, there, place in _pieces(line):
        _atoll.put(part, there, _atoll.my_pe(), stream=stream)
        _atoll.check_kernels(stream=stream)
        copy.array.view(np.uint8)[place] = part.numpy()
    return copy


def _write(line: Line, copy: Line, stream: Any) -> None:
    for part, there, place in _pieces(line):
        part[...] = copy.array.view(np.uint8)[place]
        _atoll.get(there, part, _atoll.my_pe(), stream=stream)
        _atoll.check_kernels(stream=stream)


@dataclass(frozen=True)
class Message:
    """A send or a receive that a group carries out."""

    sends: bool
    line: Line
    pe: int
    stream: Any


def messages(listed: list[Message]) -> None:
    """Carry out messages at once. Those of GPUs go in pieces, one of each in a round."""
    on_gpu = [x for x in listed if x.line.on_gpu]
    if not on_gpu:
        _of_host(listed)
        return
    with _lock:
        for turn in range(max(-(-_bytes(x) // PIECE_BYTES) for x in on_gpu)):
            _round(listed, turn)


def _of_host(listed: list[Message]) -> None:
    channel = world().channel
    if len(listed) == 1:
        _start(listed[0], listed[0].line.array, channel)
        return
    with _atoll.group(channel):
        for x in listed:
            _start(x, x.line.array, channel)


def _start(message: Message, array: Any, channel: _atoll.Team, **given: Any) -> None:
    (_atoll.send if message.sends else _atoll.recv)(array, message.pe, team=channel, **given)


def _bytes(message: Message) -> int:
    return len(message.line) * message.line.kind.itemsize


def _round(listed: list[Message], turn: int) -> None:
    """Carry out a piece of each message. Messages of the host are in the first round."""
    used, waits = 0, False
    pieces: list[tuple[Message, Any, dict[str, Any]]] = []
    for x in listed:
        if not x.line.on_gpu:
            if turn == 0:
                pieces.append((x, x.line.array, {}))
            continue
        nbytes = min(_bytes(x) - turn * PIECE_BYTES, PIECE_BYTES)
        if nbytes <= 0:
            continue
        given = {"stream": LEGACY if x.stream is None else x.stream}
        piece = bytes_at(x.line, turn * PIECE_BYTES, nbytes)
        if x.sends and not is_direct(x.line):
            used, piece = _copied(piece, nbytes, used, given)
        waits |= x.stream is None
        pieces.append((x, piece, given))
    channel = world().channel
    with _atoll.group(channel):
        for x, piece, given in pieces:
            _start(x, piece, channel, **given)
    if used or waits:
        _atoll.check_kernels(**next(given for *_, given in pieces if given))


def _copied(piece: Any, nbytes: int, used: int, given: dict[str, Any]) -> tuple[int, Any]:
    """Copy a piece into the stage behind `used` bytes, and return how many are used then, and the copy."""
    part = world().stage[used : used + nbytes]
    if len(part) < nbytes:
        raise NcclInvalid(
            f"nccl.core: group_end: the group sends more than {len(world().stage)} bytes of arrays that are not symmetric; use "
            "smaller groups or alltoall, or nccl.core.cupy.empty and nccl.core.torch.empty."
        )
    _atoll.put(part, piece, _atoll.my_pe(), **given)
    return used + -(-nbytes // 256) * 256, part
