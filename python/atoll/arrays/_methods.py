"""Methods of a distributed array that return another one, and the functions of NumPy that become ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

import atoll

from . import _moves, _picking, _products, _scans, _sorting, _statistics
from ._compared import collective
from ._layout import is_one
from ._teams import _current

if TYPE_CHECKING:
    from ._array import DistArray


class Operations:
    """Operations of a distributed array that return another one. Each is collective over all PEs."""

    @property
    def T(self) -> DistArray:
        """The array with its axes reversed, a new array. Collective."""
        return _moves.transpose(_this(self))

    @property
    def mT(self) -> DistArray:
        """The array with its last two axes exchanged, a new array. Collective."""
        return _matrix_transpose(_this(self))

    def transpose(self, *axes: Any) -> DistArray:
        """Return the array with its axes in another order, a new array. Collective.

        Parameters
        ----------
        *axes
            A permutation of the axes, as arguments or one tuple. By default they are reversed.

        Returns
        -------
        DistArray
            In the distribution that follows from the permutation.

        Raises
        ------
        ValueError
            If they are no permutation of the axes.
        """
        given = axes[0] if len(axes) == 1 and not is_one(axes[0]) else axes or None
        return _moves.transpose(_this(self), given)

    def reshape(self, *shape: Any, **distribution: Any) -> DistArray:
        """Return the elements in C order in another shape, a new array. Collective.

        Parameters
        ----------
        *shape
            Lengths, as arguments or one tuple; -1 is the length that follows from the others.
        **distribution
            grid, dist and halo of `DistArray`; by default blocks.

        Returns
        -------
        DistArray

        Raises
        ------
        ValueError
            If the number of elements differs.
        TypeError
            If there is another keyword: elements are in C order.
        """
        _moves.require_keywords("a.reshape", distribution, "in C order")
        return _moves.reshape(_this(self), shape[0] if len(shape) == 1 else shape, **distribution)

    def ravel(self) -> DistArray:
        """Return the elements in C order as blocks of one axis, a new array. Collective.

        Returns
        -------
        DistArray
            One axis in blocks, never a view.
        """
        return _moves.reshape(_this(self), -1)

    def flatten(self) -> DistArray:
        """Return the elements in C order as blocks of one axis, a new array. Collective.

        Returns
        -------
        DistArray
            One axis in blocks, never a view.
        """
        return _moves.reshape(_this(self), -1)

    def round(self, decimals: int = 0) -> DistArray:
        """Return the elements rounded to some decimals. Collective.

        Parameters
        ----------
        decimals
            As for `numpy.round`; negative numbers round to tens.

        Returns
        -------
        DistArray
            In the distribution of this array.
        """
        return cast("DistArray", np.round(cast(Any, self), decimals))

    def clip(self, min: Any = None, max: Any = None) -> DistArray:
        """Return the elements, those outside a range replaced by its ends. Collective.

        Parameters
        ----------
        min, max
            Ends of the range: numbers, or arrays of this distribution. None: no end there.

        Returns
        -------
        DistArray
            In the distribution of this array.
        """
        return cast("DistArray", np.clip(cast(Any, self), min, max))

    def conj(self) -> DistArray:
        """Return the conjugate elements. Collective.

        Returns
        -------
        DistArray
            In the distribution of this array.
        """
        this = _this(self)
        return this.copy() if this.dtype == np.bool_ else cast("DistArray", np.conj(cast(Any, self)))

    def conjugate(self) -> DistArray:
        """Return the conjugate elements, as `conj`. Collective.

        Returns
        -------
        DistArray
            In the distribution of this array.
        """
        return self.conj()

    def swapaxes(self, axis1: int, axis2: int) -> DistArray:
        """Return the array with two axes exchanged, a new array. Collective.

        Parameters
        ----------
        axis1, axis2
            The axes; negative numbers count from the end.

        Returns
        -------
        DistArray
            In the distribution that follows from it.

        Raises
        ------
        IndexError
            If there is no such axis.
        """
        this = _this(self)
        order = list(range(this.ndim))
        first, second = this._layout.axis_number(axis1), this._layout.axis_number(axis2)
        order[first], order[second] = second, first
        return _moves.transpose(this, order)

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> DistArray:
        """Return the array without axes of length 1, a new array. Collective.

        Parameters
        ----------
        axis
            One axis, or a tuple of them. None: all of length 1.

        Returns
        -------
        DistArray
            In blocks. At least one axis stays.

        Raises
        ------
        ValueError
            If an axis is longer than 1.
        IndexError
            If there is no such axis.
        """
        this = _this(self)
        given = axis if isinstance(axis, tuple) else range(this.ndim) if axis is None else (axis,)
        axes = {this._layout.axis_number(number) for number in given}
        if axis is not None and any(this.shape[number] != 1 for number in axes):
            raise ValueError(f"a.squeeze(axis={axis!r}): the shape is {this.shape}; such axes have length 1.")
        left = [n for number, n in enumerate(this.shape) if n != 1 or number not in axes]
        return _moves.reshape(this, left or [1])

    @collective(on_gpus=True, on_copies=True)
    def sort(self, axis: int = -1) -> None:
        """Sort the elements along an axis in place. Collective; `numpy.sort(a)` makes another array.

        Parameters
        ----------
        axis
            One axis.

        Raises
        ------
        IndexError
            If there is no such axis.
        TypeError
            If the elements are no numbers.
        """
        this = _this(self)
        ordered = _sorting.sort(this, axis)
        if this._layout.has_copies:
            ordered.redistribute(out=this)
            return
        this.local[...] = ordered.local
        _current.barrier()

    def argsort(self, axis: int | None = -1) -> DistArray:
        """Return the indices that sort the array along an axis; equal elements keep their order. Collective.

        Parameters
        ----------
        axis
            One axis. None: the numbers in C order, along one axis.

        Returns
        -------
        DistArray
            int64, in the distribution of this array.

        Raises
        ------
        IndexError
            If there is no such axis.
        TypeError
            If the elements are no numbers.
        """
        return _sorting.argsort(_this(self), axis)

    @collective(on_gpus=True, on_copies=True)
    def fill(self, value: Any) -> None:
        """Write one value into all elements. Collective; `a[...] = value` of one PE writes all alone.

        Parameters
        ----------
        value
            A number, or a record as a tuple.

        Raises
        ------
        OverflowError, TypeError, ValueError
            If a number of Python does not fit the dtype, as by an assignment of NumPy.
        """
        from ._ufuncs import fill

        _current.barrier()
        fill(_this(self), value)
        _current.barrier()

    @property
    def real(self) -> DistArray:
        """The real parts, a new array. Collective."""
        return cast("DistArray", np.real(cast(Any, self)))

    @property
    def imag(self) -> DistArray:
        """The imaginary parts, a new array. Collective."""
        return cast("DistArray", np.imag(cast(Any, self)))

    def cumsum(self, axis: int | None = None, dtype: Any = None) -> DistArray:
        """Return the cumulative sums along an axis; without one those in C order. Collective.

        Parameters
        ----------
        axis
            One axis. None: the sums in C order, along one axis.
        dtype
            Of the result; by default that of `numpy.cumsum`.

        Returns
        -------
        DistArray
            In the distribution of this array; with axis None, of one axis.
        """
        return _scans.accumulate(_this(self), np.add, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: Any = None) -> DistArray:
        """Return the cumulative products along an axis; without one those in C order. Collective.

        Parameters
        ----------
        axis
            One axis. None: the products in C order, along one axis.
        dtype
            Of the result; by default that of `numpy.cumprod`.

        Returns
        -------
        DistArray
            In the distribution of this array; with axis None, of one axis.
        """
        return _scans.accumulate(_this(self), np.multiply, axis, dtype)

    def dot(self, other: Any) -> Any:
        """Return the product of vectors and matrices, `self @ other`. Collective.

        Parameters
        ----------
        other
            A distributed array, or one of NumPy that is the same on every PE.

        Returns
        -------
        DistArray or number
            A number for the product of two vectors.

        Raises
        ------
        ShapeMismatch
            If the lengths do not fit.
        """
        return _products.matmul(self, other)

    def nonzero(self) -> tuple[DistArray, ...]:
        """Return the indices of elements that are not zero, in C order, an array for each axis. Collective.

        Returns
        -------
        tuple of DistArray
            int64, in blocks.
        """
        return _moves.nonzero(_this(self))


def _this(array: Operations) -> DistArray:
    return cast("DistArray", array)


def _cumulative(ufunc: np.ufunc) -> Callable[..., Any]:
    def function(x: DistArray, /, axis: int | None = None, dtype: Any = None) -> DistArray:
        return _scans.accumulate(x, ufunc, axis, dtype)

    return function


def _cumulative_with_initial(ufunc: np.ufunc) -> Callable[..., Any]:
    def function(
        x: DistArray, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> DistArray:
        if axis is None and x.ndim > 1:
            raise ValueError("cumulative_sum and cumulative_prod of several axes need axis=.")
        found = _scans.accumulate(x, ufunc, axis, dtype)
        if not include_initial:
            return found
        if not x.size:
            raise ValueError("include_initial=True of a distributed array without elements.")
        widths = [(int(number == (axis or 0) % x.ndim), 0) for number in range(x.ndim)]
        return _picking.pad(found, widths, "constant", ufunc.identity)

    return function


def _astype(x: DistArray, dtype: Any, /, *, copy: bool = True) -> DistArray:
    return x if not copy and x.dtype == np.dtype(dtype) else x.astype(dtype)


def _count_nonzero(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    if axis is None and not keepdims and a.dtype.kind not in "biufc":
        return int(atoll.sum_reduce(np.array([np.count_nonzero(a.local)]), team=_current.team())[0])
    found = (a != 0).sum(axis=axis, keepdims=keepdims)
    return int(found) if np.ndim(found) == 0 else found


def _allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return bool(np.isclose(a, b, rtol, atol, equal_nan).all())


def _array_equal(a1: Any, a2: Any) -> bool:
    return np.shape(a1) == np.shape(a2) and bool(np.equal(a1, a2).all())


def _ptp(a: DistArray, axis: Any = None, *, keepdims: bool = False) -> Any:
    return a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims)


def _matrix_transpose(x: DistArray, /) -> DistArray:
    return _moves.transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


class UniqueCounts(NamedTuple):
    """The values that occur, and how often each does: two distributed arrays."""

    values: DistArray
    counts: DistArray


def _unique_counts(x: DistArray, /) -> UniqueCounts:
    return UniqueCounts(*_sorting.unique(x, return_counts=True, equal_nan=False))


def _unique_values(x: DistArray, /) -> Any:
    return _sorting.unique(x, equal_nan=False)


def _vector_norm(x: DistArray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return _products.vector_norm(x, None if ord == 2 else ord, axis, keepdims)


def _stable(function: Callable[..., Any]) -> Callable[..., Any]:
    def sorted_(
        a: DistArray, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None
    ) -> Any:
        return function(a, axis)

    return sorted_


def _flip(axis: int) -> Callable[[DistArray], DistArray]:
    return lambda m: _moves.flip(m, axis)


# The functions take NumPy's arguments as far as they make sense; other ones are a TypeError.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.cumsum: _cumulative(np.add),
    np.cumprod: _cumulative(np.multiply),
    np.cumulative_sum: _cumulative_with_initial(np.add),
    np.cumulative_prod: _cumulative_with_initial(np.multiply),
    np.sort: _stable(_sorting.sort),
    np.argsort: _stable(_sorting.argsort),
    np.unique: _statistics.unique,
    np.unique_all: _statistics.unique_all,
    np.unique_inverse: _statistics.unique_inverse,
    np.unique_values: _unique_values,
    np.unique_counts: _unique_counts,
    np.histogram: _statistics.histogram,
    np.bincount: _statistics.bincount,
    np.dot: _products.matmul,
    np.vdot: _products.vecdot,
    np.linalg.norm: _products.norm,
    np.linalg.vector_norm: _vector_norm,
    np.linalg.matmul: _products.matmul,
    np.linalg.matrix_transpose: _matrix_transpose,
    np.transpose: _moves.transpose,
    np.permute_dims: _moves.transpose,
    np.matrix_transpose: _matrix_transpose,
    np.reshape: _moves.reshape,
    np.ravel: lambda a: a.ravel(),
    np.roll: _moves.roll,
    np.flip: _moves.flip,
    np.flipud: _flip(0),
    np.fliplr: _flip(1),
    np.concatenate: _moves.concatenate,
    np.concat: _moves.concatenate,
    np.nonzero: _moves.nonzero,
    np.count_nonzero: _count_nonzero,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
    np.ptp: _ptp,
    np.astype: _astype,
    **{
        getattr(np, name): getattr(_picking, name)
        for name in (
            *(
                "take",
                "take_along_axis",
                "repeat",
                "tile",
                "pad",
                "expand_dims",
                "squeeze",
                "moveaxis",
                "stack",
            ),
            *("vstack", "hstack", "unstack", "broadcast_to", "diff"),
        )
    },
    **{
        getattr(np, name): getattr(_statistics, name)
        for name in (
            *("quantile", "percentile", "median", "average", "outer", "isin", "searchsorted", "argwhere"),
            *("nansum", "nanprod", "nanmean", "nanmin", "nanmax"),
        )
    },
}


def function_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Callable[..., Any] | None:
    """Return what computes a function of NumPy, or None."""
    if function is np.where and len(arguments) == 1:
        return _moves.nonzero
    return FUNCTIONS.get(function)
