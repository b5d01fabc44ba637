"""The steps that reductions share: reduce this PE's part, then combine those of all PEs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._layout import is_one
from .._teams import _current

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
Axes = int | tuple[int, ...] | None


def axes_of(array: DistArray, axis: Axes) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(array.ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    for number in given:
        if not is_one(number):
            raise TypeError(
                f"axis is {axis!r}; expected an integer, a tuple of integers, or None for all axes."
            )
    axes = tuple(sorted(array._layout.axis_number(number) for number in given))
    if len(set(axes)) != len(axes):
        raise ValueError(f"axis {axis} names an axis twice.")
    return axes


def require_numbers(array: DistArray, name: str, dtype: Any = None) -> None:
    """Raise if elements of the array's dtype, or of that of the result, are not combined over PEs."""
    for its in (array.dtype, np.dtype(array.dtype if dtype is None else dtype)):
        if its.kind not in "biufc":
            raise atoll.DtypeMismatch(
                f"a.{name}(): elements of {its} are not combined over PEs; use a.local for this PE's part, or "
                "a.to_numpy()."
            )


def require_order(array: DistArray, name: str) -> None:
    """Raise if elements of the array's dtype have no largest one."""
    require_numbers(array, name)
    if array.dtype.kind == "c":
        raise TypeError(
            f"a.{name}(): complex numbers have no order that is usual. Use abs(a), a.real, or numpy.sort(a), which orders "
            "them by real parts, then by imaginary ones."
        )


def require_elements(array: DistArray, axes: Sequence[int], name: str) -> None:
    if any(array.shape[number] == 0 for number in axes):
        raise ValueError(f"{name} of a distributed array of shape {array.shape}: an axis has no elements.")


def wide(dtype: Any) -> Any:
    """Return the dtype of sums on the way: float16 would round each of them."""
    return np.dtype(np.float32) if dtype is not None and np.dtype(dtype) == np.float16 else dtype


def count(array: DistArray, axis: Axes) -> int:
    return int(np.prod([array.shape[number] for number in axes_of(array, axis)], dtype=np.int64))


def there(array: DistArray, result: Any) -> Any:
    """Return a result with axes as an array of the library of the parts; a number stays NumPy's."""
    return array._library.array(result) if isinstance(result, np.ndarray) and result.ndim else result


def summed(part: Array) -> Array:
    """Return the sum of the PEs' arrays of one shape, the same on every PE. Collective."""
    return np.asarray(atoll.sum_reduce(np.ascontiguousarray(part), team=_current.team()))


def by_ufunc(
    array: DistArray,
    ufunc: np.ufunc,
    function: Callable[..., Any],
    start: int,
    axis: Axes,
    keepdims: bool,
    dtype: Any = None,
) -> Any:
    name = {"add": "sum", "multiply": "prod", "logical_or": "any"}.get(ufunc.__name__, "all")
    require_numbers(array, name, dtype)
    if dtype is None and array.dtype == np.float16 and ufunc in (np.add, np.multiply):
        dtype = array.dtype
    part = array._library.reduced(ufunc, array.local, axes_of(array, axis), wide(dtype))
    is_bool = part.dtype == np.bool_
    result = combine(array, part.view(np.uint8) if is_bool else part, axis, keepdims, function, start)
    if is_bool:
        return result.astype(np.bool_)
    return result if dtype is None or result.dtype == dtype else result.astype(dtype)


def combine(
    array: DistArray, part: Array, axis: Axes, keepdims: bool, function: Callable[..., Any], start: Any
) -> Any:
    """Combine the parts' results, which have length 1 along the reduced axes. `start` leaves every result as it is."""
    axes = axes_of(array, axis)
    shape = tuple(1 if number in axes else n for number, n in enumerate(array.shape))
    whole: Array = np.full(shape, start, part.dtype)
    kept = [np.arange(1) if number in axes else array.global_indices(number) for number in range(array.ndim)]
    whole[np.ix_(*kept)] = part
    if part.dtype.char == "G":
        raise atoll.DtypeMismatch(
            f"{_current.call()}(): elements of {part.dtype} are not combined over PEs; take a.astype(complex)."
        )
    if whole.size:
        whole = function(whole, team=_current.team())
    left = tuple(n for number, n in enumerate(shape) if number not in axes)
    result = whole if keepdims else whole.reshape(left)
    return result if keepdims or left else result[()]
