"""Exchange of halos: each PE puts its rim into its neighbours' halos and signals them, corners in the same step."""

from __future__ import annotations

import itertools
import numbers
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

import atoll
from atoll._atoll import _finish_halo as finish_rims
from atoll._atoll import _start_halo as start_rims

from . import _libraries
from ._axis import Axis
from ._compared import compared
from ._layout import Layout, Width
from ._memory import signals

# The row that is copied beyond an end, as numpy.pad names them: a function of the distance from the last row inside. Rows
# count inwards, from 0 at the end itself.
_COPIED: dict[str, Callable[[int], int]] = {
    "reflect": lambda distance: distance,
    "symmetric": lambda distance: distance - 1,
    "edge": lambda distance: 0,
}
BORDERS = ("fixed", "periodic", *_COPIED)
Kind = str | complex
"""A word of BORDERS, or a number that the halo has beyond the ends."""
# The index of rows beyond an end, and that of the rows which they get, or the number.
Fill = tuple[tuple[Any, ...], tuple[Any, ...] | None, complex | None]


class Neighbour(NamedTuple):
    """A neighbour in one direction: the PE, its signal's number here and there, the rim that it gets, and its halo there.

    `source` and `target` are views of this PE's block. C++ reads the fields by their order.
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
        # Two signals per direction: the neighbour's halo may be overwritten, and the neighbour's rim has arrived.
        self._words = [signals(team, directions, library) for _ in range(2)]
        self._ready, self._arrived = (words.raw for words in self._words)
        self._count = 0
        self._kinds: tuple[Kind, ...] = ()  # kinds of the first exchange and its plan, kept for later ones
        self._plan: list[Neighbour] = []
        self._fills: list[Fill] = []
        self._given: object = self  # the word or number that was last given; none yet
        self._is_started = False
        self.is_compared = (
            os.environ.get("ATOLL_CHECK") == "all"
        )  # before each exchange; the first one always is

    def start(self, border: Kind | Sequence[Kind] | None, stream: Any = None) -> None:
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
        start_rims(self._plan, self._ready, self._arrived, self._count, self._ctx)

    def finish(self, is_at_once: bool = False) -> None:
        """Wait for the neighbours' rims, then fill what is beyond the ends of the array.

        With `is_at_once` the current stream is that of `start`.
        """
        if not self._is_started:
            raise ValueError("finish_halo() without start_halo().")
        self._is_started = False
        if self._library.on_gpu:
            for neighbour in self._plan:
                atoll.signal_consume(self._arrived, 1, neighbour.here, stream=self._stream)
            if self._waits_at_end and is_at_once:
                self._finish_on_stream()
            elif self._fills or self._waits_at_end:
                with self._library.on(self._stream):
                    self._finish_on_stream()
            return
        finish_rims(self._plan, self._arrived, self._count)
        if self._fills:
            self._fill()

    def _finish_on_stream(self) -> None:
        if self._fills:
            self._fill()
        if self._waits_at_end:
            self._library.finish()

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

    def _take(self, border: Kind | Sequence[Kind] | None) -> None:
        """Check the border, and plan the first exchange by it."""
        if border is None:
            border = self._kinds or "fixed"
        if border is self._kinds or border is self._given:
            return
        axes = len(self._layout.axes)
        is_each = isinstance(border, Sequence) and not isinstance(border, str)
        kinds = cast("tuple[Kind, ...]", tuple(border) if is_each else (border,) * axes)  # type: ignore[arg-type]
        # NaN is not equal to itself.
        if kinds == self._kinds or list(map(str, kinds)) == list(map(str, self._kinds)):
            self._given = self if is_each else border
            return
        if len(kinds) != axes or not all(map(self._is_kind, kinds)):
            raise ValueError(
                f"border is {border!r}; expected one of {', '.join(BORDERS)}, a number that the array's dtype holds, or one "
                f"for each of the {axes} axes."
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
        self._kinds, self._given = kinds, self if is_each else border
        self._fills = self._beyond_ends()
        self._plan = self._neighbours()

    def _is_kind(self, kind: Any) -> bool:
        if isinstance(kind, str):
            return kind in BORDERS
        if not isinstance(kind, numbers.Number) or isinstance(kind, bool):
            return False
        dtype = self._block.dtype
        is_numpys = isinstance(dtype, np.dtype) and dtype.kind in "biufc"
        return not is_numpys or np.can_cast(np.min_scalar_type(kind), dtype, "same_kind")  # type: ignore[arg-type]

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

    def _fill(self) -> None:
        view = self._library.view(self._block)[self._layout.padded(self._me)]
        for target, source, number in self._fills:
            view[target] = number if source is None else view[source]

    def _beyond_ends(self) -> list[Fill]:
        """Return the copies that fill what is beyond the ends of the array, in the order of axes, as numpy.pad does."""
        layout = self._layout
        shape = self._block[layout.padded(self._me)].shape
        found: list[Fill] = []
        for number, at in enumerate(layout.coordinates(self._me)):
            kind, axis, (low, high) = self._kinds[number], layout.axes[number], layout.halo[number]
            low, high = low * (at == 0), high * (at == axis.parts - 1)
            first, last = layout.halo[number][0], shape[number] - layout.halo[number][1] - 1

            def rows(start: int, number: int = number) -> tuple[Any, ...]:
                return (*(slice(None),) * number, start)

            if not isinstance(kind, str):
                found += [(rows(first - i), None, kind) for i in range(1, low + 1)]
                found += [(rows(last + i), None, kind) for i in range(1, high + 1)]
            elif kind in _COPIED:
                inwards = _COPIED[kind]
                found += [(rows(first - i), rows(first + inwards(i)), None) for i in range(1, low + 1)]
                found += [(rows(last + i), rows(last - inwards(i)), None) for i in range(1, high + 1)]
        return found


def _lacks(axis: Axis, width: Width) -> tuple[int, int] | None:
    """Return how many elements an end of an axis mirrors and how many it sees, if those are too few.

    A part at an end also mirrors what its halo has of the neighbour.
    """
    low, high = width
    beside = axis.parts > 1
    ends = ((low, axis.extent(0) + beside * high), (high, axis.extent(axis.parts - 1) + beside * low))
    return next(((wanted, seen - 1) for wanted, seen in ends if wanted and wanted >= seen), None)
