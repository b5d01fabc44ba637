"""The reductions of a distributed array: each PE reduces its part, then all parts are combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from .._compared import collective
from .._functions._combined import Axes, axes_of, by_ufunc, there
from .._functions._elements import reduction
from .._functions._extremes import extreme, extreme_index
from .._functions._moments import mean, variance
from .._updates._exact import reproducible_sum

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


class Reductions:
    """The reductions of a distributed array.

    Each is collective, and its result is the same on every PE. It is a number, or an array of the remaining axes: NumPy's,
    or on GPUs that of the parts' library. Arguments after axis and dtype are given by name.
    """

    @collective(on_gpus=True)
    def sum(
        self,
        axis: Axes = None,
        dtype: Any = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
        reproducible: bool = False,
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
        initial
            A number with which the result begins, also without elements.
        where
            A mask that broadcasts to the array: other elements are left out.
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
            If a reproducible sum is asked for in another dtype, of long doubles, or with `where` or `initial`.
        """
        if initial is not None or where is not True:
            if reproducible:
                raise TypeError(
                    "a.sum(reproducible=True) takes no where= or initial=; write np.where(mask, a, 0).sum(reproducible=True)."
                )
            return reduction("sum")(_this(self), axis, dtype, keepdims=keepdims, where=where, initial=initial)
        this = _this(self)
        if reproducible and this.dtype.kind in "fc":
            if (dtype is not None and np.dtype(dtype) != this.dtype) or this.dtype.char in "gG":
                raise TypeError("a.sum(reproducible=True) has the dtype of a, float16 to complex128.")
            return reproducible_sum(this, axes_of(this, axis), keepdims)
        return there(_this(self), by_ufunc(this, np.add, atoll.sum_reduce, 0, axis, keepdims, dtype))

    @collective(on_gpus=True)
    def prod(
        self,
        axis: Axes = None,
        dtype: Any = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """Return the product along axes, by default all. By default the dtype is that of `numpy.prod`. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        dtype
            Of the result and of the products on the way.
        keepdims
            Leave the reduced axes in the result, with length 1.
        initial
            A number with which the result begins, also without elements.
        where
            A mask that broadcasts to the array: other elements are left out.

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
        if initial is not None or where is not True:
            return reduction("prod")(
                _this(self), axis, dtype, keepdims=keepdims, where=where, initial=initial
            )
        return there(
            _this(self), by_ufunc(_this(self), np.multiply, atoll.prod_reduce, 1, axis, keepdims, dtype)
        )

    @collective(on_gpus=True)
    def min(
        self, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        """Return the smallest element along axes, by default all; NaN if there is one. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.
        initial
            A number with which the result begins, also without elements.
        where
            A mask that broadcasts to the array: other elements are left out.

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
            If an axis has no elements and no `initial`, or is named twice. If there is a mask without `initial`.
        """
        if initial is not None or where is not True:
            return reduction("min")(_this(self), axis, keepdims=keepdims, where=where, initial=initial)
        return there(_this(self), extreme(_this(self), axis, keepdims, "min"))

    @collective(on_gpus=True)
    def max(
        self, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        """Return the largest element along axes, by default all; NaN if there is one. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.
        initial
            A number with which the result begins, also without elements.
        where
            A mask that broadcasts to the array: other elements are left out.

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
            If an axis has no elements and no `initial`, or is named twice. If there is a mask without `initial`.
        """
        if initial is not None or where is not True:
            return reduction("max")(_this(self), axis, keepdims=keepdims, where=where, initial=initial)
        return there(_this(self), extreme(_this(self), axis, keepdims, "max"))

    @collective(on_gpus=True)
    def any(self, axis: Axes = None, *, keepdims: bool = False, where: Any = True) -> Any:
        """Return True where any element along axes is true. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.
        where
            A mask that broadcasts to the array: other elements are left out.

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
        if where is not True:
            return reduction("any")(_this(self), axis, keepdims=keepdims, where=where)
        return there(_this(self), by_ufunc(_this(self), np.logical_or, atoll.max_reduce, 0, axis, keepdims))

    @collective(on_gpus=True)
    def all(self, axis: Axes = None, *, keepdims: bool = False, where: Any = True) -> Any:
        """Return True where all elements along axes are true. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        keepdims
            Leave the reduced axes in the result, with length 1.
        where
            A mask that broadcasts to the array: other elements are left out.

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
        if where is not True:
            return reduction("all")(_this(self), axis, keepdims=keepdims, where=where)
        return there(_this(self), by_ufunc(_this(self), np.logical_and, atoll.min_reduce, 1, axis, keepdims))

    @collective(on_gpus=True)
    def mean(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, where: Any = True) -> Any:
        """Return the mean along axes, by default all. By default the dtype is that of `numpy.mean`. Collective.

        Parameters
        ----------
        axis
            An axis, or a tuple of them. None: all.
        dtype
            Of the result and of the sums on the way.
        keepdims
            Leave the reduced axes in the result, with length 1.
        where
            A mask that broadcasts to the array: other elements are left out.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE. NaN of no
            elements, with a warning, as by NumPy.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        """
        if where is not True:
            return reduction("mean")(_this(self), axis, dtype, keepdims=keepdims, where=where)
        return there(_this(self), mean(_this(self), axis, keepdims, dtype))

    @collective(on_gpus=True)
    def var(
        self,
        axis: Axes = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
        where: Any = True,
        correction: float | None = None,
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
        where
            A mask that broadcasts to the array: other elements are left out.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE. NaN of no
            elements, with a warning, as by NumPy.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        """
        if where is not True:
            return reduction("var")(
                _this(self), axis, ddof=ddof, keepdims=keepdims, where=where, correction=correction
            )
        return there(
            _this(self), variance(_this(self), axis, keepdims, ddof if correction is None else correction)
        )

    @collective(on_gpus=True)
    def std(
        self,
        axis: Axes = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
        where: Any = True,
        correction: float | None = None,
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
        where
            A mask that broadcasts to the array: other elements are left out.

        Returns
        -------
        Any
            A number of NumPy if no axis is left, else an ordinary array of the library of the parts; the same on every PE. NaN of no
            elements, with a warning, as by NumPy.

        Raises
        ------
        IndexError
            If there is no such axis.
        DtypeMismatch
            If elements of this dtype are not combined over PEs, as strings.
        ValueError
            If an axis is named twice.
        """
        if where is not True:
            return reduction("std")(
                _this(self), axis, ddof=ddof, keepdims=keepdims, where=where, correction=correction
            )
        return there(
            _this(self),
            np.sqrt(variance(_this(self), axis, keepdims, ddof if correction is None else correction)),
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
        return there(_this(self), extreme_index(_this(self), axis, keepdims, smallest=True))

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
        return there(_this(self), extreme_index(_this(self), axis, keepdims, smallest=False))

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
        """Return the sum of a diagonal, the same on every PE. Collective.

        Parameters
        ----------
        offset, axis1, axis2, dtype
            As for `numpy.trace`.

        Returns
        -------
        Any
            A number; a NumPy array for more than two axes.
        """
        return np.trace(cast(Any, self), offset, axis1, axis2, dtype)


def _this(array: Reductions) -> DistArray:
    return cast("DistArray", array)
