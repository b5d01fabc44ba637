"""The parts of a distributed array: what lies where, and one-sided reads and writes of any box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from ._at import At, summand
from ._layout import Box, Layout, numbers_in
from ._memory import Memory, allocate
from ._moves import select
from ._teams import _current

if TYPE_CHECKING:
    from ._array import DistArray

Array = np.ndarray[Any, Any]


class Parts:
    """An array in parts, one on each PE of a team. Its public calls are not collective."""

    def _make(self, its: Layout, dtype: np.dtype[Any], zero: bool = True) -> None:
        self._layout = its
        self._team = team = _current.team()
        self._me, self._n_pes = team.my_pe(), team.n_pes()
        # A halo has zeros until it is filled.
        self._memory = Memory(allocate(team, its.block_shape, dtype, zero or its.has_halo), its.shape)

    @property
    def _block(self) -> Array:
        """This PE's block; an error if it is freed."""
        return self._memory.block

    # Its shape, type and distribution.

    @property
    def shape(self) -> tuple[int, ...]:
        """Global shape."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return self._memory.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._layout.axes)

    @property
    def size(self) -> int:
        """Number of elements in all parts together."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def team(self) -> atoll.Team:
        """The PEs that have the array; its calls number PEs within this team."""
        return self._team

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of parts along each axis."""
        return self._layout.grid

    @property
    def local(self) -> Array:
        """This PE's part, a view without the halo. Writes to it are writes to the array.

        The view ends with `free`, which cannot find it: afterwards it shows other memory, without an error.
        """
        return self._block[self._layout.interior(self._me)]

    @property
    def local_with_halo(self) -> Array:
        """This PE's part with its halo, a view, which ends as `local` does."""
        return self._block[self._layout.padded(self._me)]

    def owner(self, index: int | Sequence[int]) -> int:
        """Return the PE of the team that owns an element, given by one index for each axis."""
        key = _key(index)
        box = self._layout.box(key)
        if len(key) != self.ndim or len(box.dropped) != self.ndim:
            raise IndexError(f"owner({index}): expected one integer for each of the {self.ndim} axes.")
        places = [int(axis.owner(r.start)) for axis, r in zip(self._layout.axes, box.ranges, strict=True)]
        return self._layout.pe_at(places)

    def bounds(self, pe: int | None = None) -> tuple[tuple[int, int], ...]:
        """Return the global indices of a PE's part as (start, stop) for each axis; of this PE by default.

        A PE is given by its number within the team.

        Raises
        ------
        ValueError
            If an axis is cyclic, so that the part is not one range; use `global_indices`.
        """
        for number, axis in enumerate(self._layout.axes):
            if not axis.is_contiguous:
                raise ValueError(
                    f"axis {number} is {axis.kind}: its parts are not ranges; use a.global_indices({number})."
                )
        return self._layout.ranges(self._pe(pe))

    def global_indices(self, axis: int, pe: int | None = None) -> Array:
        """Return the global indices along an axis of a PE's part, ascending; of this PE by default."""
        number = self._layout.axis_number(axis)
        return self._layout.axes[number].indices(self._layout.coordinates(self._pe(pe))[number])

    def _pe(self, pe: int | None) -> int:
        if pe is None:
            return self._me
        if not 0 <= pe < self._n_pes:
            has = "job" if self._team == atoll.WORLD else "array's team"
            raise atoll.PeError(f"PE {pe} does not exist; the {has} has PEs 0 to {self._n_pes - 1}.")
        return pe

    # Boxes: one-sided reads and writes.

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Parts):
            return select(_array(self), _array(key))
        found = self.get(key)
        if isinstance(found, np.ndarray):
            found.flags.writeable = False  # else a[0][1] = 5 would change a copy, and be lost
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Parts):
            self._set_where(key, value)
        else:
            self.put(key, value)

    def _set_where(self, mask: Parts, value: Any) -> None:
        """Write where a mask of this distribution is True; each PE writes its own part."""
        if mask.dtype != np.bool_ or not self._layout.same_distribution(mask._layout):
            raise IndexError(
                f"a[mask] = value: the mask is {mask!r}; expected elements of bool in the distribution of {self!r}."
            )
        if np.ndim(value):
            raise atoll.ShapeMismatch("a[mask] = value takes a number; for an array use numpy.where.")
        self.local[mask.local] = value

    def get(self, box: Any, out: Array | None = None) -> Any:
        """Return the elements of a box, from the PEs that own them.

        Not collective. The elements are those that the owners' last barrier or signal made visible.

        Parameters
        ----------
        box
            What indexing takes: integers, slices (also with negative steps) and `...`.
        out
            An array of the box's shape and this dtype for the result. It is also returned.

        Returns
        -------
        numpy.ndarray or scalar
            A copy; a scalar if all indices are integers. `a[box]` is the same, but read-only: writes to it would not
            reach the array.

        Raises
        ------
        IndexError
            If an integer is out of range, or an index is not an integer, a slice or `...`.
        ShapeMismatch
            If `out` has another shape.
        """
        if out is None:
            near = self._layout.near(box)
            if near is not None:
                return self._copy_of(*near)
        wanted = self._layout.box(box)
        if out is not None and (out.shape != wanted.visible or out.dtype != self.dtype):
            raise atoll.ShapeMismatch(
                f"a.get(): out has shape {out.shape} and dtype {out.dtype}; the box has {wanted.visible} of {self.dtype}."
            )
        target = np.empty(wanted.shape, self.dtype) if out is None else out.reshape(wanted.shape)
        in_order = np.flip(target, wanted.reversed)
        self._read(wanted, in_order)
        if out is not None:
            if not np.shares_memory(out, target) and out.size:
                out[...] = target.reshape(out.shape)
            return out
        found = target.reshape(wanted.visible)
        return found if wanted.visible or not wanted.dropped else found[()]

    def _copy_of(self, pe: int, local: tuple[Any, ...]) -> Any:
        """Return a copy of a box within the part of one PE."""
        part = self._block[local]
        found = np.empty(part.shape, part.dtype)
        if pe == self._me:
            found[...] = part
        else:
            atoll.get(found, part, pe, team=self._team)
        return found if part.ndim else found[()]

    def _read(self, box: Box, target: Array) -> None:
        for piece in self._layout.pieces(box):
            part = self._block[piece.local]
            if piece.pe == self._me:
                target[piece.place] = part
            else:
                atoll.get(target[piece.place], part, piece.pe, team=self._team)

    def put(self, box: Any, value: Any) -> None:
        """Write a box, on the PEs that own its elements.

        Not collective. Visible to other PEs after a barrier. PEs that write the same element at once leave one of the
        values.

        Parameters
        ----------
        box
            What indexing takes.
        value
            A number or an array that broadcasts to the box's shape, converted to this dtype as by NumPy's assignment.
            Or a `DistArray` of the same distribution, if the box is everything: then each PE copies its own part.

        Raises
        ------
        IndexError
            As for `get`.
        ShapeMismatch
            If the value does not broadcast to the box, or is distributed in another way.
        """
        if isinstance(value, Parts):
            self._assign(self._layout.box(box), value)
            return
        given = np.asarray(value)
        near = self._layout.near(box)
        if near is not None:
            pe, local = near
            part = self._block[local]
            if pe == self._me and (given.ndim == 0 or given.shape == part.shape):
                part[...] = given
                return
            if given.shape == part.shape:
                atoll.put(
                    part, np.ascontiguousarray(given, self.dtype).reshape(part.shape), pe, team=self._team
                )
                return
        wanted = self._layout.box(box)
        self._write(wanted, _fitted("a[...] = value", given, wanted))

    def _write(self, box: Box, given: Array) -> None:
        for piece in self._layout.pieces(box):
            there = self._memory.view(piece.pe)
            values = given[piece.place]
            if there is not None and not (values.flags.c_contiguous and values.dtype == self.dtype):
                there[piece.local] = values  # one copy, which also converts
            else:
                atoll.put(
                    self._block[piece.local],
                    np.ascontiguousarray(values, self.dtype),
                    piece.pe,
                    team=self._team,
                )

    def _assign(self, wanted: Box, value: Parts) -> None:
        if wanted != self._layout.whole():
            raise atoll.ShapeMismatch(
                "a[box] = b of a distributed b takes the whole of a; write a[...] = b, or a[box] = b[box]."
            )
        if not self._layout.same_distribution(value._layout):
            raise atoll.ShapeMismatch(
                f"a[...] = b: a is {self!r}, b is {value!r}; redistribute one: b.redistribute(like=a)."
            )
        self.local[...] = value.local

    def accumulate(self, box: Any, value: Any, scale: Any = 1) -> None:
        """Add `scale * value` to a box, each element atomically.

        Not collective. PEs that add to the same element at once lose nothing. Visible to other PEs after a barrier.

        Parameters
        ----------
        box
            What indexing takes.
        value
            A number or an array that broadcasts to the box's shape.
        scale
            A number.

        Raises
        ------
        DtypeMismatch
            If this dtype is not an integer of 32 or 64 bits, float32 or float64.
        """
        wanted = self._layout.box(box)
        given = _fitted("a.accumulate()", summand(np.multiply(value, scale), self.dtype), wanted)
        for piece in self._layout.pieces(wanted):
            numbers = numbers_in(self._block.shape, piece.local)
            atoll.add_at(
                self._block,
                numbers.ravel(),
                np.ascontiguousarray(given[piece.place]).ravel(),
                piece.pe,
                team=self._team,
            )

    @property
    def at(self) -> At:
        """Elements by arrays of indices: `a.at[rows, columns].get()`, `.set(x)`, `.add(x)`."""
        return At(_array(self))

    def fetch_add(self, index: int | Sequence[int], value: Any) -> Any:
        """Add to one element atomically, and return its value before.

        Not collective.

        Parameters
        ----------
        index
            One integer for each axis.
        value
            A number.
        """
        key = _key(index)
        near = self._layout.near(key) if len(key) == self.ndim else None
        if near is None or self._block[near[1]].ndim:
            raise IndexError(
                f"fetch_add({index}, ...): expected one integer for each of the {self.ndim} axes, in range."
            )
        pe, local = near
        number = 0
        for at, room in zip(local, self._block.shape, strict=False):  # `local` ends with "..."
            number = number * room + at
        return atoll.atomic_fetch_add(self._block, value, pe, index=number, team=self._team)


def _key(index: Any) -> tuple[Any, ...]:
    """Return one index for each axis as a tuple; an array of one axis takes an integer."""
    return tuple(index) if isinstance(index, (tuple, list, np.ndarray)) and np.ndim(index) else (index,)


def _fitted(call: str, given: Array, box: Box) -> Array:
    """Return values in the shape and order of a box's ranges."""
    try:
        given = np.broadcast_to(given, box.visible)
    except ValueError:
        raise atoll.ShapeMismatch(
            f"{call}: the value has shape {given.shape}, which does not broadcast to the box, {box.visible}."
        ) from None
    return np.flip(given.reshape(box.shape), box.reversed)


def _array(parts: Parts) -> DistArray:
    return cast("DistArray", parts)
