"""Statistics and searches: averages, sums without NaN, places in a sorted array, members of a set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

import atoll

from .._compared import collective, require_host
from .._layout import is_one
from .._libraries import on_host
from .._parts import Parts
from .._teams import _current
from . import _binning, _moves, _picking, _sorting
from ._combined import require_numbers, summed, there
from ._moments import are_numbers, sum_of_some, without_nan

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
PANEL = 1 << 21  # elements that a PE reads at a time of an array needed as a whole
CHUNK = 1 << 18  # elements that are looked up at a time


def average(a: DistArray, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """Return means with weights, which broadcast against the array, or go along the one axis. Collective."""
    if weights is None:
        return a.mean(axis, keepdims=keepdims)
    if np.shape(weights) != a.shape:
        if not is_one(axis) or np.shape(weights) != (a.shape[axis],):
            raise atoll.ShapeMismatch(
                f"average: weights of shape {np.shape(weights)} for an array of {a.shape}; expected the same, or one axis."
            )
        weights = np.asarray(weights).reshape([-1 if i == axis % a.ndim else 1 for i in range(a.ndim)])
    its: Any = weights if isinstance(weights, Parts) else np.broadcast_to(np.asarray(weights), a.shape)
    dtype = np.result_type(a.dtype, its.dtype, *([np.float64] if a.dtype.kind in "biu" else []))
    divisor = its.sum(axis=axis, dtype=dtype, keepdims=keepdims)
    if np.any(divisor == 0):
        raise ZeroDivisionError("average: the weights sum to zero.")
    return (a.astype(dtype) * weights).sum(axis, dtype, keepdims=keepdims) / divisor


@collective(on_gpus=True)
def nansum(a: DistArray, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """Return sums of the elements that are not NaN. Collective."""
    if a.dtype.kind not in "fc":
        return a.sum(axis, dtype, keepdims=keepdims)
    return _of_numbers(a, np.add, axis, dtype, keepdims)


@collective(on_gpus=True)
def nanprod(a: DistArray, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """Return products of the elements that are not NaN. Collective."""
    if a.dtype.kind not in "fc":
        return a.prod(axis, dtype, keepdims=keepdims)
    return _of_numbers(a, np.multiply, axis, dtype, keepdims)


def _of_numbers(a: DistArray, ufunc: np.ufunc, axis: Any, dtype: Any, keepdims: bool) -> Any:
    require_numbers(a, "sum", dtype)
    its = np.dtype(a.dtype if dtype is None else dtype)
    return there(a, np.asarray(sum_of_some(a, a.local, are_numbers(a), axis, keepdims, its, ufunc), its)[()])


def nanmean(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return means of the elements that are not NaN; NaN where all are. Collective."""
    if a.dtype.kind not in "fc":
        return a.mean(axis, keepdims=keepdims)
    return without_nan(a, "mean", axis, keepdims)


