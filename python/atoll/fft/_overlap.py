"""Transforms whose redistributions overlap with them: a part goes on in slabs, and no barrier lies between.

A PE transforms a slab along the last axis of a turn, puts it to its next owners, and signals them. A PE begins the next turn on
a slab once all senders of its pieces have signalled.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from ..arrays import DistArray, _libraries
from ..arrays._axis import Range
from ..arrays._layout import Box, Layout
from ..arrays._memory import Allocation, signals
from ..arrays._teams import _current

if TYPE_CHECKING:
    from ._plan import Turn, Work

Array = np.ndarray[Any, Any]
LEAST = 1 << 25  # bytes of a part from which on it goes in slabs; smaller ones gain nothing
SLAB = 1 << 23  # bytes of a slab; with smaller ones calls cost more than the cache saves
ITEM = 16  # bytes of an element, for these two
MOST_PES = (
    32  # a PE looks at every other one for each slab: its work in Python grows as the square of the PEs
)
SHORTEST = 32  # elements of a slab along the last axis: shorter runs make slow copies


def suits(x: DistArray, turns: Sequence[Turn]) -> bool:
    """True for redistributions between blocks of all PEs, not too many, large enough, on hosts."""
    if len(turns) < 2 or x._library is not _libraries.HOST or _current.team() != atoll.WORLD:
        return False
    if _current.n_pes() > MOST_PES:
        return False
    every = [its for turn in turns for its in (turn.before, turn.after)]
    if min(math.prod(its.shape) for its in every) * ITEM < LEAST * _current.n_pes():
        return False
    return all(axis.is_contiguous and not axis.has_copies for its in every for axis in its.axes)


@dataclass
class Move:
    """A redistribution in slabs along an axis: the layouts, the new array, and a signal for each slab."""

    was: Layout
    then: Layout
    axis: int
    made: DistArray
    words: Allocation = field(repr=False)
    slabs: list[tuple[int, int]]

    def owned(self, layout: Layout, slab: tuple[int, int]) -> tuple[tuple[int, int], ...] | None:
        """Return the ranges of this PE in a slab; None if it has no element there."""
        ranges = list(layout.ranges(_current.my_pe()))
        start, stop = ranges[self.axis]
        ranges[self.axis] = max(start, slab[0]), min(stop, slab[1])
        return tuple(ranges) if all(first < end for first, end in ranges) else None

    def slices(self, layout: Layout, ranges: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
        """Return the place of ranges in this PE's part."""
        mine = layout.ranges(_current.my_pe())
        return tuple(
            slice(start - low, stop - low) for (start, stop), (low, _) in zip(ranges, mine, strict=True)
        )

    def put(self, number: int, ranges: Sequence[tuple[int, int]], piece: Array) -> None:
        """Put a piece of a slab to the PEs that have it next, and signal each of them."""
        box = _box(ranges)
        self.made._write(box, piece)
        atoll.fence()
        for part in self.then.pieces(box):
            atoll.signal_add(self.words.raw, 1, part.pe, index=number)

    def wait(self, number: int, ranges: Sequence[tuple[int, int]]) -> None:
        """Wait for all pieces of this PE's part of a slab."""
        n = sum(1 for _ in self.was.pieces(_box(ranges)))
        atoll.signal_wait_until(self.words.raw, atoll.GE, n, index=number)

    def mine(self, layout: Layout) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
        """Yield the slabs of which this PE has a piece in a layout, and the ranges of the piece."""
        for number, slab in enumerate(self.slabs):
            ranges = self.owned(layout, slab)
            if ranges is not None:
                yield number, ranges

    def turns_about(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
        """Yield the slabs that this PE sends: those of all receivers in turns, first of the one after this PE."""
        mine, bounds = list(self.mine(self.was)), self.then.axes[self.axis].bounds
        if bounds is None or len(bounds) < 3:
            yield from mine
            return
        queues: dict[int, list[Any]] = {}
        for number, ranges in mine:
            queues.setdefault(int(self.then.axes[self.axis].owner(self.slabs[number][0])), []).append(
                (number, ranges)
            )
        parts = sorted(queues)
        at = self.was.coordinates(_current.my_pe())
        shift = sum(at) % len(parts) if parts else 0
        order = parts[shift + 1 :] + parts[: shift + 1]
        for turn in range(max(map(len, queues.values()), default=0)):
            for part in order:
                yield from queues[part][turn : turn + 1]


def _box(ranges: Sequence[tuple[int, int]]) -> Box:
    return Box(tuple(Range(start, stop - start) for start, stop in ranges))


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def run(x: DistArray, turns: Sequence[Turn]) -> tuple[Array, DistArray | None]:
    """Return this PE's part after all turns, and the array whose part it is; None if it is of this PE alone.

    Collective. Other PEs may still be at work when it returns.
    """
    part, is_own = x.local, False
    arriving: Move | None = None
    dtypes = _dtypes(x, turns)
    for number, turn in enumerate(turns[:-1]):
        leaving = _move(turns, number, dtypes)
        _turn(turn, part, is_own, arriving, leaving)
        # The part before is dropped here, so that the next allocation frees it.
        part, is_own, arriving = leaving.made.local, True, leaving
    assert arriving is not None
    last = turns[-1]
    part = _turn(last, part, is_own, arriving, None)
    return part, arriving.made if len(last.work) == 1 and _is_in_place(last, arriving) else None


def _dtypes(x: DistArray, turns: Sequence[Turn]) -> list[np.dtype[Any]]:
    """Return the dtypes of the elements after each turn, by transforms of no line."""
    found, dtype = [], x.dtype
    for turn in turns:
        for work in turn.work:
            shape = [0] * x.ndim
            shape[work.axis] = turn.before.shape[work.axis]
            dtype = work.apply(np.zeros(shape, dtype), work.axis, True).dtype
        found.append(dtype)
    return found


def _move(turns: Sequence[Turn], number: int, dtypes: Sequence[np.dtype[Any]]) -> Move:
    """Return the move from one turn to the next, after its new array and its signals are made. Collective."""
    was, then = turns[number].after, turns[number + 1].before
    beside = [
        each.work[at] for each, at in zip(turns[number : number + 2], (-1, 0), strict=False) if each.work
    ]
    axis = _slab_axis(was, {work.axis for work in beside})
    slabs = _slabs(was, then, axis)
    made = DistArray._of(then, dtypes[number], zero=False)
    return Move(was, then, axis, made, signals(atoll.WORLD, max(len(slabs), 1)), slabs)


def _slab_axis(was: Layout, busy: set[int]) -> int:
    """Return the axis along which slabs are cut: one that no transform beside the move needs whole, if there is one.

    Else it is one that the sender does not have whole; the receivers then wait for all slabs.
    """
    axes = range(len(was.axes))
    free = [axis for axis in axes if axis not in busy and was.shape[axis] > 1]
    return (free or [axis for axis in axes if was.axes[axis].parts > 1] or [0])[0]


def _slabs(was: Layout, then: Layout, axis: int) -> list[tuple[int, int]]:
    """Return the slabs, the same on every PE; each lies in one part of both layouts."""
    length = was.shape[axis]
    cuts = sorted({*(was.axes[axis].bounds or ()), *(then.axes[axis].bounds or ()), 0, length})
    row = math.prod(was.shape) // length * ITEM * was.axes[axis].parts // _current.n_pes()
    rows = max(1, SLAB // max(row, 1))
    if axis == len(was.axes) - 1:
        rows = max(rows, SHORTEST)
    found: list[tuple[int, int]] = []
    for start, stop in itertools.pairwise(cuts):
        n = max(1, round((stop - start) / rows))
        found += itertools.pairwise(start + (stop - start) * i // n for i in range(n + 1))
    return found


def _turn(turn: Turn, part: Array, is_own: bool, arriving: Move | None, leaving: Move | None) -> Array:
    """Do the transforms of a turn on what arrives, and put the result; return this PE's part after it."""
    work = list(turn.work)
    last = work.pop() if work and leaving is not None else None
    waits: dict[int, Any] = {}
    if arriving is not None:
        part, waits = arriving.made.local, dict(arriving.mine(turn.before))
        goes_on = leaving is not None and leaving.axis == arriving.axis
        if work or not goes_on or (last is not None and last.axis == arriving.axis):
            _receive(arriving, turn, part, work, waits)
    for each in work:
        part, is_own = each.apply(part, each.axis, is_own), True
    if leaving is None:
        return part
    for number, ranges in leaving.turns_about():
        for awaited in [
            slab for slab, theirs in waits.items() if _meet(ranges[leaving.axis], theirs[leaving.axis])
        ]:
            assert arriving is not None
            arriving.wait(awaited, waits.pop(awaited))
        slices = list(leaving.slices(turn.after, ranges))
        if last is not None:
            slices[last.axis] = slice(None)  # its length may change
        piece = part[tuple(slices)]
        leaving.put(number, ranges, piece if last is None else last.apply(piece, last.axis, is_own))
    return part


def _receive(arriving: Move, turn: Turn, part: Array, work: list[Work], waits: dict[int, Any]) -> None:
    """Wait for this PE's part; where it can, do the first transform in place, slab by slab."""
    first = work[0] if work and _is_in_place(turn, arriving) else None
    for number, ranges in waits.items():
        arriving.wait(number, ranges)
        if first is not None:
            slab = part[arriving.slices(turn.before, ranges)]
            found = first.apply(slab, first.axis, True)
            if not np.may_share_memory(found, slab):
                slab[...] = found
    waits.clear()
    if first is not None:
        del work[0]


def _is_in_place(turn: Turn, arriving: Move) -> bool:
    """True if the first transform of a turn leaves its result in the memory that has arrived, slab by slab."""
    first = turn.work[0]
    same = turn.before.shape[first.axis] == turn.after.shape[first.axis]
    return same and first.keeps_dtype and arriving.made.dtype.kind == "c" and first.axis != arriving.axis
