"""Indices along an axis, in pieces: ranges if possible, else arrays. A PE makes those of its own part."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Piece = range | Array  # indices that follow each other in a result
FEW = 64  # with more pieces than this one array of indices is faster


class Along(NamedTuple):
    """Indices along an axis.

    Parameters
    ----------
    length
        Their number.
    cut
        A function that returns those from one place to another one, as pieces.
    """

    length: int
    cut: Callable[[int, int], list[Piece]]


def all_of(n: int) -> Along:
    """Return all indices of an axis."""
    return given(range(n))


def given(indices: Piece) -> Along:
    """Return indices that the caller has."""
    return Along(len(indices), lambda start, stop: [indices[start:stop]])


def joined(parts: Sequence[Along]) -> Along:
    """Return indices one after the other."""
    parts = [each for each in parts if each.length]
    ends = list(itertools.accumulate(each.length for each in parts))

    def cut(start: int, stop: int) -> list[Piece]:
        found: list[Piece] = []
        for number in range(bisect.bisect_right(ends, start), len(parts)):
            before = ends[number] - parts[number].length
            if before >= stop:
                break
            found += parts[number].cut(max(start - before, 0), min(stop, ends[number]) - before)
        return found

    return Along(ends[-1] if ends else 0, cut)


def tiled(n: int, times: int) -> Along:
    """Return all indices of an axis several times."""

    def cut(start: int, stop: int) -> list[Piece]:
        if stop - start > FEW * n:
            return [np.arange(start, stop) % n]
        return [
            range(max(start - first, 0), min(stop - first, n))
            for first in range(start - start % n if n else 0, stop, n or 1)
        ]

    return Along(n * times, cut)


def repeated(n: int, times: int) -> Along:
    """Return each index of an axis several times."""

    def cut(start: int, stop: int) -> list[Piece]:
        found = np.arange(start, stop)
        found //= times
        return [found]

    return Along(n * times, cut)


def without(n: int, deleted: Any) -> Along:
    """Return all indices of an axis except some: an integer, several, a slice or a mask, as for `numpy.delete`.

    For a mask, a slice with a step, or more than 64 integers, it makes an array of all that are left.

    Raises
    ------
    IndexError
        If one is out of range.
    """
    if isinstance(deleted, slice):
        its = range(n)[deleted]
        if abs(its.step) == 1 and its:
            low, high = min(its), max(its) + 1
            return joined([given(range(low)), given(range(high, n))])
    numbers = None if isinstance(deleted, slice) else np.asarray(deleted)
    if numbers is None or numbers.dtype.kind not in "iu" or numbers.size > FEW:
        return given(np.delete(np.arange(n), deleted))
    np.empty((n, 0))[numbers]  # NumPy's error, if one is out of range
    cuts = sorted({int(each) % n for each in numbers.flat})
    return joined([given(range(before + 1, after)) for before, after in itertools.pairwise([-1, *cuts, n])])


def padded(n: int, before: int, after: int, mode: str) -> Along:
    """Return the indices of an axis with more at its ends, as `numpy.pad` by a mode takes them from the axis."""
    return joined([_outside(n, -before, before, mode), all_of(n), _outside(n, n, after, mode)])


def _outside(n: int, first: int, length: int, mode: str) -> Along:
    """Return the indices of elements that a mode puts outside of an axis, from `first` on."""

    def cut(start: int, stop: int) -> list[Piece]:
        if mode == "edge":
            return [np.broadcast_to(np.int64(0 if first < 0 else n - 1), stop - start)]
        places = np.arange(first + start, first + stop)
        if mode == "wrap":
            return [places % n]
        # Symmetric repeats the element at the end, reflect does not.
        period = 2 * n if mode == "symmetric" else max(2 * (n - 1), 1)
        places %= period
        mirrored = np.minimum(places, period - places - (mode == "symmetric"))
        return [mirrored if n > 1 else np.zeros_like(places)]

    return Along(length, cut)
