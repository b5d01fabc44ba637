"""The parts of a distributed array: what lies where, and one-sided reads and writes of any box."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from . import _libraries, _replicated
from ._box_copy import Copy
from ._kernel_view import View, view_of
from ._layout import Layout, is_one
from ._memory import Memory, allocate
from ._teams import _current

if TYPE_CHECKING:
    pass

Array = np.ndarray[Any, Any]


class Parts(atoll._atoll._Boxes, _current.OverTeam):
    """An array in parts, one on each PE of a team. Its public calls are not collective."""

    def _make(
        self, its: Layout, dtype: np.dtype[Any], zero: bool = True, library: _libraries.Library | None = None
    ) -> None:
        self._layout = its
        _replicated.note(its.has_copies)
        self._library = library = library or _current.library()
        library.require(dtype)
        self._team = team = _current.team()
        self._me, self._n_pes = team.my_pe(), team.n_pes()
        # A halo has zeros until it is filled.
        self._memory = Memory(
            allocate(team, its.block_shape, dtype, zero or its.has_halo, library), its.shape
        )
        # Equal on all PEs of the team, and no other array of theirs has it: its offset, or the meeting that made it.
        self._number = self._memory.offset or atoll._atoll._step()
        self._show_block()

    def _show_block(self) -> None:
        """Let the calls in C++ find the block by the layout."""
        its = self._layout
        is_simple = self._library is _libraries.HOST and not its.has_copies
        self._set_block(its.rows, self._memory.raw if is_simple else None, self._team, self._me, Copy)

    @property
    def _block(self) -> Any:
        """This PE's block; an error if it is freed."""
        return self._memory.block

    @property
    def _raw(self) -> Any:
        """This PE's block as Atoll's own calls take it; an error if it is freed."""
        return self._memory.raw

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
        return self._over

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of parts along each axis."""
        return self._layout.grid

    @property
    def local(self) -> Array:
        """This PE's part, a view without the halo, by NumPy, or on GPUs by CuPy or PyTorch. Writes to it are writes to the array.

        The view ends with `free`, which cannot find it: afterwards it shows other memory, without an error.
        """
        found: Array = self._block[self._layout.interior(self._me)]
        return found

    @property
    def local_with_halo(self) -> Array:
        """This PE's part with its halo, a view, which ends as `local` does."""
        found: Array = self._block[self._layout.padded(self._me)]
        return found

    def barrier(self) -> None:
        """Complete what this PE wrote, also by its GPU's current stream, and wait for all PEs of the array. Collective.

        On hosts it is `a.team.barrier()`. That does not wait for a GPU, so programs for both call this.
        """
        _ = self._block
        self._library.finish()
        self._team.barrier()

    def device(self) -> tuple[View, Array]:
        """Return the arguments by which kernels find elements by global indices: the axes, and this PE's block as one
        axis.

        Not collective. `atoll.arrays.numba` and `atoll.arrays.triton` have the functions for kernels.

        Returns
        -------
        axes, block
            Arguments for kernels: a tuple of one NamedTuple for each axis, and the block with its halo.

        Raises
        ------
        Unsupported
            If an axis is distributed by bounds.
        """
        axes = view_of(self._layout)
        self._use_atomics()
        return axes, self._block.reshape(-1)

    def owner(self, index: int | Sequence[int]) -> int:
        """Return the PE of the team that owns an element, given by one index for each axis.

        Parameters
        ----------
        index
            One integer for each axis; negative numbers count from the end.

        Returns
        -------
        int
            A number within the array's team. Of several PEs that have the element it is the first.

        Raises
        ------
        IndexError
            If it is not one element of the array.
        """
        key = key_of(index)
        box = self._layout.box(key)
        if len(key) != self.ndim or len(box.dropped) != self.ndim:
            raise IndexError(f"owner({index}): expected one integer for each of the {self.ndim} axes.")
        owners = [int(axis.owner(r.start)) for axis, r in zip(self._layout.axes, box.ranges, strict=True)]
        return self._layout.pe_at(owners)

    def bounds(self, pe: int | None = None) -> tuple[tuple[int, int], ...]:
        """Return the global indices of a PE's part as (start, stop) for each axis; of this PE by default.

        Parameters
        ----------
        pe
            A number within the array's team. None: this PE.

        Returns
        -------
        tuple of pairs

        Raises
        ------
        ValueError
            If an axis is cyclic, so that the part is not one range; use `global_indices`.
        PeError
            If there is no such PE.
        """
        for number, axis in enumerate(self._layout.axes):
            if not axis.is_contiguous:
                raise ValueError(
                    f"axis {number} is {axis.kind}: its parts are not ranges; use a.global_indices({number})."
                )
        return self._layout.ranges(self._pe(pe))

    def global_indices(self, axis: int, pe: int | None = None) -> Array:
        """Return the global indices along an axis of a PE's part, ascending; of this PE by default.

        Parameters
        ----------
        axis
            An axis; negative numbers count from the end.
        pe
            A number within the array's team. None: this PE.

        Returns
        -------
        numpy.ndarray
            int64, of one axis.

        Raises
        ------
        PeError
            If there is no such PE.
        """
        number = self._layout.axis_number(axis)
        return self._layout.axes[number].indices(self._layout.coordinates(self._pe(pe))[number])

    def global_index(self, index: int | Sequence[int], pe: int | None = None) -> tuple[int, ...]:
        """Return the place in the whole array of an element of a PE's part, such as `a.local[index]`.

        Parameters
        ----------
        index
            One integer for each axis, within the part; negative numbers count from its end.
        pe
            A number within the array's team. None: this PE.

        Returns
        -------
        tuple of int
            One global index for each axis.

        Raises
        ------
        IndexError
            If the part has no such element.
        PeError
            If there is no such PE.
        """
        key = key_of(index)
        coordinates = self._layout.coordinates(self._pe(pe))
        if len(key) != self.ndim or not all(is_one(each) and not isinstance(each, bool) for each in key):
            raise IndexError(f"global_index({index}): expected one integer for each of the {self.ndim} axes.")
        found = []
        for number, (axis, at, local) in enumerate(zip(self._layout.axes, coordinates, key, strict=True)):
            extent = axis.extent(at)
            if not -extent <= local < extent:
                raise IndexError(
                    f"global_index({index}): axis {number} of the part has {extent} elements, and none at {local}."
                )
            found.append(int(axis.global_of(at, local % extent)))
        return tuple(found)

    def _pe(self, pe: int | None) -> int:
        if pe is None:
            return self._me
        if not is_one(pe) or isinstance(pe, bool):
            raise TypeError(f"a PE's number is {pe!r}; expected an integer.")
        if not 0 <= pe < self._n_pes:
            has = "job" if self._over == atoll.WORLD else "array's team"
            raise atoll.PeError(f"PE {pe} does not exist; the {has} has PEs 0 to {self._n_pes - 1}.")
        return operator.index(pe)


def key_of(index: Any) -> tuple[Any, ...]:
    """Return one index for each axis as a tuple; an array of one axis takes an integer."""
    return (operator.index(index),) if is_one(index) else tuple(index) if np.ndim(index) else (index,)
