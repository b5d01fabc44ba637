"""The layout of a distributed array: its axes over a grid of PEs, and the pieces of a box."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _axis, _libraries
from ._axis import Axis, Range
from ._teams import _current

Width = tuple[int, int]
Dist = str | Sequence[int] | Sequence[str | Sequence[int]]

DISTRIBUTIONS = "'block', 'cyclic', 'cyclic(SIZE)', 'whole', 'replicated', or a list of bounds"


@dataclass(slots=True)
class Piece:
    """A part of a box on one PE: where it lies in the PE's block, and in the box."""

    pe: int
    local: tuple[slice, ...]
    target: tuple[slice, ...]


@dataclass(slots=True)
class Box:
    """A box of global indices: a range for each axis; the reversed axes; the axes of single indices."""

    ranges: tuple[Range, ...]
    reversed: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Indices along each axis; 1 for a single index."""
        return tuple(given.count for given in self.ranges)

    @property
    def visible(self) -> tuple[int, ...]:
        """The shape without the axes of single indices."""
        return tuple(n for axis, n in enumerate(self.shape) if axis not in self.dropped)


@dataclass(frozen=True)
class Layout:
    """The shape of an array, its distribution along each axis, and its halo. PEs are numbered in C order of the grid."""

    axes: tuple[Axis, ...]
    halo: tuple[Width, ...]

    @classmethod
    def bare(cls, *axes: Axis) -> Layout:
        """Return the layout of axes without a halo."""
        return cls(axes, ((0, 0),) * len(axes))

    @functools.cached_property
    def has_copies(self) -> bool:
        """True if several PEs have the same elements."""
        return any(axis.has_copies for axis in self.axes)

    def without_copies(self) -> Layout:
        """The same with blocks along the axes of which each part has all indices."""
        axes = (_axis.block(axis.length, axis.parts) if axis.has_copies else axis for axis in self.axes)
        return Layout(tuple(axes), self.halo)

    def copies(self, pe: int) -> Iterator[tuple[int, ...]]:
        """Yield places in the grid with a copy of each element: the PE's, with other places along replicated axes."""
        own = self.coordinates(pe)
        ranges = (range(a.parts) if a.has_copies else (at,) for a, at in zip(self.axes, own, strict=True))
        return itertools.product(*ranges)

    @functools.cached_property
    def has_halo(self) -> bool:
        """True if a part has a row of a neighbour."""
        return any(map(any, self.halo))

    @functools.cached_property
    def text(self) -> str:
        """The whole layout as a text, equal on PEs with equal layouts."""
        halo = f", halo {self.halo}" if self.has_halo else ""
        return (
            f"{self.shape}, "
            + " x ".join(axis.text for axis in self.axes)
            + f" on a grid of {self.grid}{halo}"
        )

    @property
    def kinds(self) -> str:
        """The distributions of the axes as a text, such as "block x cyclic"."""
        return " x ".join(axis.kind for axis in self.axes)

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        """Global indices along each axis."""
        return tuple(axis.length for axis in self.axes)

    @functools.cached_property
    def grid(self) -> tuple[int, ...]:
        """Parts along each axis."""
        return tuple(axis.parts for axis in self.axes)

    @functools.cached_property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of each PE's block, which has room for the largest part and its halo."""
        return tuple(
            axis.largest() + low + high for axis, (low, high) in zip(self.axes, self.halo, strict=True)
        )

    def same_distribution(self, other: Layout) -> bool:
        """True if each PE owns the same indices in both; halos may differ."""
        return self.axes == other.axes

    def with_halo(self, halo: int | Sequence[int | Width]) -> Layout:
        """The same distribution with another halo, given as for `layout`."""
        return Layout(self.axes, _halo_of(halo, self.axes))

    def without_halo(self) -> Layout:
        """The same distribution without a halo."""
        return Layout.bare(*self.axes)

    def with_axis(self, number: int, axis: Axis) -> Layout:
        """The same with another axis in place of one."""
        return Layout((*self.axes[:number], axis, *self.axes[number + 1 :]), self.halo)

    def coordinates(self, pe: int) -> tuple[int, ...]:
        """Return a PE's place in the grid."""
        positions = []
        for parts in reversed(self.grid):
            pe, position = divmod(pe, parts)
            positions.append(position)
        return tuple(reversed(positions))

    def pe_at(self, coordinates: Sequence[int]) -> int:
        """Return the PE at a place in the grid."""
        pe = 0
        for position, parts in zip(coordinates, self.grid, strict=True):
            pe = pe * parts + position
        return pe

    def extents(self, pe: int) -> tuple[int, ...]:
        """Return the shape of a PE's part."""
        return tuple(axis.extent(part) for axis, part in zip(self.axes, self.coordinates(pe), strict=True))

    def ranges(self, pe: int) -> tuple[tuple[int, int], ...]:
        """Return where a PE's part starts and stops along each axis; no axis is cyclic."""
        return tuple(axis.ends(part) for axis, part in zip(self.axes, self.coordinates(pe), strict=True))

    def ranges_text(self, pe: int) -> str:
        """Return a PE's ranges as a text, such as "[0:4, 2:6]"; empty if an axis is cyclic."""
        if not all(axis.is_contiguous for axis in self.axes):
            return ""
        return "[" + ", ".join(f"{start}:{stop}" for start, stop in self.ranges(pe)) + "]"

    def interior(self, pe: int) -> tuple[slice, ...]:
        """Return the place of a PE's part in its block: all but the halo."""
        if (found := self._interiors.get(pe)) is None:
            extents = zip(self.halo, self.extents(pe), strict=True)
            found = self._interiors[pe] = tuple(slice(low, low + n) for (low, _), n in extents)
        return found

    @functools.cached_property
    def _interiors(self) -> dict[int, tuple[slice, ...]]:
        """Results of `interior`, which each access to `local` needs."""
        return {}

    def padded(self, pe: int) -> tuple[slice, ...]:
        """Return the place of a PE's part and its halo in its block."""
        widths = zip(self.halo, self.extents(pe), strict=True)
        return tuple(slice(0, low + n + high) for (low, high), n in widths)

    def axis_number(self, axis: int) -> int:
        """Return an axis's number from 0; negative ones count from the end.

        Raises
        ------
        IndexError
            If there is no such axis.
        TypeError
            If it is no integer.
        """
        if not is_one(axis):
            raise TypeError(f"axis {axis!r}: expected an integer.")
        if not -len(self.axes) <= axis < len(self.axes):
            raise IndexError(f"axis {axis} is out of bounds for an array of {len(self.axes)} axes.")
        return operator.index(axis) % len(self.axes)

    def mesh(self, pe: int) -> tuple[np.ndarray[Any, Any], ...]:
        """Return the global indices of a PE's part, an array for each axis, which broadcast against each other."""
        parts = zip(self.axes, self.coordinates(pe), strict=True)
        return np.ix_(*(axis.indices(part) for axis, part in parts))

    def whole(self) -> Box:
        """Return the box of all indices."""
        return Box(tuple(Range(0, axis.length) for axis in self.axes))

    def box(self, key: Any) -> Box:
        """Return the box that an index expression names: integers, slices and `...`.

        Raises
        ------
        IndexError
            If an integer is out of range, there are too many indices, or an index is of another kind.
        """
        keys = list(key) if isinstance(key, tuple) else [key]
        positions = [i for i, k in enumerate(keys) if k is Ellipsis]  # `in` would compare arrays
        if len(positions) > 1:
            raise IndexError("an index has at most one '...'.")
        if not positions:
            positions = [len(keys)]
            keys.append(Ellipsis)
        (at,) = positions
        missing = len(self.axes) - (len(keys) - 1)
        if missing < 0:
            raise IndexError(f"{len(keys) - 1} indices for an array of {len(self.axes)} axes.")
        keys[at : at + 1] = [slice(None)] * missing
        ranges, backwards, dropped = [], [], []
        for number, (k, axis) in enumerate(zip(keys, self.axes, strict=True)):
            if isinstance(k, slice):
                found = range(*k.indices(axis.length))
                if found.step < 0:
                    backwards.append(number)
                    found = found[::-1]
                ranges.append(Range(found.start if len(found) else 0, len(found), found.step))
            else:
                ranges.append(Range(_single(k, number, axis.length), 1))
                dropped.append(number)
        return Box(tuple(ranges), tuple(backwards), tuple(dropped))

    @functools.cached_property
    def rows(self) -> tuple[tuple[int, int, tuple[int, ...] | None, int, int], ...]:
        """Length, parts, bounds, block and lower halo of each axis, for the base class of arrays."""
        axes = zip(self.axes, self.halo, strict=True)
        return tuple((axis.length, axis.parts, axis.bounds, axis.block, low) for axis, (low, _) in axes)

    def pieces(self, box: Box, near: int | None = None) -> Iterator[Piece]:
        """Yield the pieces of a box, PE after PE. With `near` it yields only the copy nearest to that PE, else all copies."""
        by_axis = []
        positions = self.coordinates(near or 0)
        for axis, wanted, (low, _), at in zip(self.axes, box.ranges, self.halo, positions, strict=True):
            found = [
                (part, _shifted(segment.local, low), segment.target.slice)
                for part in ((at,) if near is not None and axis.has_copies else range(axis.parts))
                for segment in axis.segments(part, wanted)
            ]
            by_axis.append(found)
        for choice in itertools.product(*by_axis):
            parts, local, target = zip(*choice, strict=True)
            yield Piece(self.pe_at(parts), local, target)

    def owned(self, pe: int) -> Iterator[tuple[tuple[slice, ...], Box]]:
        """Yield the boxes that a PE owns, each with its range in the PE's block. It owns a share of the copies."""
        by_axis = [axis.owned(part) for axis, part in zip(self.axes, self.coordinates(pe), strict=True)]
        for choice in itertools.product(*by_axis):
            local = tuple(_shifted(s.local, low) for s, (low, _) in zip(choice, self.halo, strict=True))
            yield local, Box(tuple(segment.target for segment in choice))


