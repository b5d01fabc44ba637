"""Sorting: each PE sorts its part, splitters divide the values, each PE sorts what it gets (sample sort)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from . import _axis
from ._compared import collective
from ._grids import whole_along
from ._layout import Layout
from ._moves import gathered, reshape
from ._teams import _current

if TYPE_CHECKING:
    from ._array import DistArray

Array = np.ndarray[Any, Any]
SAMPLES = 32  # of each PE for each splitter
MERGED = 4  # runs that "stable", which finds them, merges faster than a new sort takes


@collective()
def sort(a: DistArray, axis: int | None = -1) -> DistArray:
    """Return a sorted copy in the same distribution. Collective.

    Beside the result there are up to three temporary parts. Values that are equal are shared by the PEs.
    """
    from ._array import DistArray

    if axis is None:
        return sort(reshape(a, -1), 0)
    number = a._layout.axis_number(axis)
    _require_order("sort", a)
    if a.ndim > 1 or a._layout.axes[0].parts == 1:
        return _along(a, number, np.sort, a.dtype)
    values = np.sort(a.local)
    splitters = _splitters(values)
    made = dealt([values], _cuts(values, splitters))[0]
    # Merging is faster than sorting, up to some runs.
    made.local.sort(kind="stable" if _current.n_pes() <= MERGED else None)
    return DistArray._moved(made._layout, made.local, a._layout.without_halo())


@collective()
def argsort(a: DistArray, axis: int | None = -1) -> DistArray:
    """Return the indices that sort an array along an axis, in the same distribution. Collective.

    Equal elements keep their order, as with NumPy's kind="stable".
    """
    from ._array import DistArray

    if axis is None:
        return argsort(reshape(a, -1), 0)
    number = a._layout.axis_number(axis)
    _require_order("argsort", a)
    if a.ndim > 1 or a._layout.axes[0].parts == 1:
        function = _stable if a.ndim > 1 else lambda part, _: _stable_of_random(part)
        return _along(a, number, function, np.dtype(np.int64))
    order = _stable_of_random(a.local)
    values, indices = a.local[order], a.global_indices(0)[order]
    cuts = _cuts_by_index(values, indices, _splitters(values, indices))
    found, where = dealt([values, indices], cuts)
    # Equal values lie in the order of their indices, if each PE has a range of them.
    is_range = a._layout.axes[0].is_contiguous
    again = _stable(found.local, 0) if is_range else np.lexsort((where.local, found.local))
    return DistArray._moved(where._layout, where.local[again], a._layout.without_halo())


@collective()
def unique(a: DistArray, *, return_counts: bool = False, equal_nan: bool = True) -> Any:
    """Return the sorted values that occur, in blocks; and how often each occurs, if asked. Collective.

    Parameters
    ----------
    a
        The array.
    return_counts
        Return how often each value occurs, too.
    equal_nan
        All NaN are one value. Else each is one of its own.
    """
    _require_order("unique", a)
    values, counts = np.unique(a.local, return_counts=True, equal_nan=equal_nan)
    splitters = _splitters(values)
    cuts = np.searchsorted(values, splitters, "right")
    found, how_often = dealt([values, counts], cuts)
    values, place = np.unique(found.local, return_inverse=True, equal_nan=equal_nan)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, place, how_often.local)
    return (gathered(values), gathered(counts)) if return_counts else gathered(values)


@collective()
def histogram(
    a: DistArray,
    bins: int | Sequence[Any] | Array = 10,
    range: tuple[Any, Any] | None = None,
    density: bool = False,
) -> tuple[Array, Array]:
    """Return how many elements lie in each bin, and the edges of the bins; the same on every PE. Collective.

    Parameters
    ----------
    a
        The array.
    bins
        A number of bins, or their edges, the same on every PE.
    range
        The first and the last edge; by default the smallest and the largest element.
    density
        Divide by the number of elements and the width of the bin.
    """
    if isinstance(bins, str):
        raise TypeError(
            f"histogram(bins={bins!r}) of a distributed array: expected a number of bins, or their edges."
        )
    if np.ndim(bins) == 0 and range is None and a.size:
        range = (a.min(), a.max())
    edges = np.histogram_bin_edges(np.empty(0, a.dtype), bins, range)
    local = a.local.reshape(-1)
    counts = atoll.sum_reduce(
        np.histogram(local, bins if np.ndim(bins) == 0 else edges, range)[0].astype(np.int64),
        team=_current.team(),
    )
    return (counts / np.diff(edges) / counts.sum() if density else counts), edges


@collective()
def bincount(a: DistArray, weights: None = None, minlength: int = 0) -> Array:
    """Return how often each number from 0 on occurs, as a NumPy array on every PE. Collective."""
    if weights is not None:
        raise TypeError(
            "bincount of a distributed array takes no weights; add them to a distributed array of the counts' length by "
            "counts.at[a.local].add(weights), then atoll.barrier_all()."
        )
    if a.dtype.kind not in "biu" or a.ndim != 1:
        raise TypeError(f"bincount: shape {a.shape} and dtype {a.dtype}; expected one axis of integers.")
    length = max(minlength, int(a.max()) + 1 if a.size else 0)
    if a.size and a.min() < 0:
        raise ValueError("bincount: an element is negative.")
    found: Array = (
        atoll.sum_reduce(np.bincount(a.local, minlength=length).astype(np.int64), team=_current.team())
        if length
        else np.zeros(0, np.int64)
    )
    return found


def _require_order(name: str, a: DistArray) -> None:
    if a.dtype.kind not in "biufc" or a.dtype.hasobject:
        raise TypeError(f"{name}: elements of {a.dtype}; expected numbers.")


def _stable(part: Array, axis: int) -> Array:
    return np.argsort(part, axis=axis, kind="stable")


def _stable_of_random(values: Array) -> Array:
    """Return the indices that sort values, equal ones in their order; fast if few are equal.

    NumPy's sort that is not stable is several times faster, so that mending the order of equal values costs less.
    """
    order = np.argsort(values)
    ordered = values[order]
    later, earlier = ordered[1:], ordered[:-1]
    is_as_before = np.concatenate([[False], (later == earlier) | ((later != later) & (earlier != earlier))])
    ties = np.flatnonzero(is_as_before)
    if 8 * len(ties) > len(values):
        return _stable(values, 0)
    if len(ties):
        # The first of equal values has its successor in `ties`, but not itself.
        members = np.union1d(ties, ties - 1)
        run = np.cumsum(~is_as_before)[members]
        chosen = order[members]
        order[members] = chosen[np.lexsort((chosen, run))]
    return order


def _along(a: DistArray, axis: int, function: Any, dtype: np.dtype[Any]) -> DistArray:
    """Return a function along an axis, for which that axis is made whole."""
    from ._array import DistArray

    bare = a._layout.without_halo()
    its = whole_along(a._layout, axis) if a.ndim > 1 else bare
    if its.same_distribution(bare):
        return DistArray._from_part(its, function(a.local, axis).astype(dtype, copy=False))
    part = DistArray._moved(a._layout, a.local, its).local
    return DistArray._moved(its, function(part, axis).astype(dtype, copy=False), bare)


def _splitters(values: Array, indices: Array | None = None) -> Any:
    """Return n_pes - 1 values, or pairs of value and index, that divide all sorted values evenly."""
    n = _current.n_pes()
    chosen = np.linspace(0, len(values) - 1, min(len(values), SAMPLES * n)).astype(np.int64)
    parts = [values[chosen], *([] if indices is None else [indices[chosen]])]
    # A PE with more elements has more weight.
    gathered_ = atoll.allgather_object((parts, len(values)), team=_current.team())
    sampled = [np.concatenate([each[0][i] for each in gathered_]) for i in range(len(parts))]
    weights = np.concatenate(
        [np.full(len(each[0][0]), each[1] / max(len(each[0][0]), 1)) for each in gathered_]
    )
    if not len(weights):
        return [part[:0] for part in sampled] if indices is not None else sampled[0]
    order = np.lexsort(sampled[::-1])
    heights = np.cumsum(weights[order])
    at = np.searchsorted(heights, heights[-1] * np.arange(1, n) / n)
    found = [part[order][np.minimum(at, len(order) - 1)] for part in sampled]
    return found if indices is not None else found[0]


def _cuts(values: Array, splitters: Array) -> Array:
    """Return where each PE's share of sorted values ends; values equal to several splitters are shared evenly."""
    low, high = np.searchsorted(values, splitters, "left"), np.searchsorted(values, splitters, "right")
    _, first, which, count = np.unique(low, return_index=True, return_inverse=True, return_counts=True)
    turn = np.arange(len(splitters)) - first[which] + 1
    return low + (high - low) * turn // (count[which] + 1)


