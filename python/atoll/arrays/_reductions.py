"""Reductions of distributed arrays: each PE reduces its part, then all parts are combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

if TYPE_CHECKING:
    from ._array import DistArray

Array = np.ndarray[Any, Any]
Axes = int | tuple[int, ...] | None


class Reductions:
    """The reductions of a distributed array.

    Each is collective, and its result is the same on every PE: a NumPy array of the remaining axes, or a number if
    none remains.
    """

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the sum along axes, by default all. The dtype is that of `numpy.sum`. Collective."""
        return _by_ufunc(_this(self), np.add, atoll.sum_reduce, 0, axis, keepdims)

    def prod(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the product along axes, by default all. The dtype is that of `numpy.prod`. Collective."""
        return _by_ufunc(_this(self), np.multiply, atoll.prod_reduce, 1, axis, keepdims)

    def min(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the smallest element along axes, by default all; NaN if there is one. Collective."""
        return _extreme(_this(self), axis, keepdims, "min")

    def max(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the largest element along axes, by default all; NaN if there is one. Collective."""
        return _extreme(_this(self), axis, keepdims, "max")

    def any(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return True where any element along axes is true. Collective."""
        return _by_ufunc(_this(self), np.logical_or, atoll.max_reduce, 0, axis, keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return True where all elements along axes are true. Collective."""
        return _by_ufunc(_this(self), np.logical_and, atoll.min_reduce, 1, axis, keepdims)

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the mean along axes, by default all. Collective."""
        return _mean(_this(self), axis, keepdims)

    def var(self, axis: Axes = None, keepdims: bool = False, ddof: int = 0) -> Any:
        """Return the variance along axes, by default all. Collective.

        The sum of squared distances from the mean is divided by the number of elements less `ddof`.
        """
        return _var(_this(self), axis, keepdims, ddof)

    def std(self, axis: Axes = None, keepdims: bool = False, ddof: int = 0) -> Any:
        """Return the standard deviation along axes, by default all. Collective."""
        return np.sqrt(_var(_this(self), axis, keepdims, ddof))

    def argmin(self) -> int:
        """Return the number in C order of the first smallest element. Collective."""
        return _first(_this(self), np.argmin, smallest=True)

    def argmax(self) -> int:
        """Return the number in C order of the first largest element. Collective."""
        return _first(_this(self), np.argmax, smallest=False)


def _this(array: Reductions) -> DistArray:
    return cast("DistArray", array)


def _axes(array: DistArray, axis: Axes) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(array.ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(sorted(array._layout.axis_number(number) for number in given))
    if len(set(axes)) != len(axes):
        raise ValueError(f"axis {axis} names an axis twice.")
    return axes


def _require_numbers(array: DistArray, name: str) -> None:
    if array.dtype.kind not in "biufc" or array.dtype == np.float16:
        cure = (
            "a.astype(np.float32)"
            if array.dtype == np.float16
            else "a.local for this PE's part, or a.to_numpy()"
        )
        raise atoll.DtypeMismatch(
            f"a.{name}(): elements of {array.dtype} are not combined over PEs; use {cure}."
        )


def _by_ufunc(
    array: DistArray, ufunc: np.ufunc, function: Callable[..., Any], start: int, axis: Axes, keepdims: bool
) -> Any:
    _require_numbers(
        array, {"add": "sum", "multiply": "prod", "logical_or": "any"}.get(ufunc.__name__, "all")
    )
    part = np.asarray(ufunc.reduce(array.local, axis=_axes(array, axis), keepdims=True))
    is_bool = part.dtype == np.bool_
    result = _combine(array, part.view(np.uint8) if is_bool else part, axis, keepdims, function, start)
    return result.astype(np.bool_) if is_bool else result


def _combine(
    array: DistArray, part: Array, axis: Axes, keepdims: bool, function: Callable[..., Any], start: Any
) -> Any:
    """Combine the parts' results, which have length 1 along the reduced axes. `start` leaves every result as it is."""
    axes = _axes(array, axis)
    shape = tuple(1 if number in axes else n for number, n in enumerate(array.shape))
    whole: Array = np.full(shape, start, part.dtype)
    kept = [np.arange(1) if number in axes else array.global_indices(number) for number in range(array.ndim)]
    whole[np.ix_(*kept)] = part
    if whole.size:
        whole = function(whole)
    left = tuple(n for number, n in enumerate(shape) if number not in axes)
    result = whole if keepdims else whole.reshape(left)
    return result if keepdims or left else result[()]


def _require_elements(array: DistArray, axes: Sequence[int], name: str) -> None:
    if any(array.shape[number] == 0 for number in axes):
        raise ValueError(f"{name} of a distributed array of shape {array.shape}: an axis has no elements.")


def _extreme(array: DistArray, axis: Axes, keepdims: bool, which: str) -> Any:
    axes = _axes(array, axis)
    _require_elements(array, axes, which)
    kind = array.dtype.kind
    _require_numbers(array, which)
    if kind == "c":
        raise TypeError(f"a.{which}(): complex numbers have no order.")
    ufunc, reduce = (np.minimum, atoll.min_reduce) if which == "min" else (np.maximum, atoll.max_reduce)
    local = array.local.view(np.uint8) if kind == "b" else array.local
    start = _bound(local.dtype, which)
    part = ufunc.reduce(local, axis=axes, keepdims=True, initial=start)
    result = _combine(array, part, axis, keepdims, reduce, start)
    if kind == "b":
        return result.astype(np.bool_)
    if kind != "f":
        return result
    # Reductions of floating-point numbers may drop a NaN, which wins in NumPy.
    missing = np.logical_or.reduce(np.isnan(local), axis=axes, keepdims=True).view(np.uint8)
    missing = _combine(array, missing, axis, keepdims, atoll.max_reduce, 0)
    return np.where(missing, np.asarray(np.nan, array.dtype), result)[()]


def _bound(dtype: np.dtype[Any], which: str) -> Any:
    """Return the number that leaves every minimum (or maximum) as it is."""
    if dtype.kind == "f":
        return np.inf if which == "min" else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if which == "min" else limits.min


def _count(array: DistArray, axis: Axes) -> int:
    return int(np.prod([array.shape[number] for number in _axes(array, axis)], dtype=np.int64))


def _mean(array: DistArray, axis: Axes, keepdims: bool) -> Any:
    axes = _axes(array, axis)
    _require_elements(array, axes, "mean")
    _require_numbers(array, "mean")
    wide = array.dtype if array.dtype.kind in "fc" else np.dtype(np.float64)
    part = np.add.reduce(array.local, axis=axes, dtype=wide, keepdims=True)
    return _combine(array, part, axis, keepdims, atoll.sum_reduce, 0) / wide.type(_count(array, axis))


def _var(array: DistArray, axis: Axes, keepdims: bool, ddof: int) -> Any:
    from ._ufuncs import part_of

    axes = _axes(array, axis)
    mean = np.broadcast_to(_mean(array, axis, keepdims=True), array.shape)
    distance = array.local - part_of(mean, array._layout)
    squares = (distance.conj() * distance).real if distance.dtype.kind == "c" else distance * distance
    part = np.add.reduce(squares, axis=axes, keepdims=True)
    total = _combine(array, part, axis, keepdims, atoll.sum_reduce, 0)
    return total / part.dtype.type(max(_count(array, axis) - ddof, 0))


def _first(array: DistArray, function: Callable[[Array], Any], smallest: bool) -> int:
    _require_elements(array, range(array.ndim), "argmin" if smallest else "argmax")
    local = array.local
    found: tuple[Any, int] | None = None
    if local.size:
        # C order within a part agrees with global C order, so the first of equal elements is found.
        at = np.unravel_index(int(function(local)), local.shape)
        index = [int(array.global_indices(axis)[i]) for axis, i in enumerate(at)]
        found = (local[at].item(), int(np.ravel_multi_index(index, array.shape)))

    def key(each: tuple[Any, int]) -> tuple[bool, Any, int]:
        value, number = each
        is_nan = value != value
        return (not is_nan, 0 if is_nan else value if smallest else -value, number)

    every: list[tuple[Any, int]] = [each for each in atoll.allgather_object(found) if each is not None]
    return min(every, key=key)[1]
