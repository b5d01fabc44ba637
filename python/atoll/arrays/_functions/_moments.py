"""Means and variances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._libraries import _numpy_warnings
from ._combined import Axes, axes_of, combine, count, require_numbers, wide

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def mean(array: DistArray, axis: Axes, keepdims: bool, dtype: Any = None) -> Any:
    axes = axes_of(array, axis)
    require_numbers(array, "mean", dtype)
    usual = array.dtype if array.dtype.kind in "fc" else np.float64
    its = np.dtype(usual if dtype is None else dtype)
    part = array._library.reduced(np.add, array.local, axes, wide(its))
    total = combine(array, part, axis, keepdims, atoll.sum_reduce, 0)
    if not (number := count(array, axis)):
        return _of_nothing(total, its, "Mean of empty slice")
    return (total / number).astype(its)


def _of_nothing(total: Any, dtype: np.dtype[Any], why: str) -> Any:
    """Return NaN in the shape of sums, with NumPy's warning. It gives integers 0 for that."""
    _numpy_warnings.warn(why)
    with np.errstate(all="ignore"):
        return (total / dtype.type(0)).astype(dtype)


def variance(array: DistArray, axis: Axes, keepdims: bool, ddof: float) -> Any:
    from .._ufuncs import part_of

    axes = axes_of(array, axis)
    its = array._library
    is_half = array.dtype == np.float16
    if not count(array, axis):
        kind = np.dtype(array.dtype.type(0).real.dtype if array.dtype.kind in "fc" else np.float64)
        sums = its.reduced(np.add, array.local.real, axes, kind)
        sums = combine(array, sums, axis, keepdims, atoll.sum_reduce, 0)
        return _of_nothing(sums, kind, "Degrees of freedom <= 0 for slice")
    centre = mean(array, axis, True, np.float32 if is_half else None)
    distance = array.local - part_of(centre, array._layout, its)
    squares = (distance.conj() * distance).real if array.dtype.kind == "c" else distance * distance
    part = its.reduced(np.add, squares, axes)
    total = combine(array, part, axis, keepdims, atoll.sum_reduce, 0)
    variance = total / part.dtype.type(max(count(array, axis) - ddof, 0))
    return variance.astype(np.float16) if is_half else variance
