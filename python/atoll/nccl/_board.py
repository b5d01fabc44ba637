"""Entries by which PEs tell each other what they need to make a group, without the help of the others."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _allocation, _atoll

_ROOM = 1 << 17
_HEAD = struct.Struct("<HHI")  # bytes of the group's key, of the entry's key, of its value
_PAUSE_SECONDS = 0.0002
_TURN_SHIFT = 32
"""The number of low bits of a PE's word that hold the bytes of its entries. The bits above count its writes."""


class Board:
    """Symmetric memory, in which each PE writes entries for the others. Made collectively over all PEs."""

    def __init__(self) -> None:
        self._memory: Any = _allocation.empty(_ROOM, np.uint8)
        self._word: Any = _allocation.zeros(1, np.uint64)
        self._turn = 0
        self._open: list[Entries] = []
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, key: bytes, pes: Sequence[int], seconds: float) -> Generator[Entries]:
        """Yield the entries of a group's PEs. Threads may make several groups at once.

        The block ends once all PEs of the group have made it, since this PE's entries are dropped then.
        """
        entries = Entries(self, key, pes, seconds)
        with self._lock:
            self._open.append(entries)
        try:
            yield entries
        finally:
            with self._lock:
                self._open.remove(entries)

    def write(self) -> None:
        """Show the entries of all open groups. Raises OutOfMemory if there is no room."""
        with self._lock:
            text = b"".join(entry for entries in self._open for entry in entries.written)
            if len(text) > _ROOM:
                raise _atoll.OutOfMemory(
                    f"the entries by which ranks find each other need more than {_ROOM} bytes; make communicators of fewer "
                    "ranks, or fewer at once."
                )
            me = _atoll.my_pe()
            self._turn += 1
            _atoll.atomic_set(self._word, self._turn << _TURN_SHIFT, me)  # readers wait
            _atoll.put(self._memory[: len(text)], np.frombuffer(text, np.uint8), me)
            _atoll.quiet()
            _atoll.atomic_set(self._word, self._turn << _TURN_SHIFT | len(text), me)

    def read(self, pe: int) -> bytes:
        """Return a PE's entries; none while it writes them."""
        word = int(_atoll.atomic_fetch(self._word, pe))
        used = word & ((1 << _TURN_SHIFT) - 1)
        if not used:
            return b""
        seen = np.empty(used, np.uint8)
        _atoll.get(seen, self._memory[:used], pe)
        return seen.tobytes() if int(_atoll.atomic_fetch(self._word, pe)) == word else b""


class Entries:
    """The entries of one group's PEs."""

    def __init__(self, board: Board, key: bytes, pes: Sequence[int], seconds: float) -> None:
        self._board, self._key, self._pes = board, key, pes
        self._end = time.monotonic() + seconds
        self.written: list[bytes] = []
        """This PE's."""

    def put(self, key: bytes, value: bytes) -> None:
        """Show an entry. Raises OutOfMemory."""
        self.written.append(_HEAD.pack(len(self._key), len(key), len(value)) + self._key + key + value)
        self._board.write()

    def get(self, key: bytes) -> bytes:
        """Wait for an entry of any of the PEs, and return its value. Raises Timeout."""
        while True:
            for pe in self._pes:
                found = self._find(self._board.read(pe), key)
                if found is not None:
                    return found
            if time.monotonic() > self._end:
                raise _atoll.Timeout(
                    "a rank did not come to make the communicator. All of its ranks must call, and live. "
                    "ATOLL_WAIT_TIMEOUT sets the limit."
                )
            time.sleep(_PAUSE_SECONDS)

    def _find(self, data: bytes, key: bytes) -> bytes | None:
        at = 0
        while at < len(data):
            of_group, of_entry, nbytes = _HEAD.unpack_from(data, at)
            first = at + _HEAD.size
            second, third = first + of_group, first + of_group + of_entry
            if data[first:second] == self._key and data[second:third] == key:
                return data[third : third + nbytes]
            at = third + nbytes
        return None
