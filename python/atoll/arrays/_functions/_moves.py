"""Elements at other places: reshape, transpose, roll, flip, selection by a mask."""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _axis
from .._axis import Range
from .._compared import collective
from .._layout import Box, Layout, listed
from .._teams import _current

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


KEYWORDS = ("grid", "dist", "halo", "team", "device", "xp")
_BORDERS = (
    "periodic",
    "border",
    "boundary",
    "wrap",
    "reflect",
    "symmetric",
    "edge",
)  # which people pass to zeros()


def require_keywords(call: str, given: Iterable[str], note: str = "") -> None:
    """Raise a TypeError for a keyword that `DistArray` does not have."""
    for name in given:
        if name in _BORDERS:
            raise TypeError(
                f"{call}() has no argument {name!r}; a border belongs to the exchange, as in "
                'exchange_halo("periodic").'
            )
        if name not in KEYWORDS:
            near = difflib.get_close_matches(name, KEYWORDS, 1)
            raise TypeError(
                f"{call}() has no argument {name!r}"
                + (f"; did you mean {near[0]!r}?" if near else f"; its elements are {note}." if note else ".")
                + f" Its keywords are those of DistArray: {', '.join(KEYWORDS)}."
            )


def require_c_order(call: str, order: Any) -> None:
    """Raise for an order of the elements that is not NumPy's word for C order, or for one that is the same here."""
    if order not in ("C", "K", "A", None):
        raise TypeError(
            f"{call}(order={order!r}): its elements are in C order. For another one write a.T.ravel(), whose elements are in "
            "Fortran's order, or use a.to_numpy()."
        )


@collective(on_gpus=True)
def reshape(a: DistArray, shape: Any, **distribution: Any) -> DistArray:
    """Return the elements in C order in another shape. Collective.

    Parameters
    ----------
    a
        The array.
    shape
        The new shape; -1 for one length that follows.
    distribution
        grid, dist, halo and team of `DistArray`.

    Notes
    -----
    From and to one axis, parts that are rows move as a whole. Else each PE writes its elements one by one, and has
    temporary indices of 8 bytes an element and axis.
    """
    from .._array import DistArray

    lengths = [int(n) for n in ((shape,) if np.ndim(shape) == 0 else shape)]
    if lengths.count(-1) == 1:
        rest = math.prod(n for n in lengths if n != -1)
        if rest and a.size % rest == 0:
            lengths[lengths.index(-1)] = a.size // rest
    if any(n < 0 for n in lengths) or math.prod(lengths) != a.size:
        raise ValueError(f"cannot reshape a distributed array of shape {a.shape} into {tuple(lengths)}.")
    made = DistArray(lengths, a.dtype, **distribution)
    _current.barrier()
    local = a.local
    if made.ndim == 1 and _is_run(a._layout):
        made[slice(*_run(a))] = local.reshape(-1)
    elif a.ndim == 1 and _is_run(made._layout):
        part = made.local
        if isinstance(part, np.ndarray) and part.flags.c_contiguous:
            a.get(slice(*_run(made)), out=part.reshape(-1))
        else:
            part[...] = a[slice(*_run(made))].reshape(part.shape)
    elif 0 not in local.shape:
        flat = np.ravel_multi_index(a._layout.mesh(_current.my_pe()), a.shape).reshape(-1)
        made.at[np.unravel_index(flat, made.shape)].set(local.reshape(-1))
    _current.barrier()
    return made


@collective(name="squeeze", on_gpus=True)
def only_element(a: DistArray) -> Any:
    """Return the element of an array of one element as a number of NumPy, the same on every PE. Collective."""
    return a.to_numpy().reshape(())[()]


def _is_run(its: Layout) -> bool:
    """True if each part is a run of elements in C order."""
    return its.axes[0].is_contiguous and all(axis.parts == 1 for axis in its.axes[1:])


def _run(a: DistArray) -> tuple[int, int]:
    """Return the numbers in C order of the first element of this PE's run, and of the one behind it."""
    row = math.prod(a.shape[1:])
    start, stop = a.bounds()[0]
    return start * row, stop * row


