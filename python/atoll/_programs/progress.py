"""A progress bar over all PEs: tqdm's if it is installed, else a line on a terminal."""

from __future__ import annotations

import contextlib
import operator
import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, TextIO, TypeVar

from .. import _atoll
from .._allocation import zeros

Item = TypeVar("Item")
_INTERVAL_S = 0.1  # between two updates of the bar, and between two messages of a PE


def _cure(iterable: object, total: object) -> str:
    """Return the text of the error about steps that cannot be counted."""
    if isinstance(iterable, int):
        return f"progress(): the iterable is {iterable}; pass range({iterable}), or total={iterable} for a `with` block."
    if total is not None:
        return f"progress(): total is {total!r}; pass the number of this PE's steps, an integer from 0."
    if iterable is None:
        return (
            "progress(): nothing to count; pass what this PE loops over, or total=, the number of its steps."
        )
    return (
        f"progress(): a {type(iterable).__name__} has no length; pass total=, the number of this PE's steps."
    )


class progress(Generic[Item]):
    """Show one progress bar for the loops of all PEs.

    PE 0 shows how many steps all PEs have made, of the steps of all PEs.

    Parameters
    ----------
    iterable
        What this PE loops over. None: the program calls `update` in a `with` block.
    total
        The number of this PE's steps; None: the iterable's length.
    desc
        A text before the bar; that of PE 0 is shown.
    unit
        The name of a step.
    file
        Where PE 0 writes; None: sys.stderr.

    Raises
    ------
    InvalidArgument
        total is missing and the iterable has no length, or total is not an integer from 0.
    PeDied, CollectiveMismatch
        A PE has ended; the PEs called differently (unless ATOLL_CHECK=none).

    Notes
    -----
    Collective: every PE makes one, and all PEs meet where their loops end. A loop that may end early needs the
    `with` form. There the meeting is at the end of the block, unless an exception leaves it.

    Without tqdm a line shows the share, if the file is a terminal.

    Examples
    --------
    >>> import os
    >>> with open(os.devnull, "w") as nowhere:
    ...     done = [step for step in atoll.progress(range(3), desc="steps", file=nowhere)]
    >>> done
    [0, 1, 2]
    """

    def __init__(
        self,
        iterable: Iterable[Item] | None = None,
        *,
        total: int | None = None,
        desc: str = "",
        unit: str = "it",
        file: TextIO | None = None,
    ) -> None:
        try:
            mine = operator.index(len(iterable) if total is None else total)  # type: ignore[arg-type]
        except TypeError:
            mine = -1
        _atoll._check_job("progress")
        if mine < 0:
            raise _atoll.InvalidArgument(_cure(iterable, total))
        self._iterable = iterable
        self._words: Any = zeros(2, "i8")  # on PE 0: the steps of all PEs, and how many PEs have ended
        steps = int(_atoll.sum_reduce(mine))
        self._pending, self._next_s = 0, 0.0
        self._bar = _bar(steps, desc, unit, file or sys.stderr) if _atoll.my_pe() == 0 else None

    def update(self, n: int = 1) -> None:
        """Count steps of this PE. Local: the bar follows within a tenth of a second.

        Parameters
        ----------
        n
            The number of steps since the last call.
        """
        self._pending += n
        now = time.monotonic()
        if now >= self._next_s:
            self._next_s = now + _INTERVAL_S
            self._send()

    def _send(self) -> None:
        if self._pending:
            _atoll.atomic_add(self._words, self._pending, 0, index=0)
            self._pending = 0
        if self._bar is not None:
            self._bar.show(int(_atoll.atomic_fetch(self._words, 0, index=0)))

    def close(self) -> None:
        """End the bar. Collective: the PEs meet, and PE 0 shows the last steps of the others meanwhile."""
        if self._words is None:
            return
        self._send()
        _atoll.atomic_add(self._words, 1, 0, index=1)
        if self._bar is not None:
            ended = False
            while not ended:
                with contextlib.suppress(_atoll.Timeout):
                    _atoll.wait_until(self._words, ">=", _atoll.n_pes(), timeout=_INTERVAL_S, index=1)
                    ended = True
                self._send()
            self._bar.close()
        words, self._words = self._words, None
        _atoll.free(words)

    def __iter__(self) -> Iterator[Item]:
        if self._iterable is None:
            raise _atoll.InvalidArgument("progress(): there is nothing to loop over; pass an iterable.")
        return self._steps(self._iterable)

    def _steps(self, iterable: Iterable[Item]) -> Iterator[Item]:
        for item in iterable:
            yield item
            self.update()
        # A loop that breaks, or ends by an exception, does not come here: the others may never do so.
        self.close()

    def __enter__(self) -> progress[Item]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def __repr__(self) -> str:
        return "atoll.progress(closed)" if self._words is None else f"atoll.progress({self._iterable!r})"


class _Tqdm:
    def __init__(self, tqdm: Any, steps: int, desc: str, unit: str, file: TextIO) -> None:
        # tqdm's own thread, which would outlive the bar, has no use here: PE 0 shows the bar by itself.
        kind = type("tqdm", (tqdm,), {"monitor_interval": 0})
        self._bar = kind(total=steps, desc=desc or None, unit=unit, file=file)

    def show(self, done: int) -> None:
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Line:
    def __init__(self, steps: int, desc: str, file: TextIO) -> None:
        self._steps, self._begin, self._file = steps, f"{desc}: " if desc else "", file
        self._shows = file.isatty()

    def show(self, done: int) -> None:
        if self._shows:
            share = 100 * done // max(self._steps, 1)
            self._file.write(f"\r{self._begin}{share:3d}% {done}/{self._steps}")
            self._file.flush()

    def close(self) -> None:
        if self._shows:
            self._file.write("\n")
            self._file.flush()


def _bar(steps: int, desc: str, unit: str, file: TextIO) -> _Tqdm | _Line:
    try:
        from tqdm import tqdm
    except ImportError:
        return _Line(steps, desc, file)
    return _Tqdm(tqdm, steps, desc, unit, file)


progress.__module__ = "atoll"
