"""Entries by which PEs tell each other what they need to make a group, without the help of the others."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _arrays, _atoll

_ROOM = 1 << 17
_HEAD = struct.Struct("<HHI")  # bytes of the group's key, of the entry's key, of its value
_PAUSE_SECONDS = 0.0002
_GROUP_SHIFT = 32
"""The upper half of a PE's word counts its groups, the lower one the bytes that are written."""


class Board:
    """Symmetric memory in which each PE writes entries that the others read. Made collectively over all PEs."""

    def __init__(self) -> None:
        self._memory: Any = _arrays.empty(_ROOM, np.uint8)
        self._word: Any = _arrays.zeros(1, np.uint64)
        self._groups = 0
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, key: bytes, pes: Sequence[int], seconds: float) -> Generator[Entries]:
        """Yield the entries of a group's PEs while the group is made. This PE's entries of earlier groups are dropped.

        Between two groups the caller waits for all PEs of the first, since they may still read.
        """
        with self._lock:
            self._groups += 1
            entries = Entries(self._memory, self._word, key, pes, seconds, self._groups << _GROUP_SHIFT)
            entries.publish()
            yield entries


class Entries:
    """The entries of one group's PEs."""

    def __init__(
        self, memory: Any, word: Any, key: bytes, pes: Sequence[int], seconds: float, group: int
    ) -> None:
        self._memory, self._word, self._key, self._pes, self._group = memory, word, key, pes, group
        self._end = time.monotonic() + seconds
        self._written = 0

    def put(self, key: bytes, value: bytes) -> None:
        """Publish an entry. Raises OutOfMemory if there is no room."""
        entry = _HEAD.pack(len(self._key), len(key), len(value)) + self._key + key + value
        end = self._written + len(entry)
        if end > _ROOM:
            raise _atoll.OutOfMemory(
                f"the entries by which ranks find each other need more than {_ROOM} bytes; make communicators of fewer ranks."
            )
        _atoll.put(self._memory[self._written : end], np.frombuffer(entry, np.uint8), _atoll.my_pe())
        self._written = end
        self.publish()

    def publish(self) -> None:
        """Let the others see the entries so far."""
        _atoll.quiet()
        _atoll.atomic_set(self._word, self._group | self._written, _atoll.my_pe())

    def get(self, key: bytes) -> bytes:
        """Wait for an entry of any of the PEs, and return its value. Raises Timeout."""
        while True:
            for pe in self._pes:
                found = self._find(pe, key)
                if found is not None:
                    return found
            if time.monotonic() > self._end:
                raise _atoll.Timeout(
                    "a rank did not come to make the communicator; all of its ranks call. ATOLL_WAIT_TIMEOUT sets the limit."
                )
            time.sleep(_PAUSE_SECONDS)

    def _find(self, pe: int, key: bytes) -> bytes | None:
        word = int(_atoll.atomic_fetch(self._word, pe))
        used = word & ((1 << _GROUP_SHIFT) - 1)
        if not used:
            return None
        seen = np.empty(used, np.uint8)
        _atoll.get(seen, self._memory[:used], pe)
        if int(_atoll.atomic_fetch(self._word, pe)) >> _GROUP_SHIFT != word >> _GROUP_SHIFT:
            return None  # it has begun to write the next group's entries
        data, at = seen.tobytes(), 0
        while at < used:
            of_group, of_entry, nbytes = _HEAD.unpack_from(data, at)
            first = at + _HEAD.size
            second, third = first + of_group, first + of_group + of_entry
            if data[first:second] == self._key and data[second:third] == key:
                return data[third : third + nbytes]
            at = third + nbytes
        return None
