"""The smallest and the largest elements, and their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._layout import is_one
from .._teams._exchange import gathered
from ._combined import Axes, axes_of, combine, require_elements, require_order, wide
from ._scans import argextreme

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def extreme(array: DistArray, axis: Axes, keepdims: bool, which: str) -> Any:
    axes = axes_of(array, axis)
    require_elements(array, axes, which)
    kind = array.dtype.kind
    if kind in "mM":
        return _time(array, axis, keepdims, which)
    require_order(array, which)
    ufunc, reduce = (np.minimum, atoll.min_reduce) if which == "min" else (np.maximum, atoll.max_reduce)
    its = array._library
    local = its.as_bytes(array.local) if kind == "b" else array.local
    start = _bound(its.dtype(local), which)
    part = its.reduced(ufunc, local, axes, None, start)
    result = combine(array, part.astype(wide(part.dtype)), axis, keepdims, reduce, start)
    if kind == "b":
        return result.astype(np.bool_)
    if kind != "f":
        return result
    if result.dtype != array.dtype:  # float16 was compared as float32
        result = result.astype(array.dtype)
    # Reductions of floating-point numbers may drop a NaN, which wins in NumPy.
    missing = its.reduced(np.logical_or, local != local, axes).view(np.uint8)
    missing = combine(array, missing, axis, keepdims, atoll.max_reduce, 0)
    return np.where(missing, np.asarray(np.nan, array.dtype), result)[()]


def _time(array: DistArray, axis: Axes, keepdims: bool, which: str) -> Any:
    """Return the first or the last time; NaT, the least number, if there is one."""
    numbers = array.astype(np.int64)
    found = extreme(numbers, axis, keepdims, "min")
    if which == "max":
        missing = np.iinfo(np.int64).min
        found = np.where(found == missing, missing, extreme(numbers, axis, keepdims, "max"))
    return np.asarray(found).astype(array.dtype)[()]


def _bound(dtype: np.dtype[Any], which: str) -> Any:
    """Return the number that leaves every minimum (or maximum) as it is."""
    if dtype.kind == "f":
        return np.inf if which == "min" else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if which == "min" else limits.min


def extreme_index(array: DistArray, axis: int | None, keepdims: bool, smallest: bool) -> Any:
    require_order(array, "argmin" if smallest else "argmax")
    if axis is not None and not is_one(axis):
        name = "argmin" if smallest else "argmax"
        raise TypeError(
            f"a.{name}(axis={axis!r}): expected one integer, or None for the number in C order of the whole array."
        )
    if axis is not None:
        return argextreme(array, axis, keepdims, smallest)
    found = _first(array, smallest)
    return np.full((1,) * array.ndim, found) if keepdims else found


def _first(array: DistArray, smallest: bool) -> int:
    require_elements(array, range(array.ndim), "argmin" if smallest else "argmax")
    local = array.local
    found: tuple[Any, int] | None = None
    if 0 not in local.shape:
        # C order within a part agrees with global C order, so the first of equal elements is found.
        at = np.unravel_index(array._library.argextreme(local, smallest), tuple(local.shape))
        index = [int(array.global_indices(axis)[i]) for axis, i in enumerate(at)]
        found = (local[at].item(), int(np.ravel_multi_index(index, array.shape)))

    def key(each: tuple[Any, int]) -> tuple[bool, Any, int]:
        value, number = each
        is_nan = value != value
        return (not is_nan, 0 if is_nan else value if smallest else -value, number)

    every: list[tuple[Any, int]] = [each for each in gathered(found) if each is not None]
    return min(every, key=key)[1]
