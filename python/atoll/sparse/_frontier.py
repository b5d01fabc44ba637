"""The frontier of a breadth-first search: each PE advances its own vertices and tells owners of those it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from ..arrays._memory import allocate
from ..arrays._teams import _current

if TYPE_CHECKING:
    from ._matrix import SparseMatrix

Array = np.ndarray[Any, Any]


class Frontier:
    """The vertices of this PE that the last level has reached, and the levels and parents so far.

    Each PE has an inbox with room for every vertex that another PE may send. A PE sends a vertex once, so inboxes are
    written once and need no flow control.
    """

    def __init__(self, graph: SparseMatrix, source: int) -> None:
        n, me = _current.n_pes(), _current.my_pe()
        self._graph = graph
        self._first, stop = graph._rows.ends(me)
        self._unknown = graph.shape[0]  # greater than any parent
        self.levels = np.full(stop - self._first, -1, np.int64)
        self._parents = np.full(stop - self._first, self._unknown, np.int64)
        self._level = 0
        self._fresh: Array = np.empty(0, np.int64)
        if self._first <= source < stop:
            self._fresh = np.array([source - self._first])
            self.levels[self._fresh] = 0
        self._is_sent = np.zeros(len(graph._far_columns), bool)
        self._far_parents = np.empty(len(graph._far_columns), np.int64)
        self._ends = np.searchsorted(graph._parts, np.arange(n + 1))  # far columns are sorted by PE
        self._team = team = _current.team()
        counts = np.asarray(atoll.fcollect(np.diff(self._ends), team=team)).reshape(n, n)  # from, to
        self._offsets = (
            np.cumsum(counts, axis=0)[me] - counts[me]
        )  # starts of this PE's entries in the others' inboxes
        self._starts = (
            np.cumsum(counts[:, me]) - counts[:, me]
        )  # starts of the others' entries in this PE's inbox
        room, number = max(1, int(counts.sum(axis=0).max())), np.dtype(np.int64)
        self._inbox = allocate(team, (room, 2), number, zero=False).block  # vertex of the owner, parent
        self._arrived = allocate(team, (n,), number).block  # entries from each PE
        self._taken = np.zeros(n, np.int64)
        self._sent = np.zeros(n, np.int64)

    def advance(self) -> bool:
        """Reach the next level; False if no PE has found a vertex. Collective."""
        self._level += 1
        graph = self._graph
        self._send()
        rows, columns = graph._own.elements_of(self._fresh)
        is_new = self.levels[columns] < 0
        columns, rows = columns[is_new], rows[is_new]
        # The last of equal indices remains: that of the least row.
        self._parents[columns[::-1]] = rows[::-1] + self._first
        _current.barrier()
        entries = self._received()
        entries = entries[self.levels[entries[:, 0]] < 0]
        np.minimum.at(self._parents, entries[:, 0], entries[:, 1])
        self._fresh = distinct(np.concatenate([columns, entries[:, 0]]), len(self.levels))
        self.levels[self._fresh] = self._level
        return bool(atoll.sum_reduce(np.array([len(self._fresh)]), team=self._team)[0])

    def _send(self) -> None:
        """Put the vertices of others that edges reach for the first time into their owners' inboxes."""
        graph = self._graph
        at, fresh = np.searchsorted(graph._far_rows, self._fresh), self._fresh
        at, fresh = at[at < len(graph._far_rows)], fresh[at < len(graph._far_rows)]
        at = at[graph._far_rows[at] == fresh]
        rows, numbers = graph._far.elements_of(at)
        is_new = ~self._is_sent[numbers]
        numbers, rows = numbers[is_new], graph._far_rows[rows[is_new]] + self._first
        self._far_parents[numbers[::-1]] = rows[::-1]
        numbers = distinct(numbers, len(self._is_sent))
        self._is_sent[numbers] = True
        entries = np.stack([graph._numbers[numbers], self._far_parents[numbers]], axis=1)
        cuts = np.searchsorted(numbers, self._ends)
        for pe in np.flatnonzero(np.diff(cuts)):
            share = entries[cuts[pe] : cuts[pe + 1]]
            start = int(self._offsets[pe] + self._sent[pe])
            atoll.put(self._inbox[start : start + len(share)], share, int(pe), team=self._team)
            self._sent[pe] += len(share)
            me = _current.my_pe()
            atoll.put(self._arrived[me : me + 1], self._sent[pe : pe + 1], int(pe), team=self._team)

    def _received(self) -> Array:
        """Return copies of the entries of this PE's inbox that are new."""
        now = self._arrived.copy()
        found = [
            self._inbox[self._starts[pe] + self._taken[pe] : self._starts[pe] + now[pe]]
            for pe in np.flatnonzero(now - self._taken)
        ]
        self._taken = now
        return np.concatenate(found) if found else np.empty((0, 2), np.int64)

    def final_parents(self) -> Array:
        """Return the parents, -1 for vertices without one."""
        return np.where(self._parents == self._unknown, -1, self._parents)


def distinct(numbers: Array, n: int) -> Array:
    """Return the different ones of numbers from 0 to n - 1, ascending."""
    if 16 * len(numbers) < n:
        return np.unique(numbers)
    is_there = np.zeros(n, bool)
    is_there[numbers] = True
    return np.flatnonzero(is_there)
