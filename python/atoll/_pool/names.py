"""Global variables on a PE of a pool: its own, and those that the caller has sent."""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Iterator
from typing import Any

from .._launching.wire import close_all, load

PROGRAM = "__main__"
HEADER = struct.Struct("<H")  # the size of the pickled key before a variable's value
_REPORTED_AT_ONCE = 300  # names of one packet
_apart: dict[str, dict[str, Any]] = {}  # variables of modules that this PE has not imported


def space(name: str, importable: bool) -> dict[str, Any]:
    """Return the variables of a module on this PE: its own if it has imported it, else those that calls made."""
    module = sys.modules.get(name) if importable or name == PROGRAM else None
    if module is None:
        return _apart.setdefault(name, {"__name__": name, "__builtins__": __builtins__})
    variables = vars(module)
    for earlier, value in _apart.pop(name, {}).items():
        variables.setdefault(earlier, value)
    return variables


class Names:
    """The variables of all modules on this PE, and which of them are its own."""

    def __init__(self) -> None:
        self._sent: dict[str, dict[str, object]] = {PROGRAM: {}}
        self._importable: set[str] = set()
        self._reported: dict[str, set[str]] = {}
        self._lacking: dict[tuple[str, str], BaseException] = {}

    def take(self, packet: memoryview, fds: list[int]) -> None:
        """Assign a variable that the caller has sent, unless this PE has assigned it."""
        (size,) = HEADER.unpack_from(packet)
        start = HEADER.size + size
        module, name, importable, error = pickle.loads(packet[HEADER.size : start])
        if importable:
            self._importable.add(module)
        here, sent = space(module, importable), self._sent.setdefault(module, {})
        if name in here and (name not in sent or here[name] is not sent[name]):
            close_all(fds)
            return
        try:
            if error:
                raise TypeError(error)
            sent[name] = here[name] = load(packet[start:], fds, shared=False)
        except Exception as reason:
            self._lacking[module, name] = reason

    def check(self) -> None:
        """Raise why a variable of the call that begins is not there."""
        if self._lacking:
            raise next(iter(self._lacking.values()))

    def reports(self) -> Iterator[tuple[set[tuple[str, str]], set[tuple[str, str]], list[tuple[str, str]]]]:
        """Yield which variables have become this PE's own, which are no longer, and which it has not got."""
        lacking, self._lacking = list(self._lacking), {}
        added: list[tuple[str, str]] = []
        removed: list[tuple[str, str]] = []
        for module, sent in self._sent.items():
            here = space(module, module in self._importable)
            own = here.keys() - sent.keys()
            own.update(name for name, value in sent.items() if name in here and here[name] is not value)
            before = self._reported.get(module, set())
            if own != before:
                self._reported[module] = own
                added += ((module, name) for name in own - before)
                removed += ((module, name) for name in before - own)
        while added or removed or lacking:
            n = _REPORTED_AT_ONCE
            yield set(added[:n]), set(removed[:n]), lacking[:n]
            added, removed, lacking = added[n:], removed[n:], lacking[n:]
