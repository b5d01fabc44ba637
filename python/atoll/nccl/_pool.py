"""Pieces of one large symmetric array, which each PE takes and gives back by itself."""

from __future__ import annotations

import threading

ALIGNMENT = 64


class Pool:
    """Free ranges of units, first fit. Its calls are local."""

    def __init__(self, units: int, alignment: int = ALIGNMENT) -> None:
        self.units, self._alignment = units, alignment
        self._free = {0: units}
        self._taken: dict[int, int] = {}
        self._lock = threading.RLock()  # the garbage collector may give back inside take

    def take(self, units: int) -> int | None:
        """Return the first unit of a free range of so many, or nothing."""
        wanted = max(-(-units // self._alignment), 1) * self._alignment
        with self._lock:
            for first, length in sorted(self._free.items()):
                if length >= wanted:
                    del self._free[first]
                    if length > wanted:
                        self._free[first + wanted] = length - wanted
                    self._taken[first] = wanted
                    return first
        return None

    def release(self, first: int) -> None:
        """Free a range that take() returned. Others are ignored."""
        with self._lock:
            length = self._taken.pop(first, 0)
            if not length:
                return
            after = self._free.pop(first + length, 0)
            for before, units in self._free.items():
                if before + units == first:
                    self._free[before] = units + length + after
                    return
            self._free[first] = length + after
