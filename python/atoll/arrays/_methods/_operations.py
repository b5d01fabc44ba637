"""The methods of a distributed array that return another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._compared import collective
from .._functions import _moves, _products, _scans, _sorting
from .._layout import is_one
from .._teams import _current
from .._together import in_place

if TYPE_CHECKING:
    from .._array import DistArray


class Operations:
    """Operations of a distributed array that return another one. Each is collective over all PEs."""

    @property
    def T(self) -> DistArray:
        """The array with its axes reversed, a new array. Collective."""
        return _copied(self, _moves.transpose(_this(self)), "a.T")

    @property
    def mT(self) -> DistArray:
        """The array with its last two axes exchanged, a new array. Collective."""
        return _copied(self, _moves.matrix_transpose(_this(self)), "a.mT")

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
        return _copied(self, _moves.transpose(_this(self), given), "a.transpose()")

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
        wanted = shape[0] if len(shape) == 1 else shape
        return _copied(self, _moves.reshape(_this(self), wanted, **distribution), "a.reshape()")

    def ravel(self, order: str = "C") -> DistArray:
        """Return the elements in C order as blocks of one axis, a new array. Collective.

        Parameters
        ----------
        order
            "C", "K" or "A", which are the same here.

        Returns
        -------
        DistArray
            One axis in blocks, never a view.

        Raises
        ------
        TypeError
            If it is another order.
        """
        _moves.require_c_order("a.ravel", order)
        return _copied(self, _moves.reshape(_this(self), -1), "a.ravel()")

    def flatten(self, order: str = "C") -> DistArray:
        """Return the elements in C order as blocks of one axis, a new array. Collective.

        Parameters
        ----------
        order
            "C", "K" or "A", which are the same here.

        Returns
        -------
        DistArray
            One axis in blocks, never a view.

        Raises
        ------
        TypeError
            If it is another order.
        """
        _moves.require_c_order("a.flatten", order)
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
        return _copied(self, _moves.transpose(this, order), "a.swapaxes()")

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Any:
        """Return the array without axes of length 1, a new array. Collective.

        Parameters
        ----------
        axis
            One axis, or a tuple of them. None: all of length 1.

        Returns
        -------
        DistArray or number
            In blocks. If no axis is left, the number of NumPy, the same on every PE.

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
        return _copied(self, _moves.reshape(this, left), "a.squeeze()") if left else _moves.only_element(this)

    @collective(on_gpus=True, on_copies=True)
    def sort(self, axis: int = -1, kind: str | None = None) -> None:
        """Sort the elements along an axis in place. Collective; `numpy.sort(a)` makes another array.

        Parameters
        ----------
        axis
            One axis.
        kind
            As NumPy's. Every kind has the same result.

        Raises
        ------
        IndexError
            If there is no such axis.
        TypeError
            If the elements are no numbers.
        """
        this = _this(self)
        _require_own(this, "b.sort()")
        _sorting.require_kind(kind)
        if not is_one(axis):
            raise TypeError(
                f"a.sort(axis={axis!r}): expected one axis; for all elements take np.sort(a, axis=None)."
            )
        ordered = _sorting.sort(this, axis)
        if this._layout.has_copies:
            ordered.redistribute(out=this)
            return
        this.local[...] = ordered.local
        _current.barrier()

    def argsort(self, axis: int | None = -1, kind: str | None = None) -> DistArray:
        """Return the indices that sort the array along an axis; equal elements keep their order. Collective.

        Parameters
        ----------
        axis
            One axis. None: the numbers in C order, along one axis.
        kind
            As NumPy's. Every kind is stable.

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
        _sorting.require_kind(kind)
        return _sorting.argsort(_this(self), axis)

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
        from .._ufuncs import fill

        def write() -> None:
            _require_own(self, "b.fill(x)")
            fill(_this(self), value)

        in_place("fill", (self, value), {}, write)

    @property
    def real(self) -> DistArray:
        """The real parts, a new array; `a.real = x` writes them. Collective."""
        return cast("DistArray", np.real(cast(Any, self)))

    @real.setter
    def real(self, value: Any) -> None:
        _write_parts(_this(self), "real", value)

    @property
    def imag(self) -> DistArray:
        """The imaginary parts, a new array; `a.imag = x` writes them. Collective."""
        return cast("DistArray", np.imag(cast(Any, self)))

    @imag.setter
    def imag(self, value: Any) -> None:
        if _this(self).dtype.kind != "c":
            raise TypeError(f"a.imag = x: elements of {_this(self).dtype} have no imaginary parts.")
        _write_parts(_this(self), "imag", value)

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
        """Return NumPy's product: `self @ other` of vectors and matrices, `self * other` of a number. Collective.

        Parameters
        ----------
        other
            A distributed array, one of NumPy that is the same on every PE, or a number.

        Returns
        -------
        DistArray or number
            A number for the product of two vectors.

        Raises
        ------
        ShapeMismatch
            If the lengths do not fit.
        """
        return _products.dot(self, other)

    def __contains__(self, value: Any) -> bool:
        """Return True if an element is equal to a value, as NumPy's arrays do. Collective."""
        return bool((cast(Any, self) == value).any())

    def __pow__(self, exponent: Any) -> Any:
        """Return the power by NumPy's operator `**`, which computes squares of bool in int8. Collective."""
        if type(exponent) is int and exponent == 2 and _this(self).dtype == np.bool_:
            return np.square(cast(Any, self))
        return NDArrayOperatorsMixin.__pow__(cast(Any, self), exponent)

    def take(self, indices: Any, axis: int | None = None) -> DistArray:
        """Return the elements at some indices along an axis; without one, of the flat array. Collective.

        Parameters
        ----------
        indices
            Integers, the same on every PE, or a distributed array of them.
        axis
            The axis. None: the elements in C order.

        Returns
        -------
        DistArray
            In blocks, or in the distribution of the indices.

        Raises
        ------
        IndexError
            If an index is out of range.
        """
        return cast("DistArray", np.take(cast(Any, _this(self)), indices, axis))

    def repeat(self, repeats: Any, axis: int | None = None) -> DistArray:
        """Return an array in which each element is repeated along an axis; without one, flat. Collective.

        Parameters
        ----------
        repeats
            How often: a number, or one for each index.
        axis
            The axis. None: the elements in C order.

        Returns
        -------
        DistArray
            In blocks.
        """
        return cast("DistArray", np.repeat(cast(Any, _this(self)), repeats, axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> DistArray:
        """Return a diagonal of two axes as the last axis, a copy in blocks. Collective.

        Parameters
        ----------
        offset, axis1, axis2
            As for `numpy.diagonal`.

        Returns
        -------
        DistArray
        """
        return cast("DistArray", np.diagonal(cast(Any, self), offset, axis1, axis2))

    def searchsorted(self, v: Any, side: Any = "left") -> Any:
        """Return the places in this sorted vector where values belong. Collective.

        Parameters
        ----------
        v
            Numbers, the same on every PE, or a distributed array.
        side
            "left" or "right", as for `numpy.searchsorted`.

        Returns
        -------
        Any
            NumPy's array, the same on every PE; for a distributed `v` an array in its distribution.
        """
        return np.searchsorted(cast(Any, self), v, side)

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


def _copied(source: Any, made: DistArray, by: str) -> DistArray:
    from ._derived import derived

    return derived(source, made, by)


def _require_own(array: Any, call: str) -> None:
    from ._derived import require_own

    require_own(array, call)


def _write_parts(a: DistArray, name: str, value: Any) -> None:
    """Write the real or imaginary parts of all elements. Collective."""
    from .._ufuncs import part_of

    def write() -> None:
        _require_own(a, f"b.{name} = x")
        getattr(a.local, name)[...] = part_of(value, a._layout, a._library)

    in_place(f"a.{name} = x", (a, value), {}, write)
