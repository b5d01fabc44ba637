"""Updates that all PEs call with the same arguments, as `numpy.add.at`: each PE does a share, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _replicated
from .._at import summand, wrapped
from .._functions._indexed import has_distributed, indices_of, taken
from .._functions._moves import reshape
from .._functions._picking import expand_dims
from .._functions._scans import accumulate
from .._libraries import HOST
from .._together import before_barrier, in_place
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
    if has_distributed(key):
        own = _replicated.in_blocks(indices_of(a, key))
        with before_barrier():  # an error leaves the array as it was
            _ = a.at[tuple(each.local for each in own)]
        a.at[key].add(_amount(ufunc, a, values))
        return
    if hasattr(values, "_layout"):
        raise TypeError(
            f"numpy.{ufunc.__name__}.at: the values are distributed, and the indices are not; make these distributed, too."
        )
    amount = _amount(ufunc, a, values)
    keys = expanded(key if isinstance(key, tuple) else (key,), a.shape, HOST)
    # All are checked before any PE adds, so that an error leaves the array as it was.
    every = [wrapped(each, n) for each, n in zip(keys, a.shape, strict=True)]
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


def _amount(ufunc: np.ufunc, a: DistArray, values: Any) -> Any:
    """Return the summands in the dtype of the elements. They are negated after the conversion, as small integers need."""
    if ufunc is np.add:
        return values
    if not hasattr(values, "_layout"):
        return np.negative(summand(values, a.dtype))
    if not np.can_cast(values.dtype, a.dtype, "same_kind"):
        raise TypeError(
            f"numpy.{ufunc.__name__}.at: values of {values.dtype} for elements of {a.dtype}; convert them first."
        )
    return np.negative(values.astype(a.dtype))


def write_rows(a: DistArray, mask: DistArray, value: Any) -> None:
    """Write a number, or distributed rows, to the rows that a mask of the first axes chooses. Collective.

    Each PE writes its own part. It reads only those distributed rows that its part needs.

    Raises
    ------
    ShapeMismatch
        If the value is an array of NumPy, or has another number of rows.
    """
    from .._ufuncs import part_of

    if np.ndim(value) and not hasattr(value, "_layout"):
        raise atoll.ShapeMismatch(
            f"a[mask] = value with a mask of shape {mask.shape} for {a.shape} takes a number, or distributed rows. For other "
            "arrays write a[...] = numpy.where(numpy.expand_dims(mask, -1), b, a)."
        )
    if hasattr(value, "_layout"):
        value = _spread(a, mask, value)
    wide = expand_dims(mask, list(range(mask.ndim, a.ndim)))

    def write() -> None:
        chosen = np.asarray(part_of(wide, a._layout))
        if hasattr(value, "_layout"):
            np.copyto(a.local, part_of(value, a._layout), where=chosen, casting="unsafe")
        else:
            a.local[chosen] = value

    in_place("a[mask] = x", (a, wide, value), {}, write)


def _spread(a: DistArray, mask: DistArray, rows: DistArray) -> Any:
    """Return an array of the shape of another one that has distributed rows where a mask is True. Collective."""
    count = int(mask.sum())
    if rows.shape != (count, *a.shape[mask.ndim :]):
        raise atoll.ShapeMismatch(
            f"a[mask] = b: b has shape {rows.shape}, and the mask chooses {count} rows; expected "
            f"{(count, *a.shape[mask.ndim :])}."
        )
    if not count:
        return 0  # no row is written
    flat = reshape(mask, -1) if mask.ndim > 1 else mask
    ranks = np.maximum(accumulate(flat, np.add, 0, np.int64) - 1, 0)
    return taken(rows, reshape(ranks, mask.shape) if mask.ndim > 1 else ranks, 0)
