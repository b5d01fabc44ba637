"""Indices along an axis of which a PE makes those of its part alone: ranges where that is possible, else arrays."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Piece = range | Array  # indices that follow each other in a result
FEW = 64  # pieces of an axis, from which on one array of indices is better


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
    """Return indices that exist."""
    return Along(len(indices), lambda start, stop: [indices[start:stop]])


def joined(pieces: Sequence[Piece]) -> Along:
    """Return pieces one after the other."""
    ends = list(itertools.accumulate(map(len, pieces)))

    def cut(start: int, stop: int) -> list[Piece]:
        found = []
        for number in range(bisect.bisect_right(ends, start), len(pieces)):
            before = ends[number] - len(pieces[number])
            if before >= stop:
                break
            found.append(pieces[number][max(start - before, 0) : stop - before])
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
    """Return the indices of an axis but some: an integer, several, a slice or a mask, as for `numpy.delete`.

    Raises
    ------
    IndexError
        If one is out of range.
    """
    if isinstance(deleted, slice):
        its = range(n)[deleted]
        if abs(its.step) == 1 and its:
            low, high = min(its), max(its) + 1
            return joined([range(low), range(high, n)])
    numbers = None if isinstance(deleted, slice) else np.asarray(deleted)
    if numbers is None or numbers.dtype.kind not in "iu" or numbers.size > FEW:
        return given(np.delete(np.arange(n), deleted))
    np.empty((n, 0))[numbers]  # NumPy's error, if one is out of range
    cuts = sorted({int(each) % n for each in numbers.flat})
    return joined([range(before + 1, after) for before, after in itertools.pairwise([-1, *cuts, n])])


def padded(n: int, before: int, after: int, mode: str) -> Along:
    """Return the indices of an axis with more at its ends, as `numpy.pad` by a mode takes them from the axis."""
    return joined([_outside(n, -before, 0, mode), range(n), _outside(n, n, n + after, mode)])


def _outside(n: int, start: int, stop: int, mode: str) -> Array:
    """Return the indices from which a mode takes those outside of an axis."""
    if mode == "edge":
        return np.broadcast_to(np.int64(0 if start < 0 else n - 1), max(stop - start, 0))
    places = np.arange(start, stop)
    if mode == "wrap":
        return places % n
    if mode == "symmetric":
        places %= 2 * n
        return np.minimum(places, 2 * n - 1 - places)
    period = max(2 * (n - 1), 1)  # reflect: without the element at the end
    places %= period
    return np.minimum(places, period - places) if n > 1 else np.zeros_like(places)