def _shifted(given: Range, by: int) -> slice:
    return Range(given.start + by, given.count, given.step).slice


def _single(index: Any, axis: int, length: int) -> int:
    try:
        number = None if isinstance(index, (bool, np.bool_)) else operator.index(index)
    except TypeError:
        number = None
    if number is None:
        raise IndexError(
            f"an index of a box is an integer, a slice or '...', not {type(index).__name__}; a[...] and a.at[...] take "
            "arrays of indices and masks, too."
        )
    if not -length <= number < length:
        raise IndexError(f"index {number} is out of bounds for axis {axis} with size {length}")
    return number % length


def layout(
    shape: Sequence[int] | int,
    n_pes: int,
    grid: int | Sequence[int] | None = None,
    dist: str | Sequence[Any] = "block",
    halo: int | Sequence[int | Width] = 0,
) -> Layout:
    """Return the layout of an array of `shape` over `n_pes` PEs; the arguments are those of `DistArray`.

    Raises
    ------
    ValueError
        If the grid, the distribution or the halo do not fit the shape or the number of PEs.
    """
    lengths = numbers_of(shape)
    if any(n < 0 for n in lengths):
        raise ValueError(f"shape {lengths} has a negative length.")
    if not lengths:
        raise ValueError("a distributed array has at least one axis; for one number use atoll.zeros(1).")
    if not isinstance(dist, Iterable):
        raise TypeError(f"dist is {dist!r}; expected {DISTRIBUTIONS}, or one of these for each axis.")
    kinds = [dist] * len(lengths) if isinstance(dist, str) else list(dist)
    if len(lengths) == 1 and kinds and (is_one(kinds[0]) or isinstance(kinds[0], float)):
        kinds = [kinds]  # bounds of the only axis
    for kind in kinds:
        if not isinstance(kind, str):
            _require_bounds(kind)
    if len(kinds) != len(lengths):
        raise ValueError(f"dist has {len(kinds)} entries for {len(lengths)} axes.")
    parts = _grid_of(lengths, n_pes, grid, kinds)
    axes = tuple(_axis_of(n, p, kind) for n, p, kind in zip(lengths, parts, kinds, strict=True))
    return Layout(axes, _halo_of(halo, axes))


