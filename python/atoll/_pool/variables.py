"""Global variables that the functions of a pool's calls use: the caller's values, which PEs get once.

A function that cloudpickle sends by value comes without its global variables. Those of `__main__` on the PE are its
own there. The caller sends a variable that the PE has not assigned: the first time, and after a change.
"""

from __future__ import annotations

import pickle
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._launching.wire import Message, dump_with, dumps, encoded, pickler_class
from .names import HEADER, OURS, PROGRAM, Key, fill_class, space

Globals = dict[str, Any]
_COMPARED_BYTES = 1 << 20  # at once, so that they stay in the cache


class Owners(Protocol):
    """The variables that PEs have assigned by themselves."""

    owned_by_all: set[Key]
    owned_by_any: set[Key]


class Value:
    """The value of a variable as it is sent: a packet, and a file beside it or -1."""

    def __init__(self, key: Key, data: bytes, apart: list[pickle.PickleBuffer], error: str = "") -> None:
        self.key = key
        self.source: object = None  # the object itself, if it cannot change
        self._error = error
        self._data = data
        self._message = Message.of(data, apart)
        self._arrays = self._message.arrays() if apart else []
        head = pickle.dumps((*key, error))
        self.packet = HEADER.pack(len(head)) + head + self._message.packet
        self.fd = self._message.fd

    def __del__(self) -> None:
        if hasattr(self, "_message"):
            self._message.close()

    def is_small(self) -> bool:
        """Return whether a comparison takes no time worth saving."""
        return self.fd < 0

    def equals(self, data: bytes, apart: list[pickle.PickleBuffer], error: str) -> bool:
        """Return whether it is this value, bit by bit."""
        return (
            (data, error, len(apart)) == (self._data, self._error, len(self._arrays))
            and all(one.raw().nbytes == mine.nbytes for one, mine in zip(apart, self._arrays, strict=True))
            and all(_are_equal(one.raw(), mine) for one, mine in zip(apart, self._arrays, strict=True))
        )


def _cannot_change(value: object) -> bool:
    """Return whether the same object has the same pickle later: of the common types, those without a doubt."""
    if isinstance(value, types.ModuleType):  # which is a name, unless it is sent by value
        return sys.modules.get(value.__name__) is value and not _modules_by_value()
    return type(value) in (int, float, complex, bool, str, bytes)


def _modules_by_value() -> set[str]:
    names: set[str] = getattr(import_module("cloudpickle"), "list_registry_pickle_by_value", set)()
    return names


def _are_equal(a: memoryview, b: memoryview) -> bool:
    one, other = np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8)
    return all(
        np.array_equal(one[i : i + _COMPARED_BYTES], other[i : i + _COMPARED_BYTES])
        for i in range(0, len(one), _COMPARED_BYTES)
    )


class _Space:
    """The global variables of a module: on a PE it is unpickled as that PE's."""

    def __init__(self, name: str, importable: bool) -> None:
        self.name, self.importable = name, importable

    def __reduce__(self) -> tuple[Any, ...]:
        return space, (self.name, self.importable)


def _space_of(variables: Globals) -> _Space:
    """Return the module of a function's variables; PEs may import it unless cloudpickle is to send it by value."""
    name = variables.get("__name__")
    if not isinstance(name, str) or name == PROGRAM:
        return _Space(PROGRAM, False)
    module = sys.modules.get(name)
    is_real = module is not None and vars(module) is variables and module.__spec__ is not None
    by_value = _modules_by_value()
    parts = name.split(".")
    registered = any(".".join(parts[: i + 1]) in by_value for i in range(len(parts)))
    return _Space(name, is_real and not registered)


