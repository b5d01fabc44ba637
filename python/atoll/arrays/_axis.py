"""One axis of a distributed array: which part owns which indices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Indices = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(slots=True)
class Range:
    """Indices start, start + step, ... of an axis; `step` is positive."""

    start: int
    count: int
    step: int = 1

    @property
    def slice(self) -> slice:
        """The same as a slice."""
        return slice(self.start, self.start + self.count * self.step, self.step)


@dataclass(slots=True)
class Segment:
    """A part's share of a range: `local` in the part, `place` in the range itself."""

    local: Range
    target: Range


@dataclass(frozen=True)
class Axis:
    """An axis of `length` indices over `parts` parts.

    With `bounds`, part i owns indices bounds[i] to bounds[i + 1]. Else blocks of `block` indices are dealt to the
    parts in turn. With `has_copies` each part has all indices.
    """

    length: int
    parts: int
    bounds: tuple[int, ...] | None = None
    block: int = 1
    has_copies: bool = False

    @property
    def is_contiguous(self) -> bool:
        """True if each part owns one range of indices."""
        return self.bounds is not None or self.has_copies

    @property
    def kind(self) -> str:
        """The distribution in one word, as in `repr`."""
        if self.parts == 1:
            return "whole"
        if self.has_copies:
            return "replicated"
        if self.bounds is not None:
            return "block" if self.bounds == block(self.length, self.parts).bounds else "irregular"
        return "cyclic" if self.block == 1 else f"cyclic({self.block})"

    @property
    def text(self) -> str:
        """The distribution with the bounds of irregular parts."""
        return str(list(self.bounds)) if self.bounds is not None and self.kind == "irregular" else self.kind

    def owner(self, index: Any) -> Any:
        """Return the part that owns an index, or those of an array of indices; of copies the first."""
        if self.has_copies:
            return index * 0
        if self.bounds is not None:
            return np.searchsorted(np.asarray(self.bounds[1:]), index, side="right")
        return index // self.block % self.parts

    def local(self, index: Any) -> Any:
        """Return an index's position in its part, or those of an array of indices."""
        if self.has_copies:
            return index
        if self.bounds is not None:
            return index - np.asarray(self.bounds)[self.owner(index)]
        return index // (self.block * self.parts) * self.block + index % self.block

    def global_of(self, part: int, local: Any) -> Any:
        """Return the index at a position in a part, or those of an array of positions: the inverse of `local`."""
        if self.is_contiguous:
            return self.ends(part)[0] + local
        return (local // self.block * self.parts + part) * self.block + local % self.block

    def ends(self, part: int) -> tuple[int, int]:
        """Return where the range of a part starts and stops, of an axis that is not cyclic."""
        if self.has_copies:
            return 0, self.length
        assert self.bounds is not None
        return self.bounds[part], self.bounds[part + 1]

    def extent(self, part: int) -> int:
        """Return the number of indices of a part."""
        if self.has_copies:
            return self.length
        if self.bounds is not None:
            return self.bounds[part + 1] - self.bounds[part]
        full, rest = divmod(self.length, self.block * self.parts)
        return full * self.block + min(max(rest - part * self.block, 0), self.block)

    def largest(self) -> int:
        """Return the largest extent of a part."""
        return max(self.extent(part) for part in range(self.parts))

    def indices(self, part: int) -> Indices:
        """Return the global indices of a part, in ascending order."""
        return np.asarray(self.global_of(part, np.arange(self.extent(part))))

    def _blocks(self, part: int, wanted: Range) -> Iterator[tuple[Range, int]]:
        """Yield the blocks of a part between the ends of a range, each with its position in the part."""
        starts = range(part * self.block, self.length, self.block * self.parts)
        last = wanted.start + (wanted.count - 1) * wanted.step
        first = max(0, (wanted.start - starts.start - self.block) // starts.step + 1)
        end = min(len(starts), (last - starts.start) // starts.step + 1)
        for number in range(first, end):
            start = starts[number]
            yield Range(start, min(self.block, self.length - start)), number * self.block

    def owned(self, part: int) -> list[Segment]:
        """Return the ranges of a part: `place` has the global indices. Copies share them evenly."""
        if self.has_copies:
            first, end = block(self.length, self.parts).ends(part)
            own = Range(first, end - first)
            return [Segment(own, own)] if own.count else []
        if self.bounds is None and self.block == 1:
            count = self.extent(part)
            return [Segment(Range(0, count), Range(part, count, self.parts))] if count else []
        whole = Range(0, self.length)
        return self.segments(part, whole)

    def segments(self, part: int, wanted: Range) -> list[Segment]:
        """Return a part's share of a range of global indices."""
        if self.is_contiguous:
            first, end = self.ends(part)
            if end <= wanted.start or first >= wanted.start + wanted.count * wanted.step:
                return []
            run = Range(first, end - first)
            found = [_common(run, 0, wanted)]
        elif self.block == 1:
            found = [self._dealt(part, wanted)]
        else:
            found = [_common(run, local, wanted) for run, local in self._blocks(part, wanted)]
        return [segment for segment in found if segment is not None]

    def _dealt(self, part: int, wanted: Range) -> Segment | None:
        """Return the share of a range where single indices are dealt in turn."""
        common = math.gcd(wanted.step, self.parts)
        distance = part - wanted.start
        if distance % common:
            return None
        every = self.parts // common
        first = distance // common * pow(wanted.step // common, -1, every) % every if every > 1 else 0
        count = len(range(first, wanted.count, every))
        if not count:
            return None
        local = (wanted.start + first * wanted.step) // self.parts
        return Segment(Range(local, count, wanted.step // common), Range(first, count, every))


def _common(run: Range, local: int, wanted: Range) -> Segment | None:
    """Return the indices of `wanted` in a run of consecutive ones that starts at position `local` of its part."""
    first = max(0, -(-(run.start - wanted.start) // wanted.step))
    stop = min(wanted.count, -(-(run.start + run.count - wanted.start) // wanted.step))
    if first >= stop:
        return None
    at = local + wanted.start + first * wanted.step - run.start
    return Segment(Range(at, stop - first, wanted.step), Range(first, stop - first))


def block(length: int, parts: int) -> Axis:
    """Return an axis of `parts` blocks. Sizes differ by at most one index; larger blocks come first."""
    size, rest = divmod(length, parts)
    return Axis(length, parts, tuple(part * size + min(part, rest) for part in range(parts + 1)))


def replicated(length: int, parts: int) -> Axis:
    """Return an axis of which each part has all indices."""
    return Axis(length, parts, has_copies=True) if parts > 1 else block(length, parts)


def irregular(length: int, bounds: Sequence[int]) -> Axis:
    """Return an axis whose part i owns indices bounds[i] to bounds[i + 1].

    Raises
    ------
    ValueError
        If the bounds do not ascend from 0 to the length.
    """
    given = tuple(int(bound) for bound in bounds)
    if (
        len(given) < 2
        or given[0] != 0
        or given[-1] != length
        or any(a > b for a, b in itertools.pairwise(given))
    ):
        raise ValueError(f"bounds {given} do not ascend from 0 to {length}, the length of the axis.")
    return Axis(length, len(given) - 1, given)


def cyclic(length: int, parts: int, size: int = 1) -> Axis:
    """Return an axis whose blocks of `size` indices are dealt to the parts in turn.

    Raises
    ------
    ValueError
        If `size` is not positive.
    """
    if size < 1:
        raise ValueError(f"cyclic({size}): the size of a block must be 1 or more.")
    return Axis(length, parts, None, size)
