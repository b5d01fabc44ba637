"""Diagonals, triangles, covariances, and arrays cut into several or joined from several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._compared import collective
from .._teams import _current
from .._together import before_barrier
from . import _along, _contractions, _moves, _picking, _products

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def swapaxes(a: DistArray, axis1: int, axis2: int) -> DistArray:
    """Return the array with two axes exchanged. Collective."""
    return a.swapaxes(axis1, axis2)


@collective()
def diagonal(a: DistArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> DistArray:
    """Return a diagonal of two axes as the last axis, in blocks. Collective; each PE reads what its block gets."""
    from .._array import DistArray

    if a.ndim < 2:
        raise ValueError(f"diagonal: an array of shape {a.shape} has no two axes.")
    one, two = a._layout.axis_number(axis1), a._layout.axis_number(axis2)
    if one == two:
        raise ValueError(f"diagonal: axis1 and axis2 are both {one}.")
    rest = [number for number in range(a.ndim) if number not in (one, two)]
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(a.shape[one] - down, a.shape[two] - right), 0)
    made = DistArray([*(a.shape[number] for number in rest), length], a.dtype)
    _current.barrier()
    own = [np.arange(*bounds) for bounds in made.bounds()]
    if made.local.size:
        grid = np.ix_(*own)
        key: list[Any] = [None] * a.ndim
        for number, index in zip(rest, grid, strict=False):
            key[number] = index
        key[one], key[two] = grid[-1] + down, grid[-1] + right
        made.local[...] = a.at[tuple(key)].get()
    _current.barrier()
    return made


def trace(a: DistArray, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """Return the sum of a diagonal, the same on every PE. Collective."""
    return diagonal(a, offset, axis1, axis2).sum(-1, dtype)


@collective()
def diag(v: DistArray, k: int = 0) -> DistArray:
    """Return a matrix with a vector on a diagonal, or the diagonal of a matrix, in blocks. Collective."""
    from .._array import DistArray

    if v.ndim != 1:
        if v.ndim != 2:
            raise ValueError(f"diag: an array of shape {v.shape}; expected one or two axes.")
        return diagonal(v, k)
    n = len(v) + abs(k)
    made = DistArray((n, n), v.dtype)
    _current.barrier()
    (top, bottom), (left, right) = made.bounds()
    first = max(top - max(-k, 0), left - max(k, 0), 0)
    last = min(bottom - max(-k, 0), right - max(k, 0), len(v))
    if first < last:
        places = np.arange(first, last)
        made.local[places + max(-k, 0) - top, places + max(k, 0) - left] = v[first:last]
    _current.barrier()
    return made


@collective()
def tril(m: DistArray, k: int = 0) -> DistArray:
    """Return a copy with zeros above a diagonal of the last two axes. Collective; nothing moves."""
    return _triangle(m, k, True)


@collective()
def triu(m: DistArray, k: int = 0) -> DistArray:
    """Return a copy with zeros below a diagonal of the last two axes. Collective; nothing moves."""
    return _triangle(m, k, False)


def _triangle(m: DistArray, k: int, is_lower: bool) -> DistArray:
    if m.ndim < 2:
        raise ValueError(f"a triangle of an array of shape {m.shape}: expected two axes or more.")
    from_diagonal = m.global_indices(-1) - m.global_indices(-2)[:, None]
    kept = from_diagonal <= k if is_lower else from_diagonal >= k
    return type(m)._from_part(m._layout, np.where(kept, m.local, m.dtype.type(0)))


def inner(a: Any, b: Any, /) -> Any:
    """Return the products along the last axes, summed. Collective; as NumPy's."""
    if not np.ndim(a) or not np.ndim(b):
        return np.multiply(a, b)
    return _products.dot(a, b) if np.ndim(a) == np.ndim(b) == 1 else _contractions.tensordot(a, b, (-1, -1))


