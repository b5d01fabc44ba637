"""Quantiles, by sorting a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._compared import collective
from .._teams import _current
from . import _moves, _sorting
from ._combined import axes_of, count

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
# The element between two, and how far: from 0 to 1.
Between = Callable[[Array, Array, Any], Array]


def _wanted(q: Any, most: int, name: str) -> Array:
    """Return the quantiles asked for as numbers from 0 to 1."""
    wanted = np.asarray(q, np.float64)
    if wanted.size and not (wanted.min() >= 0 and wanted.max() <= most):
        raise ValueError(f"{name}: q must be from 0 to {most}.")
    return wanted / most if most != 1 else wanted


def _sorted(a: DistArray, axis: Any) -> tuple[DistArray, int]:
    """Return a sorted copy as floats, and the number of the sorted axis."""
    if a.dtype.kind not in "iuf":
        cure = "; take a.astype(float)" if a.dtype.kind == "b" else ""
        raise TypeError(f"quantile: elements of {a.dtype}; expected real numbers{cure}.")
    ordered = _sorting.sort(a.astype(np.float64) if a.dtype.kind in "iu" else a, axis)
    number = 0 if axis is None else a._layout.axis_number(axis)
    if not ordered.shape[number]:
        raise ValueError("quantile: the axis has no elements.")
    return ordered, number


def _between(low: Array, high: Array, part: Any) -> Array:
    """Interpolate linearly, exactly at both ends."""
    with np.errstate(invalid="ignore"):  # infinities may differ by NaN
        value = np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part))
    return np.where(low == high, low, value)  # also right for two infinities


def _middle(low: Array, high: Array, part: Any) -> Array:
    """Return the mean of two elements, unless they are one. So a median may be infinite, where a quantile is NaN."""
    return np.where(part == 0, low, np.mean([low, high], axis=0))


def _result(a: DistArray, ordered: DistArray, q: Any, found: list[Array], axis: Any, keepdims: bool) -> Any:
    """Return the quantiles in NumPy's shape and dtype. `found` has an array for each of `q`."""
    others = [n for number, n in enumerate(ordered.shape) if number != (0 if axis is None else axis)]
    shape = tuple(others)
    if keepdims:
        shape = (1,) * a.ndim if axis is None else (*shape[:axis], 1, *shape[axis:])
    is_plain = isinstance(q, (int, float, np.integer))
    dtype = ordered.dtype if is_plain else np.result_type(ordered.dtype, np.float64)
    return np.array(found, dtype).reshape(np.shape(q) + shape)[()]


@collective()
def quantile(a: DistArray, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return quantiles along an axis or a tuple of them, by default of all elements, by linear interpolation. Collective.

    The result is a number or a NumPy array, the same on every PE. The array is sorted, as a copy of float64 or its own kind.
    """
    return _quantile(a, q, axis, keepdims, _between)


def _quantile(a: DistArray, q: Any, axis: Any, keepdims: bool, between: Between) -> Any:
    if isinstance(axis, tuple):
        return _over_several(_quantile, a, q, axis, keepdims, between)
    wanted = _wanted(q, 1, "quantile")
    ordered, number = _sorted(a, axis)
    length = ordered.shape[number]

    def row(index: int) -> Array:
        return np.array(ordered[(*(slice(None),) * number, index)])

    last, found = row(length - 1), []
    for each in wanted.reshape(-1):
        at = each * (length - 1)
        value = between(row(int(np.floor(at))), row(int(np.ceil(at))), at - np.floor(at))
        found.append(np.where(np.isnan(last), last, value))  # NaN are sorted last
    _current.barrier()
    return _result(a, ordered, q, found, None if axis is None else number, keepdims)


@collective()
def nanquantile(a: DistArray, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return quantiles of the elements that are not NaN, as `quantile`; NaN where all are. Collective."""
    return _nanquantile(a, q, axis, keepdims, _between)


def _nanquantile(a: DistArray, q: Any, axis: Any, keepdims: bool, between: Between) -> Any:
    if isinstance(axis, tuple):
        return _over_several(_nanquantile, a, q, axis, keepdims, between)
    if a.dtype.kind != "f":
        return _quantile(a, q, axis, keepdims, between)
    wanted = _wanted(q, 1, "nanquantile")
    ordered, number = _sorted(a, axis)
    counts = np.atleast_1d(np.asarray((~np.isnan(a)).sum(axis)))
    others = np.indices(counts.shape) if ordered.ndim > 1 else ()

    def picked(index: Array) -> Array:
        return np.asarray(ordered.at[(*others[:number], index, *others[number:])].get())

    found = []
    for each in wanted.reshape(-1):
        at = each * np.maximum(counts - 1, 0)  # without elements the first one is NaN
        low = np.floor(at).astype(np.int64)
        high = np.ceil(at).astype(np.int64)
        found.append(between(picked(low), picked(high), at - low))
    _current.barrier()
    return _result(a, ordered, q, found, None if axis is None else number, keepdims)


def _over_several(
    function: Callable[..., Any],
    a: DistArray,
    q: Any,
    axis: tuple[int, ...],
    keepdims: bool,
    between: Between,
) -> Any:
    """Return quantiles along several axes, which become one."""
    axes = axes_of(a, axis)
    kept = [number for number in range(a.ndim) if number not in axes]
    if kept:
        lengths = [a.shape[number] for number in kept]
        flat = _moves.reshape(_moves.transpose(a, [*kept, *axes]), [*lengths, count(a, axis)])
        found = function(flat, q, -1, False, between)
    else:
        found = function(a, q, None, False, between)
    shape = tuple(1 if number in axes else n for number, n in enumerate(a.shape))
    return np.reshape(found, np.shape(q) + shape) if keepdims else found


def _hundredth(q: Any, name: str) -> Any:
    wanted = _wanted(q, 100, name)
    return q / 100 if isinstance(q, (int, float, np.integer)) else wanted


def percentile(a: DistArray, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return quantiles, of which `q` is from 0 to 100. Collective."""
    return quantile(a, _hundredth(q, "percentile"), axis, keepdims=keepdims)


def nanpercentile(a: DistArray, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return quantiles of the elements that are not NaN; `q` is from 0 to 100. Collective."""
    return nanquantile(a, _hundredth(q, "nanpercentile"), axis, keepdims=keepdims)


@collective()
def median(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return medians along an axis or several, by default that of all elements; NaN of no elements. Collective."""
    return _median(_quantile, a, axis, keepdims)


@collective()
def nanmedian(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return medians of the elements that are not NaN; NaN where all are. Collective."""
    return _median(_nanquantile, a, axis, keepdims)


def _median(function: Callable[..., Any], a: DistArray, axis: Any, keepdims: bool) -> Any:
    if not count(a, axis):
        return a.mean(axis, keepdims=keepdims)
    return function(a.astype(np.float64) if a.dtype == np.bool_ else a, 0.5, axis, keepdims, _middle)
