"""Elements that arrays of indices or masks choose, by NumPy's rules of advanced indexing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _libraries
from .._compared import collective

if TYPE_CHECKING:
    from .._array import DistArray


def has_arrays(key: Any) -> bool:
    """True for an index expression with a list or an array of NumPy, or one of the library."""
    keys = key if isinstance(key, tuple) else (key,)
    return any(isinstance(k, list) or (hasattr(k, "dtype") and getattr(k, "ndim", 0) > 0) for k in keys)


def has_new_axes(key: Any) -> bool:
    """True for an index expression with None, which is numpy.newaxis."""
    return key is None or (isinstance(key, tuple) and any(each is None for each in key))


def without_masks(key: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return an index expression with the indices that masks of NumPy choose in place of the masks.

    Raises
    ------
    IndexError
        If a mask has another shape than the shape of its axes.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    found: list[Any] = []
    for number, k in enumerate(keys):
        given = np.asarray(k) if isinstance(k, list) else k
        if not (isinstance(given, np.ndarray) and given.dtype == np.bool_ and given.ndim):
            found.append(k)
            continue
        axes = shape[len(found) : len(found) + given.ndim]
        if any(each is Ellipsis for each in keys[:number]):
            later = (np.asarray(each) if isinstance(each, list) else each for each in keys[number + 1 :])
            rest = sum(
                each.ndim if getattr(each, "dtype", None) == np.bool_ and each.ndim else 1 for each in later
            )
            axes = shape[len(shape) - rest - given.ndim : len(shape) - rest]
        if axes != given.shape:
            raise IndexError(f"a mask has shape {given.shape}; expected {axes}, the shape of its axes.")
        found.extend(given.nonzero())
    return tuple(found)


def with_virtual_axes(
    key: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[tuple[Any, ...], tuple[int, ...], list[bool]]:
    """Return an index expression whose None are slices of axes of length 1, the shape with these, and which they are.

    Raises
    ------
    IndexError
        If there are more indices than axes.
    """
    given = [np.asarray(k) if isinstance(k, list) else k for k in key]
    takes = [
        0 if k is None else k.ndim if getattr(k, "dtype", None) == np.bool_ and k.ndim else 1 for k in given
    ]
    positions = [i for i, k in enumerate(given) if k is Ellipsis]
    if len(positions) > 1:
        raise IndexError("an index has at most one '...'.")
    missing = len(shape) - sum(takes) + len(positions)
    if missing < 0:
        raise IndexError(f"a[...]: {sum(takes) - len(positions)} indices for an array of {len(shape)} axes.")
    at = positions[0] if positions else len(given)
    given[at : at + 1] = [slice(None)] * missing
    takes[at : at + 1] = [1] * missing
    longer: list[int] = []
    is_new: list[bool] = []
    left = list(shape)
    for k, n in zip(given, takes, strict=True):
        longer += [1] if k is None else left[:n]
        is_new += [True] if k is None else [False] * n
        del left[:n]
    return tuple(slice(None) if k is None else k for k in given), tuple(longer), is_new


def expanded(key: tuple[Any, ...], shape: tuple[int, ...], library: _libraries.Library) -> list[Any]:
    """Return one array of indices for each axis, which broadcast against each other; NumPy's rules order the axes.

    Raises
    ------
    IndexError
        If there are more indices than axes.
    """
    keys = list(without_masks(key, shape))
    positions = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(positions) > 1:
        raise IndexError("an index has at most one '...'.")
    missing = len(shape) - (len(keys) - len(positions))
    if missing < 0:
        raise IndexError(
            f"a.at[...]: {len(keys) - len(positions)} indices for an array of {len(shape)} axes."
        )
    at = positions[0] if positions else len(keys)
    keys[at : at + 1] = [slice(None)] * missing
    if not any(isinstance(k, slice) for k in keys):
        return keys
    arrays = [i for i, k in enumerate(keys) if not isinstance(k, slice)]
    given = {i: library.array(keys[i]) for i in arrays}
    dims = max((given[i].ndim for i in arrays), default=0)
    together = not arrays or arrays[-1] - arrays[0] + 1 == len(arrays)
    before = arrays[0] if arrays and together else 0
    slices = [i for i in range(len(keys)) if i not in arrays]
    found: list[Any] = list(keys)
    for i in arrays:
        found[i] = given[i].reshape((*given[i].shape, *(1,) * (len(slices) - before)))
    for position, i in enumerate(slices):
        start, stop, step = keys[i].indices(shape[i])
        along = library.array(np.arange(start, stop, step))
        behind = len(slices) - 1 - position + (dims if position < before else 0)
        found[i] = along.reshape((-1,) + (1,) * behind)
    return found


@collective(name="a[mask] = b", on_gpus=True, on_copies=True)
def put_chosen(a: DistArray, mask: DistArray, values: DistArray) -> None:
    """Write distributed values, one axis in C order, to the elements where a mask is True. Collective.

    Raises
    ------
    ShapeMismatch
        If their number is not that of the mask's True elements.
    """
    from .._functions._moves import reshape
    from .._functions._scans import accumulate

    count = int(mask.sum())
    if values.shape != (count,):
        raise atoll.ShapeMismatch(
            f"a[mask] = b: b has shape {values.shape}, and the mask chooses {count} elements in C order; expected "
            f"({count},). For an array of the shape of a, use numpy.where(mask, b, a)."
        )
    flat = reshape(mask, -1) if mask.ndim > 1 else mask
    ranks = accumulate(flat, np.add, 0, np.int64)
    if mask.ndim > 1:
        ranks = reshape(ranks, a.shape)
    if not ranks._layout.same_distribution(a._layout):
        ranks = ranks.redistribute(like=a)
    where = mask.local
    chosen = values.at[ranks.local[where] - 1].get()
    a.barrier()
    a.local[where] = chosen
    a.barrier()