@collective(on_gpus=True)
def transpose(a: DistArray, axes: Sequence[int] | None = None) -> DistArray:
    """Return the array with its axes in another order, by default reversed. Collective; each PE puts what it has.

    The result is a new array. Each axis keeps its distribution, and no halo.
    """
    from .._array import DistArray

    order = [a._layout.axis_number(axis) for axis in (axes if axes is not None else reversed(range(a.ndim)))]
    if sorted(order) != list(range(a.ndim)):
        raise ValueError(f"transpose: axes are {axes}; expected each of the {a.ndim} axes once.")
    its = Layout.bare(*(a._layout.axes[axis] for axis in order))
    return DistArray._moved(a._layout, a.local, its, order)


def matrix_transpose(x: DistArray, /) -> DistArray:
    """Return the array with its last two axes exchanged. Collective."""
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@collective(on_gpus=True)
def flip(a: DistArray, axis: int | Sequence[int] | None = None) -> DistArray:
    """Return the array with the order of elements reversed along axes, by default all. Collective."""
    numbers = [a._layout.axis_number(number) for number in _several(axis, a.ndim)]
    axes = set(numbers)
    if len(axes) < len(numbers):
        raise ValueError(f"flip: axis={axis!r} names an axis twice.")

    def targets(number: int, own: Range) -> Iterator[tuple[slice, Range]]:
        if number in axes and own.count:
            last = own.start + (own.count - 1) * own.step
            yield slice(None, None, -1), Range(a.shape[number] - 1 - last, own.count, own.step)
        else:
            yield slice(None), own

    return _rearranged(a, targets)