@cache
def _class_without_variables(base: Any) -> Any:
    """Return a Pickler that sends functions without their variables, and notes the ones that they use in `needed`."""

    class Pickler(base):  # type: ignore[misc]
        def __init__(
            self,
            *args: Any,
            needed: dict[Key, Globals],
            is_for_digest: bool = False,
            **options: Any,
        ) -> None:
            super().__init__(*args, **options)
            self._is_for_digest = is_for_digest
            self._needed = needed
            self._spaces: dict[int, _Space] = {}

        def reducer_override(self, value: Any) -> Any:
            reduced = super().reducer_override(value)
            if not isinstance(reduced, tuple):
                return reduced
            if isinstance(value, type):
                return self._class_reduced(value, reduced)
            if not isinstance(value, types.FunctionType):
                return reduced
            make, (code, _, *others), (state, slots), *rest = reduced
            variables = value.__globals__
            where = self._spaces.get(id(variables))
            if where is None:
                where = self._spaces[id(variables)] = _space_of(variables)
            for name in slots["__globals__"]:
                self._needed.setdefault((where.name, where.importable, name), variables)
            return make, (code, where, *others), (state, {**slots, "__globals__": {}}), *rest

        def _class_reduced(self, value: type, reduced: tuple[Any, ...]) -> tuple[Any, ...]:
            """Send a class with a digest of its contents, so that PEs that have these keep what they changed."""
            if self._is_for_digest or len(reduced) != 6:
                return reduced
            OURS.add(value)
            make, args, state, items, pairs, fill = reduced
            parts = partial(Pickler, needed={}, is_for_digest=True)
            digest = blake2b(dump_with(parts, (args, state), protocol=5)).digest()
            return make, args, (digest, fill, state), items, pairs, fill_class

    return Pickler


class Variables:
    """The caller's variables as they were sent last. Every method may be called by any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._latest: dict[Key, Value] = {}
        self._warned: set[Key] = set()

    def encode(
        self, call: object, owners: Owners, known: Sequence[Value] = ()
    ) -> tuple[Message, list[Value]]:
        """Return the message of a call, and the variables that its functions use.

        known: variables with these values, whatever they are now. Warns of a changed one that a PE has assigned, too.
        """
        base = pickler_class()
        if base is None:
            return Message(call), []
        needed: dict[Key, Globals] = {}
        dump = partial(dump_with, partial(_class_without_variables(base), needed=needed))
        found: dict[Key, Value | None] = {value.key: value for value in known}
        refused: list[str] = []
        with self._lock:
            message = Message(call, dump)
            while needed:
                key, variables = needed.popitem()
                if key not in found:
                    found[key] = self._value(key, variables[key[2]], dump, owners, refused)
        if refused:
            _warn(refused)
        return message, [value for value in found.values() if value is not None]

    def _value(
        self,
        key: Key,
        value: object,
        dump: Callable[..., bytes],
        owners: Owners,
        refused: list[str],
    ) -> Value | None:
        old = self._latest.get(key)
        if key in owners.owned_by_all and (old is None or not old.is_small()):
            return None
        if old is not None and old.source is value and _cannot_change(value):
            return old
        error = ""
        try:
            data, apart = encoded(value, dump)
        except Exception as reason:  # a PE may have its own, or not use it
            data, apart = dumps(None), []
            error = (
                f"the global variable {key[2]!r} of {key[0]} cannot be sent to PEs "
                f"({type(reason).__name__}: {str(reason)[:1000]}); make it on the PEs by Pool.run"
            )
        if old is not None and old.equals(data, apart, error):
            return old
        if old is not None and key in owners.owned_by_any and key not in self._warned:
            self._warned.add(key)
            refused.append(key[2])
        new = self._latest[key] = Value(key, data, apart, error)
        new.source = value if _cannot_change(value) else None
        return new


def _warn(names: Iterable[str]) -> None:
    own = str(Path(__file__).parent)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        level, frame = level + 1, frame.f_back
    which = ", ".join(sorted(names))
    warnings.warn(
        f"Pool: {which} has a new value here, but PEs have assigned it by themselves and keep theirs. Pass the new value "
        "as an argument, or assign it on the PEs.",
        RuntimeWarning,
        stacklevel=level,
    )
