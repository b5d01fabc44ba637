"""The entries of a vector that PEs need of each other: owners put them while all multiply what needs no other PE.

Few entries in mapped memory are read instead. To wait for their owners would take longer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll

from ..arrays import DistArray
from ..arrays._memory import Allocation, allocate, signals

Array = np.ndarray[Any, Any]
LEAST = 1 << 16  # entries of the neediest PE; with less of them reads of mapped memory are faster than puts


class Entries:
    """The plan by which owners put entries, made once, and the rooms where they arrive, one for each dtype.

    A PE's room has the entries in the order of their columns. A call that used it ends with a barrier, so that it is free
    for the next one. All PEs read if there are few entries, and loads reach all of them.

    Parameters
    ----------
    team
        The PEs. Making the plan is collective.
    parts, numbers
        The owners of the entries that this PE needs, ascending, and the places of the entries in the owners' parts.
    is_near
        Loads and stores of this PE reach the vectors of all PEs.
    """

    def __init__(self, team: atoll.Team, parts: Array, numbers: Array, is_near: bool) -> None:
        n, me = team.n_pes(), team.my_pe()
        self._team, self._me = team, me
        self._parts, self._numbers, self._n = parts, numbers, len(numbers)
        mine = np.append(np.bincount(parts, minlength=n), is_near).astype(np.int64)
        every = np.asarray(atoll.fcollect(mine, team=team)).reshape(n, n + 1)
        counts = every[:, :n]
        self._reads = counts.sum(axis=1).max() < LEAST and bool(every[:, n].all())
        if not self._reads:
            self._plan(counts)

    def _plan(self, counts: Array) -> None:
        """Let each owner know what it puts. `counts` has the entries of a PE (rows) at each owner (columns). Collective."""
        team, me, n = self._team, self._me, len(counts)
        starts = np.cumsum(counts, axis=1) - counts  # start of each owner's entries in a PE's region
        self._room = int(counts.sum(axis=1).max())
        self._owners = np.flatnonzero(counts[me]).tolist()
        wanted = allocate(team, (max(self._room, 1),), np.dtype(np.int64))
        wanted.block[: self._n] = self._numbers
        team.barrier()
        self._sends: list[tuple[int, slice, Array]] = []
        # PEs begin with different ones, so that they do not write to one at the same time.
        for pe in [(me + distance) % n for distance in range(1, n)]:
            extent = slice(int(starts[pe, me]), int(starts[pe, me] + counts[pe, me]))
            if counts[pe, me]:
                numbers_there = np.empty(int(counts[pe, me]), np.int64)
                atoll.get(numbers_there, wanted.raw[extent], pe, team=team)
                self._sends.append((pe, extent, numbers_there))
        self._words = signals(team, n)
        self._rooms: dict[np.dtype[Any], tuple[Allocation, dict[int, Array | None]]] = {}
        self._calls = 0
        self._kept: list[Array] = []

    @property
    def exists(self) -> bool:
        """True until the job is finalized in which the plan was made; the same on all PEs."""
        return self._reads or self._words.exists

    def start(self, x: DistArray) -> None:
        """Put the entries of this PE's part that others need, and signal them. Collective; does not wait.

        The first call for a dtype makes its room, and waits for all PEs.
        """
        if self._reads:
            return
        if x.dtype not in self._rooms:
            self._rooms[x.dtype] = allocate(self._team, (self._room,), x.dtype, zero=False), {}
        self._calls += 1  # only after the allocation: a call that fails there sends no signal
        room, views = self._rooms[x.dtype]
        local, self._kept = x.local, []
        for pe, extent, numbers in self._sends:
            if pe not in views:
                views[pe] = _mapped(room, pe)
            there = views[pe]
            if there is not None:
                np.take(local, numbers, out=there[extent], mode="clip")  # no copy, unlike "raise"
            else:
                self._kept.append(local[numbers])
                atoll.put_nbi(room.raw[extent], self._kept[-1], pe, team=self._team)
        atoll.fence()
        for pe, _, _ in self._sends:
            # The number of the call: what a call that failed left out does not make a later one wait.
            atoll.signal_set(self._words.raw, self._calls, pe, index=self._me, team=self._team)

    def finish(self, x: DistArray) -> Array:
        """Return the entries that this PE needs, once all of them are there."""
        if self._reads:
            return self._read(x)
        for owner in self._owners:
            atoll.signal_wait_until(self._words.raw, atoll.GE, self._calls, index=owner)
        found: Array = self._rooms[x.dtype][0].block[: self._n]
        return found

    def _read(self, x: DistArray) -> Array:
        low, window = x._layout.halo[0][0], x._memory.window()
        if window is None:
            return atoll.take(x._block, self._numbers + low, self._parts, team=self._team)
        memory, distance = window
        found: Array = memory[self._numbers + (self._parts * distance + low)]
        return found


def _mapped(room: Allocation, pe: int) -> Array | None:
    """Return a PE's room, if loads and stores reach it."""
    try:
        found: Array = room.on(pe)
    except atoll.Unsupported:
        return None
    return found
