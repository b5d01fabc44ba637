"""Means and variances, of all elements or of those under a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._compared import collective
from .._libraries import _numpy_warnings
from .._parts import Parts
from .._teams import _current
from ._combined import Axes, axes_of, combine, count, require_numbers, there, wide

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
    axes = axes_of(array, axis)
    its = array._library
    is_half = array.dtype == np.float16
    if not count(array, axis):
        kind = np.dtype(array.dtype.type(0).real.dtype if array.dtype.kind in "fc" else np.float64)
        sums = its.reduced(np.add, array.local.real, axes, kind)
        sums = combine(array, sums, axis, keepdims, atoll.sum_reduce, 0)
        return _of_nothing(sums, kind, "Degrees of freedom <= 0 for slice")
    centre = mean(array, axis, True, np.float32 if is_half else None)
    part = its.reduced(np.add, _squares(array, centre), axes)
    total = combine(array, part, axis, keepdims, atoll.sum_reduce, 0)
    variance = total / part.dtype.type(max(count(array, axis) - ddof, 0))
    return variance.astype(np.float16) if is_half else variance


def _squares(array: DistArray, centre: Any) -> Any:
    """Return the squared distances of this PE's elements from a number, or from those of the remaining axes."""
    from .._ufuncs import part_of

    distance = array.local - part_of(centre, array._layout, array._library)
    return (distance.conj() * distance).real if array.dtype.kind == "c" else distance * distance


def are_numbers(array: DistArray) -> Any:
    """Return True for each element of this PE's part that is not NaN."""
    return ~array._library.apply(np.isnan, [array.local], None, {})


def sum_of_some(
    array: DistArray,
    part: Any,
    mask: Any,
    axis: Axes,
    keepdims: bool,
    dtype: Any = None,
    ufunc: np.ufunc = np.add,
) -> Any:
    """Return the sums, or products, of elements of PEs' parts where masks of their shape are True. Collective."""
    its = array._library
    kept = its.chosen(mask, part, ufunc.identity)
    function = atoll.prod_reduce if ufunc is np.multiply else atoll.sum_reduce
    found = its.reduced(ufunc, kept, axes_of(array, axis), wide(its.dtype(kept) if dtype is None else dtype))
    return combine(array, found, axis, keepdims, function, ufunc.identity)


def count_of_some(array: DistArray, mask: Any, axis: Axes, keepdims: bool) -> Any:
    """Return how many elements of the PEs' masks are True. Collective."""
    found = array._library.reduced(np.add, mask, axes_of(array, axis), np.dtype(np.int64))
    return combine(array, found, axis, keepdims, atoll.sum_reduce, 0)


def require_mask(array: DistArray, mask: Any) -> None:
    """Raise TypeError unless a mask has elements of bool, and ShapeMismatch unless it broadcasts to an array."""
    dtype = mask.dtype if hasattr(mask, "dtype") else np.asarray(mask).dtype
    if not str(dtype).endswith("bool"):
        raise TypeError(f"where=: a mask of {dtype}; expected bool. Write mask != 0.")
    shape = np.shape(mask)
    if len(shape) > array.ndim or any(
        n not in (1, m) for n, m in zip(reversed(shape), reversed(array.shape), strict=False)
    ):
        raise atoll.ShapeMismatch(
            f"where=: a mask of shape {shape} for an array of {array.shape}; expected one that broadcasts to it."
        )


def part_of_mask(array: DistArray, mask: Any) -> Any:
    """Return the part of a mask that matches the array's. It may fetch it from other PEs."""
    from .._ufuncs import _common_layout, part_of

    require_mask(array, mask)
    _common_layout("where", [x for x in (array, mask) if isinstance(x, Parts)])  # type: ignore[misc]
    if isinstance(mask, Parts):
        _current.barrier()  # this PE may read what others have written to theirs
    where = array._library
    part = where.array(part_of(mask, array._layout, where))
    return where.broadcast(part, array._layout.extents(_current.my_pe()))


@collective(on_gpus=True)
def mean_of_some(array: DistArray, axis: Axes, keepdims: bool, mask: Any, dtype: Any = None) -> Any:
    """Return the means of the elements where a mask is True, NaN without one. Collective."""
    return there(array, _mean(array, part_of_mask(array, mask), axis, keepdims, dtype))


def _mean(array: DistArray, mask: Any, axis: Axes, keepdims: bool, dtype: Any = None) -> Any:
    is_inexact = array.dtype.kind in "fc"
    between = dtype or (np.result_type(array.dtype, np.float32) if is_inexact else np.float64)
    total = sum_of_some(array, array.local, mask, axis, keepdims, between)
    number = count_of_some(array, mask, axis, keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / number, dtype or (array.dtype if is_inexact else np.float64))[()]


@collective(on_gpus=True)
def variance_of_some(
    array: DistArray, axis: Axes, keepdims: bool, ddof: float, mask: Any, is_root: bool = False
) -> Any:
    """Return the variances of the elements where a mask is True, or their roots. Collective."""
    total, number = _spread(array, part_of_mask(array, mask), axis, keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(total / np.maximum(number - ddof, 0), total.dtype)
    return there(array, (np.sqrt(found) if is_root else found)[()])


def _spread(array: DistArray, mask: Any, axis: Axes, keepdims: bool) -> tuple[Any, Any]:
    """Return the sums of the squared distances from the mean, in their dtype, and the numbers of elements. Collective."""
    squares = _squares(array, _mean(array, mask, axis, True))
    total = sum_of_some(array, squares, mask, axis, keepdims)
    return np.asarray(total, array._library.dtype(squares)), count_of_some(array, mask, axis, keepdims)


@collective(on_gpus=True)
def without_nan(array: DistArray, name: str, axis: Axes, keepdims: bool, ddof: float = 0) -> Any:
    """Return means ("mean"), variances ("var") or their roots ("std") of elements that are not NaN. Collective."""
    mask = are_numbers(array)
    if name == "mean":
        return there(array, _mean(array, mask, axis, keepdims))
    total, number = _spread(array, mask, axis, keepdims)
    number = number - ddof
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(total / np.where(number > 0, number, np.nan), total.dtype)
    return there(array, (np.sqrt(found) if name == "std" else found)[()])