@collective()
def cov(m: DistArray, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Any:
    """Return the covariances of variables, a NumPy array or a number, the same on every PE. Collective."""
    rows = _moves.transpose(m) if m.ndim == 2 and not rowvar else m
    rows = _picking.expand_dims(rows, 0) if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise ValueError(f"cov: an array of shape {m.shape}; expected one or two axes.")
    if y is not None:
        more: Any = y if rowvar or np.ndim(y) < 2 else np.transpose(y)
        return cov(_picking.vstack([rows, more]), None, True, bias, ddof)
    mean = rows.astype(np.result_type(rows.dtype, np.float64), copy=False).mean(1, keepdims=True)
    moved = rows - mean  # float64 or more, as in NumPy
    factor = rows.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    other = _moves.transpose(moved)
    other = other.conj() if other.dtype.kind == "c" else other
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (moved @ other).to_numpy() / np.float64(max(factor, 0))
    return found.squeeze()[()]


def corrcoef(x: DistArray, y: Any = None, rowvar: bool = True) -> Any:
    """Return the correlations of variables, a NumPy array or a number, the same on every PE. Collective."""
    found = cov(x, y, rowvar)
    if not np.ndim(found):
        return found / found
    deviations = np.sqrt(np.diag(found).real)
    found = found / deviations[:, None] / deviations
    np.clip(found.real, -1, 1, out=found.real)
    return found


@collective()
def array_split(ary: DistArray, indices_or_sections: Any, axis: int = 0) -> list[DistArray]:
    """Return arrays cut along an axis, in blocks, of nearly equal lengths or at indices. Collective."""
    number = ary._layout.axis_number(axis)
    n = ary.shape[number]
    if np.ndim(indices_or_sections):
        cuts = [0, *(slice(int(i)).indices(n)[1] for i in indices_or_sections), n]
    else:
        sections = int(indices_or_sections)
        if sections < 1:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(n, sections)
        cuts = [i * each + min(i, more) for i in range(sections + 1)]
    return [
        _picking.picked_along(ary, number, _along.given(range(start, stop)))
        for start, stop in itertools.pairwise(cuts)
    ]


def split(ary: DistArray, indices_or_sections: Any, axis: int = 0) -> list[DistArray]:
    """Return arrays cut along an axis, in blocks, of equal lengths or at indices. Collective."""
    n = ary.shape[ary._layout.axis_number(axis)]
    if not np.ndim(indices_or_sections) and n % int(indices_or_sections):
        raise ValueError(f"split: {n} rows are not divided by {indices_or_sections}; use numpy.array_split.")
    return array_split(ary, indices_or_sections, axis)


def distributed(given: Sequence[Any]) -> list[DistArray]:
    """Return arrays of which those of NumPy, the same on every PE, are distributed. Collective."""
    from .._array import DistArray
    from .._makers import from_array

    return [each if isinstance(each, DistArray) else from_array(np.atleast_1d(each)) for each in given]


def whole(given: Any) -> Any:
    """Return a distributed array as NumPy's, on every PE; anything else as it is. Collective for the first."""
    return given.to_numpy() if hasattr(given, "to_numpy") else given


@collective()
def column_stack(tup: Sequence[Any]) -> DistArray:
    """Return vectors as the columns of a matrix, matrices beside each other. Collective."""
    columns = [_picking.expand_dims(each, 1) if each.ndim == 1 else each for each in distributed(tup)]
    return _moves.concatenate(columns, 1)


@collective()
def dstack(tup: Sequence[Any]) -> DistArray:
    """Return arrays joined along their third axis. Collective."""
    deep = []
    for each in distributed(tup):
        wide = _picking.expand_dims(each, 0) if each.ndim == 1 else each
        deep.append(_picking.expand_dims(wide, 2) if wide.ndim == 2 else wide)
    return _moves.concatenate(deep, 2)


@collective()
def append(arr: Any, values: Any, axis: int | None = None) -> DistArray:
    """Return an array with values behind it, flat without an axis. Collective."""
    return _moves.concatenate(distributed([arr, values]), axis)


@collective()
def gradient(f: DistArray, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return derivatives by central differences, in blocks, one for each axis. Collective; each PE reads two rows more.

    Parameters
    ----------
    f
        The array.
    *varargs
        Distances: one number, or for each axis a number or NumPy's coordinates.
    axis
        An axis, or a tuple of them. None: all.
    edge_order
        1 or 2, at the ends.
    """
    given = range(f.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [f._layout.axis_number(number) for number in given]
    given_steps = [whole(each) for each in varargs or (1.0,)]
    steps = given_steps * (len(axes) if len(varargs) < 2 else 1)
    if len(steps) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes.")
    if edge_order not in (1, 2) or any(f.shape[number] <= edge_order for number in axes):
        raise ValueError(f"gradient: an axis of {f.shape} is too short for edge_order={edge_order}.")
    found = tuple(_slope(f, number, step, edge_order) for number, step in zip(axes, steps, strict=True))
    return found[0] if len(found) == 1 else found


def _slope(f: DistArray, number: int, step: Any, edge_order: int) -> DistArray:
    from .._array import DistArray

    n = f.shape[number]
    if np.ndim(step) and len(step) != n:
        raise atoll.ShapeMismatch(f"gradient: {len(step)} coordinates for an axis of {n}.")
    made = DistArray(f.shape, np.gradient(np.zeros(2, f.dtype)).dtype)
    _current.barrier()
    with before_barrier():
        if made.local.size:
            box = [slice(*bounds) for bounds in made.bounds()]
            start, stop = box[number].start, box[number].stop
            low, high = max(start - edge_order, 0), min(stop + edge_order, n)
            box[number] = slice(low, high)
            distance = np.asarray(step)[low:high] if np.ndim(step) else step
            slope: Any = np.gradient(f.get(tuple(box)), distance, axis=number, edge_order=edge_order)  # type: ignore[call-overload]
            made.local[...] = slope[(slice(None),) * number + (slice(start - low, stop - low),)]
    return made
