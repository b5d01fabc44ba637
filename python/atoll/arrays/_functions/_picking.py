"""Elements chosen by their indices along axes: take, tile, repeat, pad, and axes of length 1."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _axis
from .._compared import collective
from .._layout import Layout, listed, numbers_of
from .._teams import _current
from .._teams._exchange import gathered
from .._together import before_barrier
from . import _along, _indexed, _moves
from ._along import Along, Piece

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def picked(a: DistArray, indices: Sequence[Along]) -> DistArray:
    """Return the elements at all combinations of indices along the axes, in blocks. Collective.

    Each PE reads what its block gets, a box for each combination of ranges. For other indices it reads the box around them,
    if that has at most twice as many elements. Else temporary indices take 8 bytes an element and axis.
    """
    from .._array import DistArray

    made = DistArray([each.length for each in indices], a.dtype)
    _current.barrier()
    with before_barrier():
        if made.local.size:
            own = [each.cut(*bounds) for each, bounds in zip(indices, made.bounds(), strict=True)]
            if math.prod(map(len, own)) > _along.FEW:
                own = [pieces if len(pieces) == 1 else [np.concatenate(pieces)] for pieces in own]
            for pieces, target in zip(itertools.product(*own), _targets(made.local, own), strict=True):
                _read(a, pieces, target)
    return made


def _targets(part: Array, own: Sequence[Sequence[Piece]]) -> Iterator[Array]:
    """Yield views of a part, one for each combination of pieces along the axes."""
    slices = []
    for pieces in own:
        ends = list(itertools.accumulate(map(len, pieces), initial=0))
        slices.append(list(itertools.starmap(slice, itertools.pairwise(ends))))
    for each in itertools.product(*slices):
        yield part[each]


def _read(a: DistArray, pieces: Sequence[Piece], target: Array) -> None:
    """Read the elements at all combinations of indices."""
    box = tuple(map(_around, pieces))
    if math.prod(len(range(each.start, each.stop, each.step)) for each in box) > 2 * target.size:
        target[...] = a.at[np.ix_(*map(np.asarray, pieces))].get()
        return
    chosen = [(i, each - box[i].start) for i, each in enumerate(pieces) if not isinstance(each, range)]
    if not chosen:
        a.get(box, out=target)
        return
    found = a.get(box)
    for number, indices in chosen[:-1]:
        found = found.take(indices, number)
    number, indices = chosen[-1]
    np.take(found, indices, number, out=target, mode="clip")


def _around(indices: Piece) -> slice:
    """Return the smallest range of an axis around some indices. Those of a range go upwards."""
    if isinstance(indices, range):
        return slice(indices.start, indices.stop, indices.step)
    return slice(int(indices.min()), int(indices.max()) + 1, 1)


def picked_along(a: DistArray, number: int, indices: Along) -> DistArray:
    """Return the elements at some indices along an axis, all of the others, in blocks. Collective."""
    return picked(a, [indices if i == number else _along.all_of(n) for i, n in enumerate(a.shape)])


def _checked(name: str, indices: Any, length: int) -> Array:
    """Return indices of NumPy, negative ones too, or raise."""
    found = np.asarray(indices)
    if found.dtype.kind not in "iu" and found.size:
        raise TypeError(f"{name}: indices of {found.dtype}; expected integers.")
    if found.size and not (-length <= found.min() and found.max() < length):
        raise IndexError(f"{name}: an index is out of range for an axis of {length}.")
    return found


def _from_start(indices: Array, length: int) -> Array:
    """Return a copy of indices, counted from 0 on."""
    found = indices.astype(np.int64)
    if indices.dtype.kind != "u":
        found += length * (found < 0)
    return found


@collective()
def take(a: DistArray, indices: Any, axis: int | None = None) -> Any:
    """Return the elements at some indices along an axis, in blocks; without one, of the flat array. Collective.

    Parameters
    ----------
    a
        The array.
    indices
        Integers, the same on every PE. One integer leaves out the axis. Or a distributed array of integers, whose
        distribution the result has.
    axis
        The axis. None: the elements in C order.
    """
    from .._array import DistArray

    if isinstance(indices, DistArray):
        return _indexed.taken(a, indices, axis)
    number = None if axis is None else a._layout.axis_number(axis)
    length = a.size if number is None else a.shape[number]
    wanted = _checked("take", indices, length)
    if wanted.ndim == 0:
        found = take(a, wanted.reshape(1), axis)
        return squeeze(found, 0 if number is None else number)
    if number is None:
        made = DistArray(wanted.shape, a.dtype)
        _current.barrier()
        own = _from_start(wanted[tuple(slice(*bounds) for bounds in made.bounds())], length)
        if own.size:
            made.local[...] = a.at[np.unravel_index(own, a.shape)].get()
        _current.barrier()
        return made
    flat = wanted.reshape(-1)
    chosen = Along(flat.size, lambda start, stop: [_from_start(flat[start:stop], length)])
    found = picked_along(a, number, chosen)
    if wanted.ndim == 1:
        return found
    return _moves.reshape(found, (*a.shape[:number], *wanted.shape, *a.shape[number + 1 :]))


@collective()
def take_along_axis(arr: DistArray, indices: Any, axis: int | None = -1) -> DistArray:
    """Return the elements at indices along an axis, one for each place; indices as from `argsort`. Collective.

    Parameters
    ----------
    arr
        The array.
    indices
        A distributed array, or one of NumPy that is the same on every PE. It has the shape of `arr` but along `axis`; the
        result has its distribution.
    axis
        The axis. None: that of the flat array.
    """
    from .._array import DistArray
    from .._makers import from_array

    if axis is None:
        arr, axis = arr.ravel(), 0
    number = arr._layout.axis_number(axis)
    if not isinstance(indices, DistArray):
        indices = from_array(np.asarray(indices))
    if indices.ndim != arr.ndim or any(
        i != number and n != m for i, (n, m) in enumerate(zip(indices.shape, arr.shape, strict=False))
    ):
        raise atoll.ShapeMismatch(
            f"take_along_axis: indices of shape {indices.shape} for an array of {arr.shape} along axis {number}."
        )
    made = DistArray._of(indices._layout.without_halo(), arr.dtype, zero=False)
    wanted = list(indices._layout.mesh(_current.my_pe()))
    problem = ""
    try:
        own = _checked("take_along_axis", indices.local, arr.shape[number])
        wanted[number] = _from_start(own, arr.shape[number])
    except (IndexError, TypeError) as error:
        problem = str(error)
    for each in gathered(problem):
        if each:
            raise IndexError(each)
    _current.barrier()
    if indices.local.size:
        made.local[...] = arr.at[tuple(wanted)].get()
    _current.barrier()
    return made


@collective()
def repeat(a: DistArray, repeats: Any, axis: int | None = None) -> DistArray:
    """Return an array in which each element is repeated along an axis, in blocks; without one, flat. Collective."""
    if axis is None:
        a, axis = (a if a.ndim == 1 else a.ravel()), 0
    number = a._layout.axis_number(axis)
    n = a.shape[number]
    if np.size(repeats) == 1:
        wanted = _along.repeated(n, len(np.repeat(np.empty((1, 0)), repeats, 0)))
    else:
        wanted = _along.given(np.repeat(np.arange(n), repeats))
    return picked_along(a, number, wanted)


@collective()
def tile(A: DistArray, reps: int | Sequence[int]) -> DistArray:
    """Return copies of an array beside each other, in blocks. Collective."""
    times = [operator.index(n) for n in listed(reps)]
    times = [1] * (A.ndim - len(times)) + times
    if min(times, default=0) < 0:
        raise ValueError(f"tile: reps={reps}; expected 0 or more.")
    for _ in range(len(times) - A.ndim):
        A = expand_dims(A, 0)
    return picked(A, [_along.tiled(n, count) for n, count in zip(A.shape, times, strict=True)])


@collective()
def pad(array: DistArray, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> DistArray:
    """Return an array with more elements around it, in blocks. Collective.

    Parameters
    ----------
    array
        The array.
    pad_width
        As for `numpy.pad`: a number, a pair, or a pair for each axis.
    mode
        "constant", "edge", "reflect", "symmetric" or "wrap", as for `numpy.pad`.
    constant_values
        One number, for "constant".
    """
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise ValueError(f"pad(mode={mode!r}): expected constant, edge, reflect, symmetric or wrap.")
    if np.ndim(constant_values):
        raise ValueError("pad: constant_values of a distributed array is one number.")
    if np.asarray(pad_width).dtype.kind not in "iu":
        raise TypeError(
            f"pad: pad_width={pad_width!r:.60}; expected integers, one, a pair, or a pair for each axis."
        )
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    if array.size == 0:
        raise ValueError("pad: the array has no elements.")
    if np.min(widths) < 0:
        raise ValueError(f"pad: pad_width={pad_width!r}; expected 0 or more.")
    how = "edge" if mode == "constant" else mode
    made = picked(
        array, [_along.padded(n, low, high, how) for n, (low, high) in zip(array.shape, widths, strict=True)]
    )
    if mode == "constant":
        for number, ((low, _), (start, stop)) in enumerate(zip(widths, made.bounds(), strict=True)):
            first, last = low - start, low + array.shape[number] - start  # the array lies between them
            for outside in (slice(0, max(first, 0)), slice(max(last, 0), stop - start)):
                made.local[(slice(None),) * number + (outside,)] = constant_values
        _current.barrier()
    return made


@collective()
def expand_dims(a: DistArray, axis: int | Sequence[int]) -> DistArray:
    """Return a copy with axes of length 1 at some places; nothing moves. Collective."""
    from .._array import DistArray

    given = listed(axis)
    ndim = a.ndim + len(given)
    if any(not -ndim <= each < ndim for each in given) or len({each % ndim for each in given}) != len(given):
        raise ValueError(f"expand_dims: axis {axis} for {ndim} axes.")
    new = {each % ndim for each in given}
    left = iter(a._layout.axes)
    its = Layout.bare(*(_axis.block(1, 1) if number in new else next(left) for number in range(ndim)))
    return DistArray._from_part(its, a.local.reshape(its.extents(_current.my_pe())))


@collective()
def squeeze(a: DistArray, axis: int | Sequence[int] | None = None) -> Any:
    """Return a copy without axes of length 1, by default all; a number if none is left. Collective."""
    from .._array import DistArray

    if axis is None:
        wanted = [number for number, n in enumerate(a.shape) if n == 1]
    else:
        given = listed(axis)
        wanted = [a._layout.axis_number(each) for each in given]
    if any(a.shape[number] != 1 for number in wanted):
        raise ValueError(f"squeeze: an axis of {axis} is longer than 1; the shape is {a.shape}.")
    kept = [number for number in range(a.ndim) if number not in wanted]
    if not kept:
        return _moves.only_element(a)
    if any(a._layout.axes[number].parts > 1 for number in wanted):
        return _moves.reshape(a, [a.shape[number] for number in kept])
    its = Layout.bare(*(a._layout.axes[number] for number in kept))
    return DistArray._from_part(its, a.local.reshape(its.extents(_current.my_pe())))


@collective()
def moveaxis(a: DistArray, source: int | Sequence[int], destination: int | Sequence[int]) -> DistArray:
    """Return the array with axes at other places, a new array. Collective."""
    order = np.moveaxis(np.empty((0, *range(1, a.ndim))), source, destination).shape
    return _moves.transpose(a, order)


@collective()
def stack(arrays: Sequence[DistArray], axis: int = 0) -> DistArray:
    """Return arrays of one shape joined along a new axis, as blocks on the default grid. Collective."""
    from ._matrices import distributed

    if any(np.shape(each) != np.shape(arrays[0]) for each in arrays):
        raise atoll.ShapeMismatch(f"stack: shapes {[np.shape(each) for each in arrays]}; they must be equal.")
    return _moves.concatenate([expand_dims(each, axis) for each in distributed(arrays)], axis)


@collective()
def vstack(tup: Sequence[DistArray]) -> DistArray:
    """Return arrays joined along their first axis; vectors become rows. Collective."""
    from ._matrices import distributed

    return _moves.concatenate(
        [expand_dims(each, 0) if each.ndim == 1 else each for each in distributed(tup)], 0
    )


@collective()
def hstack(tup: Sequence[DistArray]) -> DistArray:
    """Return arrays joined along their second axis, vectors along their only one. Collective."""
    return _moves.concatenate(tup, 0 if np.ndim(tup[0]) == 1 else 1)


@collective()
def unstack(x: DistArray, /, *, axis: int = 0) -> tuple[DistArray, ...]:
    """Return the arrays that an axis counts. Collective."""
    number = x._layout.axis_number(axis)
    if x.ndim == 1:
        raise ValueError("unstack: an array of one axis has numbers, not arrays; use a.to_numpy().")
    found = []
    for index in range(x.shape[number]):
        one = picked_along(x, number, _along.given(range(index, index + 1)))
        found.append(squeeze(one, number))
    return tuple(found)


@collective()
def broadcast_to(array: DistArray, shape: int | Sequence[int]) -> DistArray:
    """Return an array that repeats the elements along axes of length 1 and along new ones: a copy, in blocks. Collective."""
    wanted = numbers_of(shape)
    missing = len(wanted) - array.ndim
    if missing < 0 or any(n not in (1, m) for n, m in zip(array.shape, wanted[missing:], strict=True)):
        raise atoll.ShapeMismatch(
            f"broadcast_to: an array of shape {array.shape} does not broadcast to {wanted}."
        )
    for _ in range(missing):
        array = expand_dims(array, 0)
    return picked(
        array,
        [
            _along.all_of(m) if n == m else _along.repeated(1, m)
            for n, m in zip(array.shape, wanted, strict=True)
        ],
    )


@collective()
def diff(a: DistArray, n: int = 1, axis: int = -1) -> DistArray:
    """Return the differences of neighbours along an axis, `n` times, in blocks. Collective; each PE reads n rows more."""
    from .._array import DistArray

    number = a._layout.axis_number(axis)
    if n < 0:
        raise ValueError(f"diff: n is {n}; expected 0 or more.")
    shape = list(a.shape)
    shape[number] = max(shape[number] - n, 0)
    made = DistArray(shape, np.diff(np.zeros(n + 1, a.dtype), n).dtype)
    _current.barrier()
    if math.prod(made.local.shape):
        box = [slice(*bounds) for bounds in made.bounds()]
        box[number] = slice(box[number].start, box[number].stop + n)
        made.local[...] = np.diff(a.get(tuple(box)), n, number)
    _current.barrier()
    return made