@collective(on_gpus=True)
def roll(a: DistArray, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> DistArray:
    """Return the array with elements moved by `shift` along axes; those beyond the end come first. Collective.

    Without an axis an array of several axes is rolled as if it were flat, as by NumPy.
    """
    if axis is None and a.ndim > 1:
        return reshape(roll(reshape(a, -1), shift, 0), a.shape).redistribute(like=a)
    axes = [a._layout.axis_number(number) for number in _several(0 if axis is None else axis, a.ndim)]
    shifts = np.broadcast_to(shift, len(axes)).tolist() if np.ndim(shift) == 0 else list(shift)  # type: ignore[arg-type]
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes.")
    by = [0] * a.ndim
    for number, distance in zip(axes, shifts, strict=True):
        by[number] += int(distance)

    def targets(number: int, own: Range) -> Iterator[tuple[slice, Range]]:
        n = a.shape[number]
        start = (own.start + by[number]) % n if n else 0
        before_end = min(own.count, -(-(n - start) // own.step))
        yield slice(0, before_end), Range(start, before_end, own.step)
        if before_end < own.count:
            rest = start + before_end * own.step - n
            yield slice(before_end, None), Range(rest, own.count - before_end, own.step)

    return _rearranged(a, targets)


def _several(axis: int | Sequence[int] | None, ndim: int) -> Sequence[int]:
    if axis is None:
        return range(ndim)
    return listed(axis)


def _rearranged(a: DistArray, targets: Callable[[int, Range], Iterator[tuple[slice, Range]]]) -> DistArray:
    """Return an array of the same distribution, of which each PE writes what it had to other places.

    `targets` yields, for an axis and a range of it, sub-ranges with the places that they go to.
    """
    from .._array import DistArray

    made = DistArray._of(a._layout, a.dtype)
    for local, box in a._layout.owned(_current.my_pe()):
        values = a._block[local]
        choices = [list(targets(number, own)) for number, own in enumerate(box.ranges)]
        for choice in itertools.product(*choices):
            part, target_ranges = zip(*choice, strict=True)
            backwards = [axis for axis, its in enumerate(part) if its.step == -1]
            straight = tuple(slice(None) if its.step == -1 else its for its in part)
            made._write(Box(tuple(target_ranges)), made._library.flip(values[straight], backwards))
    _current.barrier()
    return made


@collective(on_gpus=True)
def concatenate(given: Sequence[DistArray], axis: int | None = 0) -> DistArray:
    """Return arrays joined along an axis, as blocks on the default grid. Collective; each PE puts what it has.

    Some may be NumPy's, the same on every PE.

    With axis None they are joined in C order, as by NumPy.
    """
    from .._array import DistArray
    from ._matrices import distributed

    if not any(isinstance(each, DistArray) for each in given):
        raise TypeError("concatenate: expected one or more distributed arrays.")
    if axis is not None and not all(map(np.ndim, given)):
        raise ValueError("concatenate: arrays without axes cannot be joined.")
    given = distributed(given)
    first = given[0]
    if axis is None:
        return concatenate([each if each.ndim == 1 else reshape(each, -1) for each in given])
    number = first._layout.axis_number(axis)
    others = [(*each.shape[:number], *each.shape[number + 1 :]) for each in given]
    if any(each.ndim != first.ndim or other != others[0] for each, other in zip(given, others, strict=True)):
        raise atoll.ShapeMismatch(
            f"concatenate: shapes {[each.shape for each in given]} differ in more than axis {number}."
        )
    shape = list(first.shape)
    shape[number] = sum(each.shape[number] for each in given)
    made = DistArray(shape, np.result_type(*(each.dtype for each in given)))
    _current.barrier()
    start = 0
    for each in given:
        for local, box in each._layout.owned(_current.my_pe()):
            ranges = list(box.ranges)
            ranges[number] = Range(ranges[number].start + start, ranges[number].count, ranges[number].step)
            made._write(Box(tuple(ranges)), each._block[local])
        start += each.shape[number]
    _current.barrier()
    return made


def whole_along(a: DistArray, number: int) -> DistArray:
    """Return the array, redistributed in blocks of the other axes if the axis has several parts. Collective."""
    if a._layout.axes[number].parts == 1:
        return a
    return a.redistribute(tuple("whole" if i == number else "block" for i in range(a.ndim)))


def straight_along(a: DistArray, number: int) -> DistArray:
    """Return the array, redistributed so that each part has a range of an axis if that is cyclic. Collective."""
    axis = a._layout.axes[number]
    if axis.is_contiguous:
        return a
    return type(a)._moved(
        a._layout, a.local, a._layout.with_axis(number, _axis.block(axis.length, axis.parts))
    )


def require_bool(index: DistArray, call: str) -> None:
    """Raise for a distributed index that is neither a mask nor an array of integers."""
    if index.dtype != np.bool_:
        raise IndexError(
            f"{call}: b has elements of {index.dtype}; expected integers, or bool for a mask. For integers write "
            "b.astype(int)."
        )


@collective(name="a[mask]", on_gpus=True)
def select(a: DistArray, mask: DistArray) -> DistArray:
    """Return the elements where a mask is True, in C order, as blocks of one axis. Collective; `a[mask]`.

    An array of several axes, or a cyclic one, is made flat first, and so is the mask. A mask of the first axes chooses rows.
    """
    require_bool(mask, "a[b]")
    if mask.ndim < a.ndim and mask.shape == a.shape[: mask.ndim]:
        from ._indexed import elements

        return elements(a, nonzero(mask))
    if mask.shape != a.shape:
        raise IndexError(
            f"a[mask]: the mask has shape {mask.shape} and dtype bool; expected {a.shape}, or the shape of the first axes."
        )
    if a.ndim > 1 or not a._layout.axes[0].is_contiguous:
        a = reshape(a, -1)
    mask = mask.redistribute(like=a) if mask.ndim == 1 else reshape(mask, -1)
    return gathered(a.local[mask.local])


def gathered(part: Array) -> DistArray:
    """Return the PEs' parts, of any lengths, one after the other as blocks of one axis. Collective."""
    from .._array import DistArray

    lengths = [int(n) for n in np.ravel(atoll.fcollect(np.array([len(part)]), team=_current.team()))]
    bounds = [0, *itertools.accumulate(lengths)]
    was = Layout.bare(_axis.irregular(bounds[-1], bounds))
    its = Layout.bare(_axis.block(bounds[-1], len(lengths)))
    return DistArray._moved(was, part, its)


@collective(on_gpus=True)
def nonzero(a: DistArray) -> tuple[DistArray, ...]:
    """Return the indices of elements that are not zero, in C order, an array for each axis. Collective."""
    flat = a if a.ndim == 1 and a._layout.axes[0].is_contiguous else reshape(a, -1)
    rest = flat._library.nonzero(flat.local) + flat.bounds()[0][0]
    found = []
    for length in reversed(a.shape):
        found.append(rest % length if length else rest)
        rest = rest // max(length, 1)
    return tuple(gathered(index) for index in reversed(found))
