"""Updates that all PEs call with the same arguments, as `numpy.add.at`: each PE does a share, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._functions._indexed import has_distributed
from .._functions._picking import expand_dims
from .._libraries import HOST
from .._together import in_place
from ._chosen import expanded

if TYPE_CHECKING:
    from .._array import DistArray

ADDING = (np.add, np.subtract)


def add_at(ufunc: np.ufunc, a: DistArray, key: Any, values: Any) -> None:
    """Add to the elements that indices choose, or subtract, so that equal indices get every value. Collective.

    Parameters
    ----------
    ufunc
        One of `ADDING`.
    a
        The array.
    key
        The indices, the same on every PE, of which each PE works for a share. Or distributed arrays of integers.
    values
        Numbers that broadcast to the indices; with distributed ones as for `a.at[key].add`.
    """
    from .._methods._derived import require_own

    require_own(a, f"np.{ufunc.__name__}.at(b, ...)")
    amount = values if ufunc is np.add else np.negative(values)
    if has_distributed(key):
        a.at[key].add(amount)
        return
    if hasattr(values, "_layout"):
        raise TypeError(
            f"numpy.{ufunc.__name__}.at: the values are distributed, and the indices are not; make these distributed, too."
        )
    every = [np.asarray(each) for each in expanded(key if isinstance(key, tuple) else (key,), a.shape, HOST)]
    shape = np.broadcast_shapes(*(each.shape for each in every))
    try:
        given = np.broadcast_to(amount, shape)
    except ValueError:
        raise atoll.ShapeMismatch(
            f"numpy.{ufunc.__name__}.at: values of shape {np.shape(values)} for indices of {shape}."
        ) from None
    size = int(np.prod(shape, dtype=np.int64))
    share = np.unravel_index(np.arange(a._me, size, a._n_pes), shape) if shape else ()
    if shape or a._me == 0:
        chosen = tuple(np.broadcast_to(each, shape)[share].reshape(-1) for each in every)
        a.at[chosen].add(given[share].reshape(-1))


def write_rows(a: DistArray, mask: DistArray, value: Any) -> None:
    """Write a number to the rows that a mask of the first axes chooses. Collective; each PE writes its own part.

    Raises
    ------
    ShapeMismatch
        If the value is an array.
    """
    from .._ufuncs import part_of

    if np.ndim(value):
        raise atoll.ShapeMismatch(
            f"a[mask] = value with a mask of shape {mask.shape} for {a.shape} takes a number; for arrays write "
            "a[...] = numpy.where(numpy.expand_dims(mask, -1), b, a)."
        )
    wide = expand_dims(mask, list(range(mask.ndim, a.ndim)))

    def write() -> None:
        a.local[np.asarray(part_of(wide, a._layout))] = value

    in_place("a[mask] = x", (a, wide, value), {}, write)
