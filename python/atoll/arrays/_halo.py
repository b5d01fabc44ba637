"""Exchange of halos: each PE puts its rim into its neighbours' halos and signals them, corners in the same step."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import atoll

from . import _libraries
from ._axis import Axis
from ._compared import compared
from ._layout import Layout, Width
from ._memory import signals

BORDERS = ("fixed", "periodic", "reflect")


@dataclass(frozen=True)
class Neighbour:
    """A neighbour in one direction: the PE, its signal's number here and there, the rim that it gets, and its halo there.

    `source` and `target` are views of this PE's block.
    """

    pe: int
    here: int
    there: int
    source: Any
    target: Any


class Exchange:
    """The exchange of one array's halo; used again for each exchange.

    On hosts signals count the exchanges. On GPUs all is done on a stream. There each signal is taken back when it has come,
    so that a CUDA graph may repeat it.
    """

    def __init__(
        self,
        layout: Layout,
        team: atoll.Team,
        block: np.ndarray[Any, Any],
        library: _libraries.Library = _libraries.HOST,
    ) -> None:
        self._layout = layout
        self._library = library
        self._stream: Any = None
        self._waits_at_end = False
        self._team, self._me = team, team.my_pe()
        self._ctx = None if team == atoll.WORLD else atoll.Context(team)
        self._block = block
        directions = 3 ** len(layout.axes)
        # A neighbour's halo may be overwritten; its rim is here.
        self._words = [signals(team, directions, library) for _ in range(2)]
        self._ready, self._arrived = (words.raw for words in self._words)
        self._count = 0
        self._kinds: tuple[str, ...] = ()  # kinds of the first exchange and its plan, kept for later ones
        self._plan: list[Neighbour] = []
        self._is_started = self._reflects = False

    def start(self, border: str | Sequence[str] | None, stream: Any = None) -> None:
        """Tell the neighbours that this halo may be overwritten, and put the rims that they get."""
        if self._is_started:
            raise ValueError("start_halo() twice without finish_halo() between.")
        self._take(border)
        self._is_started = True
        if self._library.on_gpu:
            self._waits_at_end = stream is None
            is_current = stream is None or (isinstance(stream, str) and stream == "current")
            # By its handle: another stream may be current in `finish`, and the words of a team have no library.
            self._stream = self._library.current_stream() if is_current else stream
            self._enqueue()
            return
        self._count += 1
        for neighbour in self._plan:
            atoll.signal_add(self._ready, 1, neighbour.pe, index=neighbour.there, ctx=self._ctx)
        for neighbour in self._plan:
            atoll.signal_wait_until(self._ready, atoll.GE, self._count, index=neighbour.here)
            atoll.put_signal(
                *(neighbour.target, neighbour.source, self._arrived, 1, "add", neighbour.pe, neighbour.there),
                ctx=self._ctx,
            )

    def finish(self) -> None:
        """Wait for the neighbours' rims, then mirror where the border reflects."""
        if not self._is_started:
            raise ValueError("finish_halo() without start_halo().")
        self._is_started = False
        if self._library.on_gpu:
            for neighbour in self._plan:
                atoll.signal_consume(self._arrived, 1, neighbour.here, stream=self._stream)
            if self._reflects or self._waits_at_end:
                with self._library.on(self._stream):
                    self._reflect()
                    if self._waits_at_end:
                        self._library.finish()
            return
        for neighbour in self._plan:
            atoll.signal_wait_until(self._arrived, atoll.GE, self._count, index=neighbour.here)
        if self._reflects:
            self._reflect()

    def _enqueue(self) -> None:
        """Do the work of `start` on the stream, after what is there: it has read the halo and written the rim."""
        stream, ctx = self._stream, self._ctx
        for neighbour in self._plan:
            atoll.signal_add(self._ready, 1, neighbour.pe, neighbour.there, ctx=ctx, stream=stream)
        for neighbour in self._plan:
            atoll.signal_consume(self._ready, 1, neighbour.here, stream=stream)
            atoll.put_signal(
                *(neighbour.target, neighbour.source, self._arrived, 1, "add", neighbour.pe, neighbour.there),
                ctx=ctx,
                stream=stream,
            )

    def free(self) -> None:
        """Free the signals. Collective."""
        for words in self._words:
            words.free()
        if self._ctx is not None:
            self._ctx.destroy()

    def _take(self, border: str | Sequence[str] | None) -> None:
        """Check the border, and plan the first exchange by it."""
        if border is None:
            border = self._kinds or "fixed"
        if border == self._kinds:
            return
        axes = len(self._layout.axes)
        kinds = (border,) * axes if isinstance(border, str) else tuple(border)
        if kinds == self._kinds:
            return
        wrong = [kind for kind in kinds if kind not in BORDERS]
        if wrong or len(kinds) != axes:
            raise ValueError(
                f"border is {border!r}; expected one of {', '.join(BORDERS)}, or one for each of the {axes} axes."
            )
        for number, (kind, axis, width) in enumerate(
            zip(kinds, self._layout.axes, self._layout.halo, strict=True)
        ):
            if kind == "reflect" and (missing := _lacks(axis, width)):
                raise ValueError(
                    f"axis {number}: the border 'reflect' mirrors {missing[0]} elements beside the one at an end, and the PE "
                    f"there has {missing[1]}. Those of its neighbour in the halo count. Use fewer PEs along this axis, or a "
                    "narrower halo."
                )
        if self._kinds:
            raise ValueError(
                f"border is {kinds}, and was {self._kinds}; an array keeps its borders. Leave the argument "
                "out, or make another array."
            )
        compared("exchange_halo", (kinds,), {}, lambda: None, self._team)
        self._kinds, self._reflects = kinds, "reflect" in kinds
        self._plan = self._neighbours()

    def _neighbours(self) -> list[Neighbour]:
        layout = self._layout
        mine = layout.coordinates(self._me)
        found = []
        for number, direction in enumerate(itertools.product((-1, 0, 1), repeat=len(mine))):
            if not any(direction):
                continue
            if any(step and width == (0, 0) for step, width in zip(direction, layout.halo, strict=True)):
                continue  # nothing goes that way, from either side
            position = []
            for step, at, axis, kind in zip(direction, mine, layout.axes, self._kinds, strict=True):
                to = at + step
                if kind == "periodic":
                    to %= axis.parts
                if not 0 <= to < axis.parts:
                    break
                position.append(to)
            else:
                pe = layout.pe_at(position)
                source, target = self._rim(direction, layout.extents(pe))
                opposite = 3 ** len(mine) - 1 - number
                found.append(Neighbour(pe, number, opposite, self._block[source], self._block[target]))
        return found

    def _rim(
        self, direction: tuple[int, ...], extents: tuple[int, ...]
    ) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return the rim that the neighbour in a direction gets, and its place in the neighbour's block."""
        source, target = [], []
        own = self._layout.extents(self._me)
        for step, (low, high), n, others in zip(direction, self._layout.halo, own, extents, strict=True):
            if step == 0:
                source.append(slice(low, low + n))
                target.append(slice(low, low + others))
            elif step > 0:
                source.append(slice(n, low + n))
                target.append(slice(0, low))
            else:
                source.append(slice(low, low + high))
                target.append(slice(low + others, low + others + high))
        return tuple(source), tuple(target)

    def _reflect(self) -> None:
        layout = self._layout
        mine = layout.coordinates(self._me)
        view = self._library.view(self._block)[layout.padded(self._me)]
        for number, (kind, axis, at) in enumerate(zip(self._kinds, layout.axes, mine, strict=True)):
            if kind != "reflect":
                continue
            width: Width = layout.halo[number]
            _mirror(view, number, width, at == 0, at == axis.parts - 1)


def _lacks(axis: Axis, width: Width) -> tuple[int, int] | None:
    """Return how many elements an end of an axis mirrors and how many it sees, if those are too few.

    A part at an end also mirrors what its halo has of the neighbour.
    """
    low, high = width
    beside = axis.parts > 1
    ends = ((low, axis.extent(0) + beside * high), (high, axis.extent(axis.parts - 1) + beside * low))
    return next(((wanted, seen - 1) for wanted, seen in ends if wanted and wanted >= seen), None)


def _mirror(view: Any, axis: int, width: Width, is_first: bool, is_last: bool) -> None:
    """Mirror rows along an axis at the first and the last row of a part, which are not repeated."""
    low, high = width
    end = view.shape[axis] - high

    def row(number: int) -> tuple[Any, ...]:
        return (*(slice(None),) * axis, number)

    if is_first:
        for i in range(1, low + 1):
            view[row(low - i)] = view[row(low + i)]
    if is_last:
        for i in range(high):
            view[row(end + i)] = view[row(end - 2 - i)]
