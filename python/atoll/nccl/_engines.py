"""The two ways in which a communicator's ranks meet: as a team of Atoll, or by messages of a larger team.

A team is split from a parent in which all PEs call. Communicators whose other PEs do not call (a unique id of some
ranks, shrink, grow) exchange messages instead. Lines are contiguous arrays of one dimension.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _atoll

_FOLDS: dict[str, Any] = {
    "sum": np.add,
    "avg": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


class TeamEngine:
    """Collectives of a team of Atoll."""

    def __init__(self, team: _atoll.Team) -> None:
        self.team = team
        self.rank, self.size = team.my_pe(), team.n_pes()
        self.pes = [team.world_pe(rank) for rank in range(self.size)]

    def reduce(self, to: Any, source: Any, op: Any, root: int | None) -> None:
        """Reduce into `to` of the root, or of all ranks."""
        _atoll.reduce(to, source, op, root, team=self.team)

    def reduce_scatter(self, to: Any, source: Any, op: Any) -> None:
        """Reduce, and give each rank its block."""
        _atoll.reduce_scatter(to, source, op, team=self.team)

    def premul_sum(self, to: Any, source: Any, factor: float, stream: Any) -> None:
        """Sum the factor's multiples of arrays of a GPU."""
        _atoll.premul_sum_reduce(to, source, factor, team=self.team, stream=stream)

    def premul_sum_scatter(self, to: Any, source: Any, factor: float, stream: Any) -> None:
        """Sum the factor's multiples of arrays of a GPU, and give each rank its block."""
        _atoll.premul_sum_reduce_scatter(to, source, factor, team=self.team, stream=stream)

    def broadcast(self, to: Any, source: Any, root: int) -> None:
        """Copy the root's source into `to` of all ranks."""
        _atoll.broadcast(to, source, root, team=self.team)

    def all_gather(self, to: Any, source: Any) -> None:
        """Copy the sources of all ranks to each rank."""
        _atoll.fcollect(to, source, team=self.team)

    def gather(self, to: Any, source: Any, root: int) -> None:
        """Give the root the source of all."""
        _atoll.gather(to, source, root, team=self.team)

    def scatter(self, to: Any, source: Any, root: int) -> None:
        """Give each rank its block of the root's source."""
        _atoll.scatter(to, source, root, team=self.team)

    def all_to_all(self, to: Any, source: Any) -> None:
        """Exchange blocks."""
        _atoll.alltoall(to, source, team=self.team)

    def split(self, color: int, key: int) -> TeamEngine | None:
        """Split by color, ordered by key; a negative color is no member."""
        team = self.team.split(color, key)
        return TeamEngine(team) if team else None

    def end(self) -> None:
        """Destroy the team. Collective."""
        self.team.destroy()


class MessageEngine:
    """Collectives of some PEs by messages of a team of all PEs."""

    def __init__(self, channel: _atoll.Team, pes: Sequence[int], rank: int) -> None:
        self.channel, self.pes = channel, list(pes)
        self.rank, self.size = rank, len(self.pes)

    def _exchange(self, out: dict[int, Any], into: dict[int, Any]) -> None:
        """Send the lines of `out` to ranks and receive those of `into`, all at once."""
        if self.rank in out and self.rank in into:
            np.copyto(into[self.rank], out[self.rank])
        if self.size == 1:
            return
        with _atoll.group(self.channel):
            for rank, line in out.items():
                if rank != self.rank and len(line):
                    _atoll.send(line, self.pes[rank], team=self.channel)
            for rank, line in into.items():
                if rank != self.rank and len(line):
                    _atoll.recv(line, self.pes[rank], team=self.channel)

    def _parts(self, line: Any) -> dict[int, Any]:
        """Divide a line into a part for each rank, whose lengths differ by one at most."""
        return dict(enumerate(np.array_split(line, self.size)))

    def _folded(self, parts: dict[int, Any], op: Any) -> Any:
        """Return this rank's part of a reduction, combined in the order of ranks."""
        mine = parts[self.rank]
        seen = {rank: np.empty_like(mine) for rank in range(self.size)}
        self._exchange(parts, seen)
        found = functools.reduce(_FOLDS[op], (seen[rank] for rank in range(self.size)))
        return (found / self.size).astype(mine.dtype) if op == "avg" else found

    def reduce(self, to: Any, source: Any, op: Any, root: int | None) -> None:
        """Reduce into `to` of the root, or of all ranks."""
        mine = self._folded(self._parts(source), op)
        every = range(self.size) if root is None else (root,)
        gathers = root is None or root == self.rank
        self._exchange(dict.fromkeys(every, mine), self._parts(to) if gathers else {})

    def reduce_scatter(self, to: Any, source: Any, op: Any) -> None:
        """Reduce, and give each rank its block."""
        np.copyto(to, self._folded(self._parts(source), op))

    def broadcast(self, to: Any, source: Any, root: int) -> None:
        """Copy the root's source into `to` of all ranks."""
        every = range(self.size) if self.rank == root else ()
        self._exchange(dict.fromkeys(every, source), {root: to})

    def all_gather(self, to: Any, source: Any) -> None:
        """Copy the sources of all ranks to each rank."""
        self._exchange(dict.fromkeys(range(self.size), source), self._parts(to))

    def gather(self, to: Any, source: Any, root: int) -> None:
        """Give the root the source of all."""
        self._exchange({root: source}, self._parts(to) if self.rank == root else {})

    def scatter(self, to: Any, source: Any, root: int) -> None:
        """Give each rank its block of the root's source."""
        self._exchange(self._parts(source) if self.rank == root else {}, {root: to})

    def all_to_all(self, to: Any, source: Any) -> None:
        """Exchange blocks."""
        self._exchange(self._parts(source), self._parts(to))

    def split(self, color: int, key: int) -> MessageEngine | None:
        """Split by color, ordered by key; a negative color is no member."""
        seen = np.empty((self.size, 2), np.int64)
        self.all_gather(seen.reshape(-1), np.array([color, key], np.int64))
        if color < 0:
            return None
        ranks = [rank for rank in range(self.size) if seen[rank, 0] == color]
        ranks.sort(key=lambda rank: (int(seen[rank, 1]), rank))
        return MessageEngine(self.channel, [self.pes[rank] for rank in ranks], ranks.index(self.rank))

    def end(self) -> None:
        """Do nothing: it has no memory of its own."""


Engine = TeamEngine | MessageEngine