def _cuts_by_index(values: Array, indices: Array, splitters: Sequence[Array]) -> Array:
    """Return where each PE's share of sorted values ends; equal values are divided by their indices."""
    low, high = np.searchsorted(values, splitters[0], "left"), np.searchsorted(values, splitters[0], "right")
    return np.array(
        [
            a + np.searchsorted(indices[a:b], i, "right")
            for a, b, i in zip(low, high, splitters[1], strict=True)
        ],
        np.int64,
    )


def dealt(columns: Sequence[Array], cuts: Array) -> list[DistArray]:
    """Return arrays of one axis, of which PE p gets from every PE the share between cuts p - 1 and p. Collective."""
    from ._array import DistArray

    n, total = _current.n_pes(), len(columns[0])
    ends = np.concatenate([[0], cuts, [total]]) if len(cuts) == n - 1 else np.array([0, *[total] * n])
    counts = np.asarray(atoll.fcollect(np.diff(ends).astype(np.int64), team=_current.team())).reshape(
        n, n
    )  # from, to
    bounds = [0, *itertools.accumulate(int(m) for m in counts.sum(axis=0))]
    its = Layout.bare(_axis.irregular(bounds[-1], bounds))
    made = [DistArray._of(its, column.dtype, zero=False) for column in columns]
    me = _current.my_pe()
    for pe in range(n):
        start = bounds[pe] + int(counts[:me, pe].sum())
        share = slice(int(ends[pe]), int(ends[pe + 1]))
        if share.start < share.stop:
            for target, column in zip(made, columns, strict=True):
                target[start : start + share.stop - share.start] = column[share]
    _current.barrier()
    return made
