"""Functions of NumPy that are a few other ones: sets of values, convolution, cross products, cuts, histograms of pairs."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from .._compared import collective
from .._teams import _current
from .._together import before_barrier, together
from . import _along, _indexed, _matrices, _moves, _picking, _sorting, _statistics
from ._combined import summed

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def _values(given: Any) -> DistArray:
    """Return the different values of an array, sorted, in blocks. Collective."""
    (made,) = _matrices.distributed([given])
    found: DistArray = _sorting.unique(made)
    return found


@collective()
def union1d(ar1: Any, ar2: Any) -> DistArray:
    """Return the different values of two arrays, sorted, in blocks. Collective."""
    return _values(_moves.concatenate(_matrices.distributed([ar1, ar2]), None))


@collective()
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> DistArray:
    """Return the values that are in both arrays, sorted, in blocks. Collective; each PE reads the values of `ar2`."""
    found = _kept(_values(ar1), ar2, invert=False)
    dtype = np.result_type(found.dtype, ar2.dtype if hasattr(ar2, "dtype") else np.asarray(ar2).dtype)
    return found if found.dtype == dtype else found.astype(dtype)


@collective()
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> DistArray:
    """Return the values of `ar1` that are not in `ar2`, sorted, in blocks. Collective; each PE reads those of `ar2`."""
    return _kept(_values(ar1), ar2, invert=True)


@collective()
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> DistArray:
    """Return the values that are in one of the arrays alone, sorted, in blocks. Collective."""
    one, two = _values(ar1), _values(ar2)
    return _values(_moves.concatenate([_kept(one, two, invert=True), _kept(two, one, invert=True)]))


def _kept(values: DistArray, others: Any, invert: bool) -> DistArray:
    return _moves.select(values, _statistics.isin(values, others, invert=invert))


def partition(a: DistArray, kth: Any, axis: int | None = -1) -> DistArray:
    """Return the elements sorted along an axis, which puts each of the kth in its place. Collective."""
    _require_places("partition", a, kth, axis)
    return _sorting.sort(a, axis)


def argpartition(a: DistArray, kth: Any, axis: int | None = -1) -> DistArray:
    """Return the indices that sort the elements, of which those of `partition` are one case. Collective."""
    _require_places("argpartition", a, kth, axis)
    return _sorting.argsort(a, axis)


def _require_places(name: str, a: DistArray, kth: Any, axis: int | None) -> None:
    n = a.size if axis is None else a.shape[a._layout.axis_number(axis)]
    for each in np.ravel(kth).tolist():
        if not -n <= operator.index(each) < n:
            raise ValueError(f"{name}: kth={each} for {n} elements; expected {-n} to {n - 1}.")


@collective()
def convolve(a: Any, v: Any, mode: str = "full") -> DistArray:
    """Return the convolution of two vectors in blocks. Collective; each PE reads the shorter vector, and its part of the other.

    Parameters
    ----------
    a, v
        Vectors, of which one or both are distributed.
    mode
        "full", "same" or "valid", as NumPy's.

    Raises
    ------
    ValueError
        If a vector is empty, or the mode is another word.
    """
    if np.ndim(a) != 1 or np.ndim(v) != 1:
        raise ValueError(f"convolve: shapes {np.shape(a)} and {np.shape(v)}; expected two vectors.")
    long, short = (a, v) if len(a) >= len(v) else (v, a)
    n, m = len(long), len(short)
    if not m:
        raise ValueError("convolve: a vector is empty.")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve: mode={mode!r}; expected 'full', 'same' or 'valid'.")
    first, length = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
    (its,) = _matrices.distributed([long])
    other = np.asarray(_matrices.whole(short))
    made = type(its)(length, np.result_type(its.dtype, other.dtype))
    _current.barrier()
    start, stop = made.bounds()[0]
    with before_barrier():
        if start < stop:  # element i is made of those from i - m + 1 to i
            low, high = start + first - m + 1, stop + first
            own = np.asarray(its.get(slice(max(low, 0), min(high, n))))
            # The full convolution, of which the PE keeps its part. Padding by zeros would spread a NaN of `other`.
            begin = start + first - max(low, 0)
            made.local[...] = np.convolve(own, other)[begin : begin + stop - start]
    return made


@collective()
def cross(a: Any, b: Any, axis: int = -1) -> DistArray:
    """Return the cross products of vectors of 3 numbers along an axis. Collective; that axis becomes whole.

    Raises
    ------
    ShapeMismatch
        If the shapes differ, or the vectors have another length.
    """
    x, y = _matrices.distributed([a, b])
    if x.shape != y.shape or not x.ndim or x.shape[x._layout.axis_number(axis)] != 3:
        raise atoll.ShapeMismatch(
            f"cross: shapes {x.shape} and {y.shape}; expected equal ones with 3 along axis {axis}."
        )
    number = x._layout.axis_number(axis)
    x = _moves.whole_along(x, number)
    y = y if y._layout.same_distribution(x._layout) else y.redistribute(like=x)
    with together("numpy.cross"):
        part = np.cross(x.local, y.local, axis=number)
    return type(x)._from_part(x._layout.without_halo(), part)


@collective(on_gpus=True)
def polyval(p: Any, x: DistArray) -> DistArray:
    """Return the values of a polynomial, highest power first. Collective; coefficients are the same on every PE."""
    if hasattr(p, "to_numpy"):
        raise TypeError("polyval: the coefficients are distributed; pass p.to_numpy().")
    coefficients = np.asarray(p)
    if coefficients.ndim > 1:  # each of them broadcasts to x
        found: Any = np.zeros_like(x)
        for each in coefficients:
            found = found * x + each
        return cast("DistArray", found)
    made = type(x)._of(x._layout, np.result_type(x.dtype, *coefficients[:1]))
    its, part = made._library, made.local
    with before_barrier():
        for each in coefficients:
            its.apply(np.multiply, [part, x.local], (part,), {})
            its.apply(np.add, [part, each.item()], (part,), {})
    return made


def rot90(m: DistArray, k: int = 1, axes: Sequence[int] = (0, 1)) -> DistArray:
    """Return the array turned by 90 degrees k times, from the first of two axes to the second. Collective."""
    one, two = (m._layout.axis_number(each) for each in axes)
    if one == two:
        raise ValueError(f"rot90: axes {tuple(axes)}; expected two different ones.")
    turns = k % 4
    if turns == 0:
        return m.copy()
    if turns == 2:
        return _moves.flip(m, (one, two))
    order = list(range(m.ndim))
    order[one], order[two] = two, one
    return (
        _moves.transpose(_moves.flip(m, two), order)
        if turns == 1
        else _moves.flip(_moves.transpose(m, order), two)
    )


def ediff1d(ary: DistArray, to_end: Any = None, to_begin: Any = None) -> DistArray:
    """Return the differences of consecutive elements in C order. Collective."""
    inner = _picking.diff(ary.reshape(-1) if ary.ndim != 1 else ary)
    ends = [None if each is None else np.ravel(each).astype(inner.dtype) for each in (to_begin, to_end)]
    every = [each for each in (ends[0], inner, ends[1]) if each is not None]
    return _moves.concatenate(_matrices.distributed(every)) if len(every) > 1 else inner


def compress(condition: Any, a: DistArray, axis: int | None = None) -> DistArray:
    """Return the elements along an axis where a condition is true. Collective; the condition is the same on every PE."""
    is_kept = np.asarray(_matrices.whole(condition), bool)
    if is_kept.ndim != 1:
        raise ValueError(f"compress: a condition of shape {is_kept.shape}; expected one axis.")
    found: DistArray = _picking.take(a, np.flatnonzero(is_kept), axis)
    return found


@collective()
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Sequence[tuple[float, float]] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, list[Array]]:
    """Return how many points lie in each cell, and the edges along each axis, on every PE. Collective.

    Parameters
    ----------
    sample
        Points in rows; or a sequence of vectors of one distribution, one for each axis.
    bins
        As NumPy's: a number, or one for each axis, or the edges.
    range
        The ends of each axis; by default the smallest and largest numbers.
    density
        Return densities whose integral is 1.
    weights
        Not supported.
    """
    if weights is not None:
        raise TypeError(
            "numpy.histogramdd of distributed arrays takes no weights; use a.local for this PE's part."
        )
    points = sample if hasattr(sample, "_layout") else _matrices.column_stack(sample)
    if points.ndim != 2:
        raise ValueError(f"histogramdd: points of shape {points.shape}; expected rows of coordinates.")
    rows = points if points._layout.axes[1].parts == 1 else points.redistribute(("block", "whole"))
    if range is None and rows.size:
        range = list(zip(rows.min(0).tolist(), rows.max(0).tolist(), strict=True))
    with together("numpy.histogramdd"):
        counted, edges = np.histogramdd(rows.local, bins, range)
    counts = summed(counted)
    if density:
        counts = counts / counts.sum()
        for number, each in enumerate(edges):
            counts = counts / np.diff(each).reshape([-1 if i == number else 1 for i, _ in enumerate(edges)])
    return counts, list(edges)


def histogram2d(
    x: DistArray, y: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None
) -> tuple[Array, Array, Array]:
    """Return how many pairs lie in each cell, and the edges along both axes, on every PE. Collective.

    The arguments are those of `histogramdd`.
    """
    if isinstance(bins, (list, tuple, np.ndarray)) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


def kron(a: Any, b: Any) -> DistArray:
    """Return the Kronecker product of two arrays, in blocks. Collective; each PE reads what its block needs of both."""
    x, y = _matrices.distributed([a, b])
    axes = max(x.ndim, y.ndim)
    x, y = (_picking.expand_dims(each, list(range(axes - each.ndim))) for each in (x, y))
    pairs = list(zip(x.shape, y.shape, strict=True))
    outer = _picking.picked(x, [_along.repeated(n, m) for n, m in pairs])
    inner = _picking.picked(y, [_along.tiled(m, n) for n, m in pairs])
    dtype = np.result_type(outer.dtype, inner.dtype)
    out = next((each for each in (outer, inner) if each.dtype == dtype), None)
    found: DistArray = np.multiply(outer, inner, out=cast(Any, out))
    return found


def lexsort(keys: Any, axis: int = -1) -> DistArray:
    """Return the indices that sort by several keys, of which the last counts most. Collective; an `argsort` for each key.

    Parameters
    ----------
    keys
        A tuple of vectors of one length, some distributed; or a distributed matrix, whose rows are keys.
    axis
        0 or -1, the only axis of the keys.

    Returns
    -------
    DistArray
        In the distribution of the first key.

    Raises
    ------
    ShapeMismatch
        If the keys are no vectors of one length.
    """
    every = _matrices.distributed(_picking.unstack(keys) if hasattr(keys, "_layout") else keys)
    if not every or axis not in (0, -1) or any(k.ndim != 1 or k.shape != every[0].shape for k in every):
        raise atoll.ShapeMismatch(
            f"lexsort: keys of shapes {[k.shape for k in every]} along axis {axis}; expected vectors of one length."
        )
    order = _sorting.argsort(every[0], -1)
    for key in every[1:]:
        order = _indexed.elements(order, [_sorting.argsort(_indexed.elements(key, [order]), -1)])
    return order


def broadcast_arrays(*args: Any) -> tuple[DistArray, ...]:
    """Return arrays in the shape to which all broadcast: copies, in blocks. Collective."""
    shape = np.broadcast_shapes(*(np.shape(each) for each in args))
    return tuple(_picking.broadcast_to(each, shape) for each in _matrices.distributed(args))


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> tuple[DistArray, ...]:
    """Return the coordinates of the points of a grid, an array for each axis, in blocks. Collective.

    Parameters
    ----------
    *xi
        Vectors, of which some are distributed.
    sparse
        Return arrays that broadcast to the grid. They have one axis that is longer than 1.
    indexing
        "xy": the first vector goes along the second axis. "ij": along the first one.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing={indexing!r}; expected 'xy' or 'ij'.")
    axes = list(range(len(xi)))
    if indexing == "xy":
        axes[:2] = reversed(axes[:2])
    made = []
    for axis, each in zip(axes, _matrices.distributed(xi), strict=True):
        flat = each if each.ndim == 1 else _moves.reshape(each, (-1,))
        made.append(_picking.expand_dims(flat, [i for i in range(len(xi)) if i != axis]))
    return tuple(made) if sparse else broadcast_arrays(*made)
