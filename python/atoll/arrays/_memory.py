"""The blocks of a distributed array on all PEs, as memory that this PE reads and writes by loads and stores."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import numpy as np

import atoll

from .._job import program_line
from . import _libraries
from ._teams import _dropped
from ._teams._regions import Offset, Span, array_at, memory_of
from ._teams._regions import free as free_span
from ._teams._regions import take as take_span

Array = np.ndarray[Any, Any]


class Allocation:
    """A block of symmetric memory on each PE of a team. Atoll's own calls take `raw`, and `block` is its library's view."""

    def __init__(
        self,
        team: atoll.Team,
        raw: Array,
        block: Array,
        span: Span | None = None,
        library: _libraries.Library = _libraries.HOST,
    ) -> None:
        self.team, self.raw, self.span = team, raw, span
        self.library, self.block = library, block
        self._owner = raw if span is None else memory_of(span)  # it knows if the memory exists
        self._whole = raw  # all that was allocated
        self._is_freed = False

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # modules lose their names one by one
            return
        if self.span is None and not self._is_freed and not self.library.on_gpu:
            _dropped.note_drop(self.block.nbytes)

    @property
    def exists(self) -> bool:
        """True until it is freed, by any call, or its job is finalized."""
        return not self._is_freed and atoll.is_symmetric(self._owner)

    def free(self) -> None:
        """Free it. Collective over the team."""
        self._is_freed = True
        if self.span is None:
            atoll.free(self._whole)
        else:
            self.team.barrier()
            free_span(self.span)

    def reshape(self, shape: tuple[int, ...]) -> None:
        """Give the block another shape of at most as many elements as were allocated. For arrays on hosts."""
        self.raw = self._whole.reshape(-1)[: math.prod(shape)].reshape(shape)
        self.block = self.library.view(self.raw)

    @property
    def room(self) -> int:
        """Number of elements that were allocated."""
        return int(self._whole.size)

    def on(self, pe: int) -> Any:
        """Return a PE's block as a plain array.

        Raises
        ------
        Unsupported
            If loads and stores do not reach it.
        """
        if pe == self.team.my_pe():
            return self.block
        if self.span is None:
            return self.library.view(atoll.peer(self.raw, pe, team=self.team))
        region = atoll.peer(self._owner, pe, team=self.team)
        return self.library.view(array_at(self.span.offset, self.raw.shape, self.raw.dtype, region))


def allocate(
    team: atoll.Team,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    zero: bool = True,
    library: _libraries.Library = _libraries.HOST,
) -> Allocation:
    """Return a block on each PE of a team; with `zero` all PEs see zeros. Collective over the team."""
    if team.n_pes() == atoll.WORLD.n_pes():
        raw = library.symmetric(shape, dtype, zero)
        _dropped.note_allocation()
        return Allocation(team, raw, library.view(raw), library=library)
    raw, block, span = take_span(team, shape, dtype, library)
    if zero:
        block[...] = library.array(np.zeros((), dtype))
        library.finish()
        team.barrier()
    return Allocation(team, raw, block, span, library)


def signals(team: atoll.Team, n: int, library: _libraries.Library = _libraries.HOST) -> Allocation:
    """Return signal words on each PE of a team, beside arrays of a library. Collective over the team."""
    if team.n_pes() == atoll.WORLD.n_pes():
        raw = library.signals(n)
        return Allocation(team, raw, raw)
    made = allocate(team, (n,), np.dtype(np.int64), library=library)
    made.raw = made.raw.view(np.uint64)
    return made


class Memory:
    """The blocks of all PEs; for each whether loads and stores reach it. Views are made once."""

    def __init__(self, its: Allocation, shape: tuple[int, ...]) -> None:
        self._its = its
        self._shape = shape  # shape of the whole array, for errors
        self.dtype: np.dtype[Any] = its.library.dtype(its.block)
        self._block = its.block
        self.kind = type(its.block)
        self._made_at = program_line()
        self._end = ""
        self._views: dict[int, Array | None] = {}
        self._window: tuple[Array, int] | None = None
        self._is_window_tried = False

    @property
    def exists(self) -> bool:
        """True until it is freed, by any call, or its job is finalized."""
        return self._its.exists

    @property
    def offset(self) -> Offset | None:
        """The place of the blocks in the rooms of a team; None if all PEs have blocks."""
        return None if self._its.span is None else self._its.span.offset

    @property
    def room(self) -> int:
        """Number of elements that each PE's memory holds."""
        return self._its.room

    def reshape(self, shape: tuple[int, ...]) -> None:
        """Give the block of this PE another shape, which fits its room. All PEs do so. Views of it are made again."""
        self._its.reshape(shape)
        self._block = self._its.block
        self._views.clear()
        self._window, self._is_window_tried = None, False

    @property
    def block(self) -> Any:
        """This PE's block.

        Raises
        ------
        UseAfterFree
            If it is freed, or its job is finalized: its bytes belong to another array.
        """
        if not self._its.exists:
            raise self._freed_error()
        return self._block

    @property
    def raw(self) -> Array:
        """This PE's block as Atoll's own calls take it; errors as for `block`."""
        if not self._its.exists:
            raise self._freed_error()
        return self._its.raw

    def free(self) -> None:
        """Free the blocks of all PEs. Collective over the team."""
        self._its.free()
        self._end = "freed by a.free()"
        self._views.clear()
        self._window = None

    def made(self, start: str = " ") -> str:
        """Return the line that made the array as a text behind a start; empty if it is not known."""
        file, line = self._made_at
        return f"{start}made at {PurePath(file).name}:{line}" if file else ""

    def _freed_error(self) -> atoll.UseAfterFree:
        end = self._end or "freed by atoll.free() of its part, or its job was finalized"
        return atoll.UseAfterFree(
            f"the distributed array of shape {self._shape} and dtype {self.dtype}{self.made()} was {end}; make another one."
        )

    def view(self, pe: int) -> Array | None:
        """Return a PE's block as a plain array, or None if only calls reach it."""
        _ = self.block
        if pe not in self._views:
            try:
                self._views[pe] = self._its.on(pe)
            except atoll.Unsupported:
                self._views[pe] = None
        return self._views[pe]

    def window(self) -> tuple[Array, int] | None:
        """Return one flat array that has all blocks, and the distance of two PEs' blocks in elements.

        None for an array over a team, or on GPUs, and if loads and stores do not reach every PE. None if the distance is no multiple
        of the elements' size. Do not access the memory between the blocks.
        """
        _ = self.block
        if not self._is_window_tried:
            self._is_window_tried = True
            self._window = self._map()
        return self._window

    def _map(self) -> tuple[Array, int] | None:
        if self._its.library is not _libraries.HOST:
            return None
        item, n = self._block.itemsize, self._its.team.n_pes()
        if not self._block.size or not item or self._its.team != atoll.WORLD:
            return None
        if n == 1:
            return self._block.reshape(-1), 0
        try:
            every = atoll.global_view(self._block)
        except atoll.Unsupported:
            return None
        distance, rest = divmod(every.strides[0], item)
        if rest or distance < 0:
            return None
        length = (n - 1) * distance + self._block.size
        return np.lib.stride_tricks.as_strided(every[0], (length,), (item,)), distance
