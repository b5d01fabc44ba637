"""Reductions of distributed arrays: each PE reduces its part, then all parts are combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from ._compared import collective
from ._layout import is_one
from ._scans import argextreme
from ._teams import _current
from ._teams._exchange import gathered
from ._updates._exact import reproducible_sum

if TYPE_CHECKING:
    from ._array import DistArray

Array = np.ndarray[Any, Any]
Axes = int | tuple[int, ...] | None


class Reductions:
    """The reductions of a distributed array.

    Each is collective, and its result is the same on every PE. It is a number, or an array of the remaining axes: NumPy's,
    or on GPUs that of the parts' library. Arguments after axis and dtype are given by name.
    """

    @collective(on_gpus=True)
    def sum(
        self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, reproducible: bool = False
    ) -> Any:
        """Return the sum along axes, by default all. By default the dtype is that of `numpy.sum`. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        dtype
            Of the result and of the sums on the way.
        keepdims
            Leave the reduced axes in the result, with length 1.
        reproducible
            Floating-point sums have the same bits for any number of PEs, any distribution and any order of elements. They
            take several times as long, and two temporary arrays of float64 of this PE's part.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        TypeError
            If a reproducible sum is asked for in another dtype, or of long doubles.
        """
        this = _this(self)
        if reproducible and this.dtype.kind in "fc":
            if (dtype is not None and np.dtype(dtype) != this.dtype) or this.dtype.char in "gG":
                raise TypeError("a.sum(reproducible=True) has the dtype of a, float16 to complex128.")
            return reproducible_sum(this, _axes(this, axis), keepdims)
        return _there(self, _by_ufunc(this, np.add, atoll.sum_reduce, 0, axis, keepdims, dtype))

    @collective(on_gpus=True)
    def prod(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        """Return the product along axes, by default all. By default the dtype is that of `numpy.prod`. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        dtype
            Of the result and of the products on the way.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        """
        return _there(self, _by_ufunc(_this(self), np.multiply, atoll.prod_reduce, 1, axis, keepdims, dtype))

    @collective(on_gpus=True)
    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """Return the smallest element along axes, by default all; NaN if there is one. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        TypeError
            If the numbers are complex.
        ValueError
            If an axis has no elements, or is named twice.
        """
        return _there(self, _extreme(_this(self), axis, keepdims, "min"))

    @collective(on_gpus=True)
    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """Return the largest element along axes, by default all; NaN if there is one. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        TypeError
            If the numbers are complex.
        ValueError
            If an axis has no elements, or is named twice.
        """
        return _there(self, _extreme(_this(self), axis, keepdims, "max"))

    @collective(on_gpus=True)
    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """Return True where any element along axes is true. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            bool of NumPy, or an array of bool of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        """
        return _there(self, _by_ufunc(_this(self), np.logical_or, atoll.max_reduce, 0, axis, keepdims))

    @collective(on_gpus=True)
    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """Return True where all elements along axes are true. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            bool of NumPy, or an array of bool of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        """
        return _there(self, _by_ufunc(_this(self), np.logical_and, atoll.min_reduce, 1, axis, keepdims))

    @collective(on_gpus=True)
    def mean(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        """Return the mean along axes, by default all. By default the dtype is that of `numpy.mean`. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        dtype
            Of the result and of the sums on the way.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis has no elements, or is named twice.
        """
        return _there(self, _mean(_this(self), axis, keepdims, dtype))

    @collective(on_gpus=True)
    def var(
        self, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
    ) -> Any:
        """Return the variance along axes, by default all. Collective.

        The sum of squared distances from the mean is divided by the number of elements less `ddof`.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        ddof
            Subtracted from the number of elements in the divisor; 1 gives the estimate of a sample.
        correction
            The array API's name of `ddof`.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis has no elements, or is named twice.
        """
        return _there(self, _var(_this(self), axis, keepdims, ddof if correction is None else correction))

    @collective(on_gpus=True)
    def std(
        self, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False, correction: float | None = None
    ) -> Any:
        """Return the standard deviation along axes, by default all. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        ddof
            Subtracted from the number of elements in the divisor; 1 gives the estimate of a sample.
        correction
            The array API's name of `ddof`.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis has no elements, or is named twice.
        """
        return _there(
            self, np.sqrt(_var(_this(self), axis, keepdims, ddof if correction is None else correction))
        )

    @collective(on_gpus=True)
    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """Return the index along an axis of the first smallest element; without one its number in C order. Collective.

        Parameters
        ----------
        axis
            One axis. None: the number in C order of the whole array.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            int64, as a number or an array; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        ValueError
            If an axis has no elements.
        DtypeMismatch, TypeError
            If the elements are no numbers, or complex ones.
        """
        return _there(self, _place(_this(self), axis, keepdims, smallest=True))

    @collective(on_gpus=True)
    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """Return the index along an axis of the first largest element; without one its number in C order. Collective.

        Parameters
        ----------
        axis
            One axis. None: the number in C order of the whole array.
        keepdims
            Leave the reduced axes in the result, with length 1.

        Returns
        -------
        Any
            int64, as a number or an array; the same on every PE.

        Raises
        ------
        IndexError
            If there is no such axis.
        ValueError
            If an axis has no elements.
        DtypeMismatch, TypeError
            If the elements are no numbers, or complex ones.
        """
        return _there(self, _place(_this(self), axis, keepdims, smallest=False))


def _this(array: Reductions) -> DistArray:
    return cast("DistArray", array)


def _there(array: Reductions, result: Any) -> Any:
    """Return a result with axes as an array of the library of the parts; a number stays NumPy's."""
    return _this(array)._library.array(result) if isinstance(result, np.ndarray) and result.ndim else result


