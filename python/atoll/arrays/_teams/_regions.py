"""Memory of distributed arrays over teams: a part of every PE's heap, from which the members of a team allocate.

A part of the heap of GPUs is one of its own. Blocks there are found and kept in the same way.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import atoll

from .. import _libraries
from .._compared import collective
from .._layout import is_one
from ._exchange import gathered

Array = Any  # NumPy's array or atoll.DeviceArray
Offset = tuple[int, int]
Key = tuple[int, int, int, tuple[int, ...]]
ALIGNMENT = 256  # bytes: no two blocks share a cache line, nor a pair of them


@dataclass
class Span:
    """A block in a room: where it lies, the PEs of its team, and whether this PE still uses it."""

    region: int
    start: int
    stop: int
    pes: tuple[int, ...]
    team: atoll.Team
    is_used: bool = True

    @property
    def offset(self) -> Offset:
        """The number of the reserved region, and the block's offset in it."""
        return self.region, self.start

    @property
    def key(self) -> Key:
        """The state that the members of its team share."""
        return self.region, self.start, self.stop, self.pes


class _Regions:
    """The rooms of a job, in the order of their reservation, and the blocks that lie in this PE's."""

    def __init__(self) -> None:
        self.memory: list[Array] = []
        self.spans: list[Span] = []


class _Holder:
    """The owner of a block: libraries keep it as the owner of the memory of the block and of all its views."""

    def __init__(self, memory: Array, view: Array) -> None:
        self.memory = memory
        name = "__cuda_array_interface__" if is_on_gpu(memory) else "__array_interface__"
        setattr(self, name, getattr(view, name))


def is_on_gpu(memory: Array) -> bool:
    """True for the memory of a GPU."""
    return isinstance(memory, atoll.DeviceArray)


_regions = _Regions()


@collective()
def reserve(nbytes: int, device: Any = None) -> None:
    """Reserve a part of every PE's heap for distributed arrays over teams. Collective over all PEs.

    Arrays of a team are made by its members alone, so their memory comes from what all PEs have reserved before. It costs
    nothing until it is written, but counts against the limit of the heap. Another call adds room.

    Parameters
    ----------
    nbytes
        Bytes on each PE. A PE needs them for the arrays of all the teams of which it is a member.
    device
        "cuda": bytes on each PE's GPU, for arrays there. By default on hosts.

    Raises
    ------
    OutOfMemory
        If the symmetric heap has no room.

    Examples
    --------
    >>> from atoll import arrays
    >>> arrays.reserve(1 << 20)
    """
    if not is_one(nbytes) or nbytes < 0:
        raise atoll.InvalidArgument(f"reserve({nbytes!r}): expected a number of bytes, 0 or more.")
    whole = -(-nbytes // ALIGNMENT) * ALIGNMENT  # blocks take multiples of it
    current_regions().memory.append(atoll.empty(whole, np.uint8, align=ALIGNMENT, device=device))


def current_regions() -> _Regions:
    """Return the regions of this job; those of a finalized job are dropped."""
    global _regions
    if _regions.memory and not atoll.is_symmetric(_regions.memory[0]):
        _regions = _Regions()
    return _regions


def take(
    team: atoll.Team, shape: tuple[int, ...], dtype: np.dtype[Any], library: _libraries.Library
) -> tuple[Array, Array, Span]:
    """Return a block of the members' rooms, at the same place on all, and its span. Collective over the team.

    The block comes twice, as Atoll's calls take it and as the library's array. That one keeps the span in use, and so do
    its views.

    It lies where no member has another block. A block that was dropped is free once all PEs of its team have dropped it and
    are here: another one may read it before.

    Raises
    ------
    OutOfMemory
        On every member, if there is no such place.
    """
    _libraries.finish()  # it may get memory of an array that was dropped, and is still read
    regions = current_regions()
    nbytes = -(-max(math.prod(shape) * dtype.itemsize, 1) // ALIGNMENT) * ALIGNMENT
    for span in regions.spans:
        if not span.is_used and span.team is not team:
            with contextlib.suppress(atoll.UseAfterFree):  # destroying the team has completed its puts
                atoll.pe_quiet(range(span.team.n_pes()), team=span.team)
    team.barrier()  # completes all puts of members into blocks that they have dropped
    members = [team.world_pe(pe) for pe in range(team.n_pes())]
    mine = [(span.key, span.is_used) for span in regions.spans]
    there = set(members)
    kept: set[Key] = set()
    for spans in gathered(mine, team):
        kept.update(key for key, is_used in spans if is_used or not there.issuperset(key[3]))
    regions.spans[:] = [span for span in regions.spans if span.key in kept]
    fitting = [region for region in enumerate(regions.memory) if is_on_gpu(region[1]) == library.on_gpu]
    for number, memory in fitting:
        start = _first_gap(sorted(key[1:3] for key in kept if key[0] == number), nbytes, memory.size)
        if start is not None:
            span = Span(number, start, start + nbytes, tuple(members), team)
            regions.spans.append(span)
            raw = array_at(span.offset, shape, dtype, memory)
            holder = _Holder(memory, raw)
            weakref.finalize(holder, _drop, span)
            return raw, library.held(holder, raw), span
    total = sum(memory.size for _, memory in fitting)
    has = (
        f"{total:,} bytes are reserved" + (", and the arrays there leave too little" if kept else "")
        if total
        else "no memory is reserved for it"
    )
    asks = ", device='cuda'" if library.on_gpu else ""
    raise atoll.OutOfMemory(
        f"a distributed array over a team of {len(members)} PEs needs {nbytes:,} bytes in one piece on each member; {has}. "
        f"All PEs call atoll.arrays.reserve(nbytes{asks}) before."
    )


def _first_gap(spans: Sequence[tuple[int, ...]], nbytes: int, size: int) -> int | None:
    """Return where a gap of that many bytes starts between spans."""
    at = 0
    for start, stop in spans:
        if start - at >= nbytes:
            return at
        at = max(at, stop)
    return at if size - at >= nbytes else None


def _drop(span: Span) -> None:
    span.is_used = False


def free(span: Span) -> None:
    """Give a span back at once; all members of its team do so."""
    regions = current_regions()
    regions.spans[:] = [each for each in regions.spans if each is not span]


def memory_of(span: Span) -> Array:
    """Return the room of a span, a symmetric array of bytes."""
    return current_regions().memory[span.region]


def array_at(
    offset: Offset, shape: tuple[int, ...], dtype: np.dtype[Any], region: Array | None = None
) -> Array:
    """Return the array of that shape at a place of a region, by default this PE's."""
    memory = current_regions().memory[offset[0]] if region is None else region
    return memory[offset[1] : offset[1] + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
