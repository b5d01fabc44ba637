"""One element as a number, and what NumPy's arrays tell of themselves."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from .._array import DistArray


class Scalars:
    """Conversions of arrays of one element, by any PE, and sizes. Not collective."""

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return _this(self).dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the elements of all parts together."""
        return _this(self).size * self.itemsize

    def item(self, *index: Any) -> Any:
        """Return one element as a number of Python. Not collective; a read as by `a[index]`.

        Parameters
        ----------
        *index
            One integer for each axis, or its number in C order. Nothing for an array of one element.

        Returns
        -------
        Any
            A number of Python, or a tuple for a record.

        Raises
        ------
        ValueError
            If no index is given, and the array has more or less than one element.
        IndexError
            If it is not one element of the array.
        """
        array = _this(self)
        position: Any = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
        if not position:
            if array.size != 1:
                raise ValueError(
                    f"a.item(): the array has {array.size} elements; give the index of one, or use a.to_numpy()."
                )
            position = (0,) * array.ndim
        elif len(position) == 1 and array.ndim > 1:
            number = operator.index(position[0])
            if not -array.size <= number < array.size:
                raise IndexError(f"a.item({number}): the array has {array.size} elements.")
            position = tuple(int(i) for i in np.unravel_index(number % array.size, array.shape))
        if len(position) != array.ndim or any(isinstance(i, slice) or i is Ellipsis for i in position):
            raise IndexError(f"a.item{index}: expected one integer for each of the {array.ndim} axes.")
        return array[position].item()

    def tolist(self) -> Any:
        """Return the whole array as nested lists on every PE. Collective, as `to_numpy`.

        Returns
        -------
        list
            Numbers of Python.
        """
        return _this(self).to_numpy().tolist()

    def __float__(self) -> float:
        return float(_one(self, "float"))

    def __int__(self) -> int:
        return int(_one(self, "int"))

    def __complex__(self) -> complex:
        return complex(_one(self, "complex"))

    def __format__(self, form: str) -> str:
        if not form:
            return str(self)
        if _this(self).size != 1:
            raise TypeError(
                f"format {form!r} of a distributed array takes one element; use a[box], or a.to_numpy()."
            )
        return format(self.item(), form)


def _this(array: Scalars) -> DistArray:
    return cast("DistArray", array)


def _one(array: Scalars, name: str) -> Any:
    if _this(array).size != 1:
        raise TypeError(
            f"{name}(a) takes a distributed array of one element, and this one has shape {_this(array).shape}; use a[index]."
        )
    return array.item()
