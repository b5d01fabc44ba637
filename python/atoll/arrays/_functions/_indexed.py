"""Elements by distributed arrays of indices: each PE reads or writes those of its part of the indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _axis, _replicated
from .._compared import collective
from .._layout import Layout
from .._parts import Parts
from .._teams import _current
from .._together import before_barrier, in_place

if TYPE_CHECKING:
    from .._array import DistArray

WAYS = "Take b.to_numpy(), or a.at[b.local, ...].get() for this PE's part."


def has_distributed(key: Any) -> bool:
    """True for an index expression with a distributed array."""
    return isinstance(key, Parts) or (isinstance(key, tuple) and any(isinstance(k, Parts) for k in key))


def indices_of(a: Any, key: Any) -> list[DistArray]:
    """Return the distributed indices of an expression, one for each of the first axes.

    Raises
    ------
    IndexError
        If there are other indices beside them, or too many, or they are not integers of one distribution.
    """
    given: list[Any] = list(key) if isinstance(key, tuple) else [key]
    if given and given[-1] is Ellipsis:
        del given[-1]
    if not all(isinstance(k, Parts) for k in given):
        raise IndexError(
            f"a[b, ...]: distributed indices go along the first axes, and only '...' follows. {WAYS}"
        )
    if len(given) > a.ndim:
        raise IndexError(f"a[b, ...]: {len(given)} indices for an array of {a.ndim} axes.")
    for k in given:
        if k.dtype.kind not in "iu":
            raise IndexError(f"a[b]: b is {k!r}; expected integers, or bool in the shape {a.shape} of a.")
        if not k._layout.same_distribution(given[0]._layout):
            raise IndexError(f"a[b, c]: {given[0]!r} and {k!r} are distributed in different ways. {WAYS}")
    return given


@collective(name="a[indices]")
def elements(a: DistArray, indices: Sequence[DistArray]) -> DistArray:
    """Return the elements at distributed indices along the first axes, in their distribution. Collective.

    Parameters
    ----------
    a
        The array.
    indices
        Integers, arrays of one distribution.
    """
    from .._array import DistArray

    n = len(indices)
    rest = tuple(a.shape[n:])
    its = indices[0]._layout.without_halo()
    its = Layout.bare(*its.axes, *(_axis.block(length, 1) for length in rest)) if rest else its
    made = DistArray._of(its, a.dtype, zero=False)
    _current.barrier()
    with before_barrier():
        made.local[...] = a.at[tuple(each.local for each in indices)].get()
    return made


class ChosenByAll:
    """Elements chosen by distributed indices: `a.at[b]`. All PEs call; each works for its part of the indices.

    Parameters
    ----------
    array
        The array.
    key
        Distributed arrays of integers, one for each of the first axes; `array.at[key]` makes this object.
    """

    def __init__(self, array: DistArray, key: Any) -> None:
        self._array, self._indices = array, indices_of(array, key)

    def get(self) -> DistArray:
        """Return the elements in the distribution of the indices. Collective."""
        return elements(self._array, self._indices)

    def set(self, values: Any) -> None:
        """Write the elements. Collective; all PEs see them. If indices repeat, one of the values is kept.

        Parameters
        ----------
        values
            A number, or a distributed array in the shape and distribution of the indices.

        Raises
        ------
        ShapeMismatch
            If they are other arrays.
        """
        self._write("set", values)

    def add(self, values: Any) -> None:
        """Add to the elements, so that equal indices get every value. Collective; all PEs see them.

        Parameters
        ----------
        values
            A number, or a distributed array in the shape and distribution of the indices.

        Raises
        ------
        ShapeMismatch
            If they are other arrays.
        DtypeMismatch
            As for `add` with indices of NumPy.
        """
        self._write("add", values)

    def _write(self, how: str, values: Any) -> None:
        a, indices = self._array, self._indices
        its = indices[0]._layout
        is_part = isinstance(values, Parts)
        if is_part and not (
            values.shape[: len(its.shape)] == its.shape
            and all(x == y for x, y in zip(values._layout.axes, its.axes, strict=False))
            and len(values.shape) == len(its.shape)
        ):
            raise atoll.ShapeMismatch(
                f"a.at[b].{how}(x): x is {values!r}, b is {indices[0]!r}; expected one shape and distribution."
            )
        if not is_part and np.ndim(values):
            raise atoll.ShapeMismatch(
                f"a.at[b].{how}(x) with a distributed b takes a number, or a distributed x."
            )

        def write() -> None:
            own, given = (
                _replicated.in_blocks(indices),
                _replicated.in_blocks(values),
            )  # a copy would add once more
            chosen = a.at[tuple(each.local for each in own)]
            getattr(chosen, how)(given.local if is_part else given)

        in_place(f"a.at[indices].{how}", (a, indices, values), {}, write)


def taken(a: DistArray, indices: DistArray, axis: int | None) -> DistArray:
    """Return `numpy.take(a, indices, axis)` by distributed indices. Collective."""
    from . import _moves

    if axis is None:
        flat = a.reshape(-1) if a.ndim != 1 else a
        return elements(flat, indices_of(flat, indices))
    number = axis + a.ndim if axis < 0 else axis
    if not 0 <= number < a.ndim:
        raise IndexError(f"take: axis {axis} of an array of {a.ndim} axes.")
    first = _moves.transpose(a, [number, *range(number), *range(number + 1, a.ndim)]) if number else a
    found = elements(first, indices_of(first, indices))
    if not number:
        return found
    n = indices.ndim
    return _moves.transpose(found, [*range(n, n + number), *range(n), *range(n + number, found.ndim)])