def nanmin(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the smallest of the elements that are not NaN; NaN where all are. Collective."""
    return _nanextreme(a, axis, keepdims, "min")


def nanmax(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the largest of the elements that are not NaN; NaN where all are. Collective."""
    return _nanextreme(a, axis, keepdims, "max")


def _nanextreme(a: DistArray, axis: Any, keepdims: bool, name: str) -> Any:
    if a.dtype.kind not in "fmM":
        return getattr(a, name)(axis, keepdims=keepdims)
    if a.dtype.kind == "f":
        worst, nothing = np.array([np.inf if name == "min" else -np.inf, np.nan]).astype(a.dtype)
    else:
        limits = np.iinfo(np.int64)  # the smallest is NaT
        worst, nothing = np.array([limits.max if name == "min" else limits.min + 1, limits.min]).view(a.dtype)
    missing: Any = np.isnan(a)
    found = getattr(np.where(missing, worst, a), name)(axis, keepdims=keepdims)
    kept: Any = np.where(on_host(missing.all(axis, keepdims=keepdims)), nothing, on_host(found))
    return there(a, kept[()])


@collective()
def outer(a: Any, b: Any) -> DistArray:
    """Return the products of all pairs of elements of two vectors, in blocks. Collective; vectors may be NumPy's."""
    from .._array import DistArray

    x, y = (each.ravel() if getattr(each, "ndim", 1) != 1 else each for each in (a, b))
    x, y = (each if isinstance(each, DistArray) else np.atleast_1d(each) for each in (x, y))
    made = DistArray((len(x), len(y)), np.result_type(x.dtype, y.dtype))
    _current.barrier()
    (top, bottom), (left, right) = made.bounds()
    if top < bottom and left < right:
        made.local[...] = np.multiply.outer(x[top:bottom], y[left:right])
    _current.barrier()
    return made


def _panels(a: Any) -> Iterator[Array]:
    """Yield the elements of a vector a panel at a time."""
    for start in range(0, len(a), PANEL):
        yield a[start : start + PANEL]


def _is_in(values: Array, ordered: Array) -> Array:
    """Return `numpy.isin(values, ordered)` without its dozen temporary arrays of the length of both."""
    if ordered.dtype.kind == "O":
        return np.isin(values, ordered)
    near = np.minimum(np.searchsorted(ordered, values), ordered.size - 1)
    return np.asarray(ordered[near] == values)


@collective()
def isin(element: Any, test_elements: Any, *, invert: bool = False) -> DistArray:
    """Return True where an element is one of others. Collective; the others may be NumPy's, or distributed.

    Each PE reads the different values of distributed others, two million at a time.
    """
    from .._array import DistArray

    if not isinstance(element, DistArray):
        raise TypeError(
            "isin: the elements are no distributed array, only the test elements; use np.isin(x, b.to_numpy())."
        )
    its = _sorting.unique(test_elements) if isinstance(test_elements, DistArray) else np.ravel(test_elements)
    values = element.local.reshape(-1)
    if values.dtype.kind + its.dtype.kind in (
        "iu",
        "ui",
    ):  # their common dtype is float64, which is not exact
        limits = np.iinfo(values.dtype)
        its = its[(its >= limits.min) & (its <= limits.max)].astype(values.dtype)
    common = np.result_type(values.dtype, its.dtype)
    found = np.zeros(values.size, bool)
    for panel in _panels(its):
        ordered = np.sort(np.asarray(panel, common)) if common.kind != "O" else panel
        for start in range(0, values.size, CHUNK) if ordered.size else ():
            some = values[start : start + CHUNK]
            found[start : start + CHUNK] |= _is_in(some, ordered)
    found = found.reshape(element.local.shape)
    _current.barrier()
    return DistArray._from_part(element._layout.without_halo(), found ^ invert)


@collective()
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return the places in a sorted vector where values belong. Collective.

    Values of NumPy give a NumPy array, the same on every PE; a distributed array gives one of its distribution. In that
    case each PE reads all of `a`, two million elements at a time.
    """
    from .._array import DistArray

    if sorter is not None:
        raise TypeError("searchsorted of a distributed array takes no sorter; sort it before.")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; expected 'left' or 'right'.")
    if np.ndim(a) != 1:
        raise atoll.ShapeMismatch(f"searchsorted: the sorted array has {np.ndim(a)} axes; expected one.")
    if isinstance(v, DistArray):
        found = np.zeros(v.local.shape, np.int64)
        _current.barrier()
        for panel in _panels(a):
            found += np.searchsorted(panel, v.local, side)  # type: ignore[call-overload]
        _current.barrier()
        return DistArray._from_part(v._layout.without_halo(), found)
    # A part of a sorted array is sorted, and each PE counts its elements before the values.
    counts = np.asarray(np.searchsorted(a.local, v, side), np.int64)  # type: ignore[call-overload]
    every = atoll.sum_reduce(counts.reshape(-1), team=_current.team()) if counts.size else counts
    return every.reshape(counts.shape)[()]


def argwhere(a: DistArray) -> DistArray:
    """Return the indices of elements that are not zero, a row for each. Collective."""
    return _picking.stack(_moves.nonzero(a), 1)


@collective(on_gpus=True)
def histogram(
    a: DistArray,
    bins: Any = 10,
    range: tuple[Any, Any] | None = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[Array, Array]:
    """Return how many elements lie in each bin, or the sums of their weights, and the edges of the bins. Collective."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(f"histogram(bins={bins!r}): no number of bins is estimated with weights.")
        bins = _binning.number_of_bins(a, bins, range)
    if weights is None:
        return _sorting.histogram(a, bins, range, density)
    _, edges = _sorting.histogram(a, bins, range)
    its = _weights("histogram", a, weights)
    counted = np.histogram(a.local.reshape(-1), edges, weights=its)[0]
    sums = summed(counted)
    return (sums / np.diff(edges) / sums.sum() if density else sums), edges


def histogram_bin_edges(
    a: DistArray, bins: Any = 10, range: tuple[Any, Any] | None = None, weights: Any = None
) -> Array:
    """Return the edges of the bins of `histogram`, the same on every PE. Collective."""
    return histogram(a, bins, range, weights=weights)[1]


@collective(on_gpus=True)
def bincount(x: DistArray, /, weights: Any = None, minlength: int = 0) -> Array:
    """Return how often each number from 0 on occurs, or the sums of their weights, on every PE. Collective."""
    counts = _sorting.bincount(x, minlength)
    if weights is None or not x.size:
        return counts
    its = _weights("bincount", x, weights).astype(np.float64)
    return np.asarray(
        atoll.sum_reduce(np.bincount(x.local, its, len(counts)).astype(np.float64), team=_current.team())
    )


def _weights(name: str, a: DistArray, weights: Any) -> Array:
    from .._ufuncs import _common_layout, part_of

    require_host(f"{name} with weights", (a, weights), {})
    if np.shape(weights) != a.shape:
        raise atoll.ShapeMismatch(
            f"{name}: weights of shape {np.shape(weights)} for {a.shape}; they must be equal."
        )
    if isinstance(weights, Parts):
        _common_layout(name, [a, cast("DistArray", weights)])
    return np.asarray(part_of(weights, a._layout)).reshape(-1)


class UniqueAll(NamedTuple):
    """The values that occur, their first places, the number of each element's value, and how often each occurs."""

    values: DistArray
    indices: DistArray
    inverse_indices: DistArray
    counts: DistArray


class UniqueInverse(NamedTuple):
    """The values that occur, and the number of each element's value."""

    values: DistArray
    inverse_indices: DistArray


@collective()
def unique_all(x: DistArray, /, *, equal_nan: bool = False) -> UniqueAll:
    """Return the values that occur, with places and counts. Collective; sorts the values and their indices."""
    values, counts = _sorting.unique(x, return_counts=True, equal_nan=equal_nan)
    flat = x if x.ndim == 1 else x.ravel()
    order = _sorting.argsort(flat)
    starts = np.cumsum(counts) - counts
    _current.barrier()
    indices = type(x)._from_part(starts._layout, order.at[starts.local].get())
    positions = type(x)._from_part(order._layout.without_halo(), order.global_indices(0))
    number = searchsorted(starts, positions, "right")  # the values' groups follow each other in the order
    inverse = type(x)(flat.size, np.int64)
    _current.barrier()
    inverse.at[order.local].set(number.local - 1)
    _current.barrier()
    return UniqueAll(values, indices, _moves.reshape(inverse, x.shape), counts)


def unique_inverse(x: DistArray, /) -> UniqueInverse:
    """Return the values that occur, and the number of each element's value. Collective."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique(
    a: DistArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
) -> Any:
    """Return the sorted values that occur; their first places, numbers and counts, if asked. Collective."""
    if not (return_index or return_inverse):
        return _sorting.unique(a, return_counts=return_counts, equal_nan=equal_nan)
    found = unique_all(a, equal_nan=equal_nan)
    asked = zip(found, (True, return_index, return_inverse, return_counts), strict=True)
    return tuple(each for each, is_asked in asked if is_asked)
