"""Sorting: each PE sorts its part, splitters divide the values, each PE sorts what it gets (sample sort)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _axis, _libraries
from .._compared import collective
from .._grids import whole_along
from .._layout import Layout
from .._teams import _current
from .._teams._exchange import gathered as gathered_objects
from ._moves import gathered, reshape

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
SAMPLES = 32  # samples per PE for each splitter


@collective(on_gpus=True)
def sort(a: DistArray, axis: int | None = -1) -> DistArray:
    """Return a sorted copy in the same distribution. Collective.

    Beside the result there are up to three temporary parts. Values that are equal are shared by the PEs.
    """
    from .._array import DistArray

    if axis is None:
        return sort(reshape(a, -1), 0)
    if a.dtype.kind in "mM":
        times: DistArray = (sort(_numbers_of_times(a), axis) + 1).astype(a.dtype)
        return times
    number = a._layout.axis_number(axis)
    its = _require_order("sort", a)
    if a.ndim > 1 or a._layout.axes[0].parts == 1:
        return _along(a, number, its.sorted, a.dtype)
    values = its.sorted(a.local, 0)
    splitters = _splitters(values)
    made = dealt([values], _cuts(values, splitters))[0]
    its.merge(made.local, _current.n_pes())
    return DistArray._moved(made._layout, made.local, a._layout.without_halo())


def _numbers_of_times(a: DistArray) -> DistArray:
    """Return times as numbers of their order. NaT, the least one, becomes the largest, since NumPy sorts it last."""
    found: DistArray = a.astype(np.int64) - 1
    return found


@collective(on_gpus=True)
def argsort(a: DistArray, axis: int | None = -1) -> DistArray:
    """Return the indices that sort an array along an axis, in the same distribution. Collective.

    Equal elements keep their order, as with NumPy's kind="stable".
    """
    from .._array import DistArray

    if axis is None:
        return argsort(reshape(a, -1), 0)
    if a.dtype.kind in "mM":
        return argsort(_numbers_of_times(a), axis)
    number = a._layout.axis_number(axis)
    its = _require_order("argsort", a)
    if a.ndim > 1 or a._layout.axes[0].parts == 1:
        function = its.stable_order if a.ndim > 1 else lambda part, _: _stable_order(its, part)
        return _along(a, number, function, np.dtype(np.int64))
    order = _stable_order(its, a.local)
    values, indices = a.local[order], its.array(a.global_indices(0))[order]
    cuts = _cuts_by_index(values, indices, _splitters(values, indices))
    found, where = dealt([values, indices], cuts)
    # Equal values lie in the order of their indices, if each PE has a range of them.
    first, second = found.local, where.local
    if not a._layout.axes[0].is_contiguous:
        by_index = its.stable_order(second, 0)
        first, second = first[by_index], second[by_index]
    again = its.stable_order(first, 0)
    return DistArray._moved(where._layout, second[again], a._layout.without_halo())


def require_kind(kind: Any) -> None:
    """Raise ValueError if NumPy has no such kind of sort. The result does not depend on the kind."""
    if kind is not None and kind not in ("quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(f"sort(kind={kind!r}): expected 'quicksort', 'mergesort', 'heapsort' or 'stable'.")


@collective(on_gpus=True)
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
    its = _require_order("unique", a)
    values, counts = its.counted(a.local.reshape(-1), None, equal_nan)
    splitters = _splitters(values)
    cuts = its.search(values, splitters, "right")
    found, how_often = dealt([values, counts], cuts)
    values, counts = its.counted(found.local, how_often.local, equal_nan)
    return (gathered(values), gathered(counts)) if return_counts else gathered(values)


@collective(on_gpus=True)
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
    if a.dtype.kind not in "biuf":
        raise atoll.DtypeMismatch(f"histogram: elements of {a.dtype}; expected real numbers.")
    local, dtype = a.local, a.dtype
    if dtype == np.bool_:
        local, dtype = a._library.as_bytes(local), np.dtype(np.uint8)
    if np.ndim(bins) == 0 and range is None and a.size:
        range = (dtype.type(a.min()), dtype.type(a.max()))
    edges = np.histogram_bin_edges(np.empty(0, dtype), bins, range)
    counted = a._library.histogram(local.reshape(-1), bins if np.ndim(bins) == 0 else edges, edges, range)
    counts = atoll.sum_reduce(counted.astype(np.int64), team=_current.team())
    return (counts / np.diff(edges) / counts.sum() if density else counts), edges


@collective(on_gpus=True)
def bincount(a: DistArray, minlength: int = 0) -> Array:
    """Return how often each number from 0 on occurs, as a NumPy array on every PE. Collective."""
    if a.dtype.kind not in "biu" or a.ndim != 1:
        raise TypeError(f"bincount: shape {a.shape} and dtype {a.dtype}; expected one axis of integers.")
    length = max(minlength, int(a.max()) + 1 if a.size else 0)
    if a.size and a.min() < 0:
        raise ValueError("bincount: an element is negative.")
    found: Array = (
        atoll.sum_reduce(a._library.bincount(a.local, length), team=_current.team())
        if length
        else np.zeros(0, np.int64)
    )
    return found


def _require_order(name: str, a: DistArray) -> _libraries.Library:
    """Return the library of an array that it sorts, or raise."""
    if a.dtype.kind not in "biufc" or a.dtype.hasobject:
        raise TypeError(f"{name}: elements of {a.dtype}; expected numbers.")
    a._library.require_order(name, a.dtype)
    return a._library


def _stable_order(its: _libraries.Library, part: Array) -> Any:
    """Return the indices that sort a vector, equal ones in their order."""
    return _stable_of_random(part) if its is _libraries.HOST else its.stable_order(part, 0)


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
        return np.asarray(_libraries.HOST.stable_order(values, 0))
    if len(ties):
        # The first of equal values has its successor in `ties`, but not itself.
        members = np.union1d(ties, ties - 1)
        run = np.cumsum(~is_as_before)[members]
        chosen = order[members]
        order[members] = chosen[np.lexsort((chosen, run))]
    return order


def _along(a: DistArray, axis: int, function: Any, dtype: np.dtype[Any]) -> DistArray:
    """Return a function along an axis, for which that axis is made whole."""
    from .._array import DistArray

    bare = a._layout.without_halo()
    its = whole_along(a._layout, axis) if a.ndim > 1 else bare
    if its.same_distribution(bare):
        return DistArray._from_part(its, a._library.cast(function(a.local, axis), dtype))
    part = DistArray._moved(a._layout, a.local, its).local
    return DistArray._moved(its, a._library.cast(function(part, axis), dtype), bare)


def _splitters(values: Array, indices: Array | None = None) -> Any:
    """Return n_pes - 1 values, or pairs of value and index, that divide all sorted values evenly."""
    n, its = _current.n_pes(), _current.library()
    chosen = np.linspace(0, len(values) - 1, min(len(values), SAMPLES * n)).astype(np.int64)
    columns = [values, *([] if indices is None else [indices])]
    parts = [its.to_numpy(column[its.array(chosen)]) for column in columns]
    # A PE with more elements has more weight.
    gathered_ = gathered_objects((parts, len(values)))
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
    its = _current.library()
    low, high = its.search(values, splitters, "left"), its.search(values, splitters, "right")
    _, first, which, count = np.unique(low, return_index=True, return_inverse=True, return_counts=True)
    turn = np.arange(len(splitters)) - first[which] + 1
    found: Array = low + (high - low) * turn // (count[which] + 1)
    return found


def _cuts_by_index(values: Array, indices: Array, splitters: Sequence[Array]) -> Array:
    """Return where each PE's share of sorted values ends; equal values are divided by their indices."""
    its = _current.library()
    low, high = (its.search(values, splitters[0], side) for side in ("left", "right"))
    return np.array(
        [a + its.search(indices[a:b], i, "right") for a, b, i in zip(low, high, splitters[1], strict=True)],
        np.int64,
    )


def dealt(columns: Sequence[Array], cuts: Array) -> list[DistArray]:
    """Return arrays of one axis, of which PE p gets from every PE the share between cuts p - 1 and p. Collective."""
    from .._array import DistArray

    n, total = _current.n_pes(), len(columns[0])
    ends = np.concatenate([[0], cuts, [total]]) if len(cuts) == n - 1 else np.array([0, *[total] * n])
    counts = np.asarray(atoll.fcollect(np.diff(ends).astype(np.int64), team=_current.team())).reshape(
        n, n
    )  # from, to
    bounds = [0, *itertools.accumulate(int(m) for m in counts.sum(axis=0))]
    its = Layout.bare(_axis.irregular(bounds[-1], bounds))
    where = _current.library()
    made = [DistArray._of(its, where.dtype(column), zero=False) for column in columns]
    me = _current.my_pe()
    for pe in range(n):
        start = bounds[pe] + int(counts[:me, pe].sum())
        share = slice(int(ends[pe]), int(ends[pe + 1]))
        if share.start < share.stop:
            for target, column in zip(made, columns, strict=True):
                target[start : start + share.stop - share.start] = column[share]
    _current.barrier()
    return made
