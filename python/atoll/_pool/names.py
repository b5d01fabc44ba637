"""Global variables on a PE of a pool: its own, and those that the caller has sent."""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from .._launching.wire import close_all, dump_with, dumps, load, pickler_class

PROGRAM = "__main__"
Key = tuple[str, bool, str]  # the name of a module, whether PEs may import it, and the name of a variable
HEADER = struct.Struct("<H")  # the size of the pickled key before a variable's value
_REPORTED_AT_ONCE = 300  # names of one packet
_apart: dict[str, dict[str, Any]] = {}  # variables of modules that this PE has not imported

OURS: WeakSet[type] = WeakSet()  # classes that this process has sent by value
_filled: WeakKeyDictionary[type, bytes] = (
    WeakKeyDictionary()
)  # a digest of the contents that each class has got


def space(name: str, importable: bool) -> dict[str, Any]:
    """Return the variables of a module on this PE: its own if it has imported it, else those that calls made."""
    module = sys.modules.get(name) if importable or name == PROGRAM else None
    if module is None:
        return _apart.setdefault(name, {"__name__": name, "__builtins__": __builtins__})
    variables = vars(module)
    for earlier, value in _apart.pop(name, {}).items():
        variables.setdefault(earlier, value)
    return variables


def fill_class(made: type, contents: tuple[bytes, Callable[[type, Any], Any], Any]) -> type:
    """Give a class that was sent by value its contents, unless it has got the same ones before."""
    digest, fill, state = contents
    if _filled.get(made) != digest:
        fill(made, state)
        _filled[made] = digest
    return made


def _fill_if_not_ours(made: type, contents: tuple[Callable[[type, Any], Any], Any]) -> type:
    """Give a class that came with a result its contents, unless it is one of this process, which sent it."""
    fill, state = contents
    if made not in OURS:
        fill(made, state)
    return made


def dump_result(value: object, **options: Any) -> bytes:
    """Pickle a result, so that the caller's classes stay as they are there."""
    base = pickler_class()
    return dumps(value, **options) if base is None else dump_with(_class_for_results(base), value, **options)


@cache
def _class_for_results(base: Any) -> Any:
    class Pickler(base):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            reduced = super().reducer_override(value)
            if not isinstance(value, type) or not isinstance(reduced, tuple) or len(reduced) != 6:
                return reduced
            make, args, state, items, pairs, fill = reduced
            return make, args, (fill, state), items, pairs, _fill_if_not_ours

    return Pickler


class Names:
    """The variables of all modules on this PE, and which of them are its own."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, bool], dict[str, object]] = {(PROGRAM, False): {}}
        self._reported: dict[tuple[str, bool], set[str]] = {}
        self._lacking: dict[Key, BaseException] = {}

    def take(self, packet: memoryview, fds: list[int]) -> None:
        """Assign a variable that the caller has sent, unless this PE has assigned it."""
        (size,) = HEADER.unpack_from(packet)
        start = HEADER.size + size
        module, importable, name, error = pickle.loads(packet[HEADER.size : start])
        here, sent = space(module, importable), self._sent.setdefault((module, importable), {})
        if name in here and (name not in sent or here[name] is not sent[name]):
            close_all(fds)
            return
        try:
            if error:
                raise TypeError(error)
            sent[name] = here[name] = load(packet[start:], fds, shared=False)
        except Exception as reason:
            self._lacking[module, importable, name] = reason

    def check(self) -> None:
        """Raise why a variable of the call that begins is not there."""
        if self._lacking:
            raise next(iter(self._lacking.values()))

    def reports(self) -> Iterator[tuple[set[Key], set[Key], list[Key]]]:
        """Yield which variables have become this PE's own, which are no longer, and which it has not got."""
        lacking, self._lacking = list(self._lacking), {}
        added: list[Key] = []
        removed: list[Key] = []
        for module, sent in self._sent.items():
            here = space(*module)
            own = here.keys() - sent.keys()
            own.update(name for name, value in sent.items() if name in here and here[name] is not value)
            before = self._reported.get(module, set())
            if own != before:
                self._reported[module] = own
                added += ((*module, name) for name in own - before)
                removed += ((*module, name) for name in before - own)
        while added or removed or lacking:
            n = _REPORTED_AT_ONCE
            yield set(added[:n]), set(removed[:n]), lacking[:n]
            added, removed, lacking = added[n:], removed[n:], lacking[n:]