def _axes(array: DistArray, axis: Axes) -> tuple[int, ...]:
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


def _require_numbers(array: DistArray, name: str, dtype: Any = None) -> None:
    """Raise if elements of the array's dtype, or of that of the result, are not combined over PEs."""
    for its in (array.dtype, np.dtype(array.dtype if dtype is None else dtype)):
        if its.kind not in "biufc":
            raise atoll.DtypeMismatch(
                f"a.{name}(): elements of {its} are not combined over PEs; use a.local for this PE's part, or "
                "a.to_numpy()."
            )


def _require_order(array: DistArray, name: str) -> None:
    """Raise if elements of the array's dtype have no largest one."""
    _require_numbers(array, name)
    if array.dtype.kind == "c":
        raise TypeError(
            f"a.{name}(): complex numbers have no order that is usual. Use abs(a), a.real, or numpy.sort(a), which orders "
            "them by real parts, then by imaginary ones."
        )


def _wide(dtype: Any) -> Any:
    """Return the dtype of sums on the way: float16 would round each of them."""
    return np.dtype(np.float32) if dtype is not None and np.dtype(dtype) == np.float16 else dtype


def _by_ufunc(
    array: DistArray,
    ufunc: np.ufunc,
    function: Callable[..., Any],
    start: int,
    axis: Axes,
    keepdims: bool,
    dtype: Any = None,
) -> Any:
    name = {"add": "sum", "multiply": "prod", "logical_or": "any"}.get(ufunc.__name__, "all")
    _require_numbers(array, name, dtype)
    if dtype is None and array.dtype == np.float16 and ufunc in (np.add, np.multiply):
        dtype = array.dtype
    part = array._library.reduced(ufunc, array.local, _axes(array, axis), _wide(dtype))
    is_bool = part.dtype == np.bool_
    result = _combine(array, part.view(np.uint8) if is_bool else part, axis, keepdims, function, start)
    if is_bool:
        return result.astype(np.bool_)
    return result if dtype is None or result.dtype == dtype else result.astype(dtype)


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
        whole = function(whole, team=_current.team())
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
    _require_order(array, which)
    ufunc, reduce = (np.minimum, atoll.min_reduce) if which == "min" else (np.maximum, atoll.max_reduce)
    its = array._library
    local = its.as_bytes(array.local) if kind == "b" else array.local
    start = _bound(its.dtype(local), which)
    part = its.reduced(ufunc, local, axes, None, start)
    result = _combine(array, part.astype(_wide(part.dtype)), axis, keepdims, reduce, start)
    if kind == "b":
        return result.astype(np.bool_)
    if kind != "f":
        return result
    if result.dtype != array.dtype:  # float16 was compared as float32
        result = result.astype(array.dtype)
    # Reductions of floating-point numbers may drop a NaN, which wins in NumPy.
    missing = its.reduced(np.logical_or, local != local, axes).view(np.uint8)
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


def _mean(array: DistArray, axis: Axes, keepdims: bool, dtype: Any = None) -> Any:
    axes = _axes(array, axis)
    _require_elements(array, axes, "mean")
    _require_numbers(array, "mean", dtype)
    usual = array.dtype if array.dtype.kind in "fc" else np.float64
    its = np.dtype(usual if dtype is None else dtype)
    part = array._library.reduced(np.add, array.local, axes, _wide(its))
    total = _combine(array, part, axis, keepdims, atoll.sum_reduce, 0)
    return (total / _count(array, axis)).astype(its)


def _var(array: DistArray, axis: Axes, keepdims: bool, ddof: float) -> Any:
    from ._ufuncs import part_of

    axes = _axes(array, axis)
    its = array._library
    is_half = array.dtype == np.float16
    mean = _mean(array, axis, True, np.float32 if is_half else None)
    distance = array.local - part_of(mean, array._layout, its)
    squares = (distance.conj() * distance).real if array.dtype.kind == "c" else distance * distance
    part = its.reduced(np.add, squares, axes)
    total = _combine(array, part, axis, keepdims, atoll.sum_reduce, 0)
    variance = total / part.dtype.type(max(_count(array, axis) - ddof, 0))
    return variance.astype(np.float16) if is_half else variance


def _place(array: DistArray, axis: int | None, keepdims: bool, smallest: bool) -> Any:
    _require_order(array, "argmin" if smallest else "argmax")
    if axis is not None:
        return argextreme(array, axis, keepdims, smallest)
    found = _first(array, smallest)
    return np.full((1,) * array.ndim, found) if keepdims else found


def _first(array: DistArray, smallest: bool) -> int:
    _require_elements(array, range(array.ndim), "argmin" if smallest else "argmax")
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