def _require_bounds(kind: Any) -> None:
    if not isinstance(kind, Iterable):
        raise TypeError(f"dist has {kind!r} for an axis; expected {DISTRIBUTIONS}.")
    for bound in kind:
        if not is_one(bound):
            raise TypeError(f"dist: the bounds {kind!r} have {bound!r}; bounds are integers.")


def is_one(given: Any) -> bool:
    """Return True for one integer, of Python or NumPy; NumPy's may be an array without axes."""
    return hasattr(given, "__index__") and getattr(given, "ndim", 0) == 0


def listed(given: Any) -> list[Any]:
    """Return a list of one integer, or of several."""
    return [given] if is_one(given) or not isinstance(given, Iterable) else list(given)


def numbers_of(given: int | Iterable[int]) -> tuple[int, ...]:
    """Return a number for each axis, of one number for the only axis or of several."""
    numbers = listed(given)
    for n in numbers:
        if not is_one(n):
            raise TypeError(f"a shape or a grid has {n!r}, a {type(n).__name__}; expected integers.")
    return tuple(map(operator.index, numbers))


def _grid_of(
    lengths: tuple[int, ...], n_pes: int, grid: int | Sequence[int] | None, kinds: Sequence[Any]
) -> tuple[int, ...]:
    fixed = [len(kind) - 1 if not isinstance(kind, str) else 1 if kind == "whole" else 0 for kind in kinds]
    if grid is None:
        # Copies are made where nothing else is left for the PEs, along the first such axis.
        is_divided = False
        for number in sorted(range(len(kinds)), key=lambda number: _is_replicated(kinds[number])):
            if _is_replicated(kinds[number]) and is_divided:
                fixed[number] = 1
            is_divided = is_divided or not fixed[number]
        rest = math.prod(n for n in fixed if n)
        if not rest or n_pes % rest or (n_pes != rest and all(fixed)):
            raise ValueError(
                f"dist makes {rest} parts in all, and the {_current.whole()} has {n_pes} PEs. Give bounds for as many parts, or leave "
                "an axis to 'block' or 'cyclic'."
            )
        free = best_grid([n for n, f in zip(lengths, fixed, strict=True) if not f], n_pes // rest)
        left = iter(free)
        return tuple(f or next(left) for f in fixed)
    given = numbers_of(grid)
    if len(given) != len(lengths):
        raise ValueError(f"grid {given} has {len(given)} axes, and the array has {len(lengths)}.")
    if any(n < 1 for n in given):
        raise ValueError(f"grid {given}: each axis has 1 part or more.")
    if math.prod(given) != n_pes:
        raise ValueError(
            f"grid {given} has {math.prod(given)} places, and the {_current.whole()} has {n_pes} PEs."
        )
    for number, (f, n) in enumerate(zip(fixed, given, strict=True)):
        if f not in (0, n):
            raise ValueError(f"axis {number}: grid asks for {n} parts, and dist for {f}.")
    return given


def best_grid(lengths: Sequence[int], n_pes: int) -> tuple[int, ...]:
    """Return the grid of `n_pes` places whose parts touch the least; if several do, the one that divides early axes
    most."""

    def grids(axes: int, n: int) -> Iterator[tuple[int, ...]]:
        if axes == 0:
            if n == 1:
                yield ()
            return
        for first in range(n, 0, -1):
            if n % first == 0:
                for others in grids(axes - 1, n // first):
                    yield (first, *others)

    def cost(grid: tuple[int, ...]) -> tuple[int, float]:
        empty = sum(max(p - n, 0) for p, n in zip(grid, lengths, strict=True))
        return empty, sum((p - 1) / max(n, 1) for p, n in zip(grid, lengths, strict=True))

    return min(grids(len(lengths), n_pes), key=cost)


def _is_replicated(kind: Any) -> bool:
    return isinstance(kind, str) and kind == "replicated"


def _axis_of(length: int, parts: int, kind: Any) -> Axis:
    if not isinstance(kind, str):
        return _axis.irregular(length, kind)
    match = re.fullmatch(r"cyclic(?:\((\d+)\))?", kind)
    if kind in ("block", "whole") or (match and parts == 1):
        return _axis.block(length, parts)
    if kind == "replicated":
        return _axis.replicated(length, parts)
    if match:
        # No index beyond the axis is computed with: a longer block is all of it.
        return _axis.cyclic(length, parts, min(int(match[1] or 1), max(length, 1 << 31)))
    raise ValueError(f"dist {kind!r} is not one of {DISTRIBUTIONS}.")


def _halo_of(halo: int | Sequence[int | Width], axes: tuple[Axis, ...]) -> tuple[Width, ...]:
    if halo is None or isinstance(halo, (float, np.floating)):
        raise TypeError(f"halo is {halo}; expected an integer, or a width or a pair for each axis.")
    given = [halo] * len(axes) if is_one(halo) else listed(halo)
    if len(axes) == 1 and len(given) == 2:
        given = [given]  # the pair of the only axis
    if len(given) != len(axes):
        raise ValueError(f"halo has {len(given)} entries for {len(axes)} axes.")
    widths = []
    for number, (width, axis) in enumerate(zip(given, axes, strict=True)):
        pair = (width, width) if is_one(width) else width
        if not isinstance(pair, Iterable) or len(list(pair)) != 2 or not all(map(is_one, pair)):
            raise ValueError(
                f"axis {number}: the halo is {width!r}; expected an integer, or a pair (before, after)."
            )
        low, high = map(operator.index, pair)
        if low < 0 or high < 0:
            raise ValueError(f"axis {number}: the halo {width} is negative.")
        if (low or high) and (axis.has_copies or not axis.is_contiguous):
            raise ValueError(
                f"axis {number} is {axis.kind}: only 'block', 'whole' and bounds have a halo. Give a width for each axis, "
                "such as halo=[1, 0]."
            )
        smallest = min(axis.extent(part) for part in range(axis.parts))
        if max(low, high) > smallest:
            raise ValueError(
                f"axis {number}: a halo of {max(low, high)} is wider than the smallest part, which has {smallest} "
                f"of the {axis.length} indices. Use fewer PEs along this axis, or a narrower halo."
            )
        widths.append((int(low), int(high)))
    return tuple(widths)


def numbers_in(
    shape: tuple[int, ...], local: tuple[slice, ...], library: _libraries.Library = _libraries.HOST
) -> Any:
    """Return the numbers in C order of the elements of a box of a block, as an array of a library."""
    numbers: Any = 0
    stride = 1
    for axis in reversed(range(len(shape))):
        along = library.arange(local[axis].start, local[axis].stop, local[axis].step or 1) * stride
        numbers = numbers + along.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        stride *= shape[axis]
    return numbers
