"""Steps of one PE whose errors every PE raises, so that none waits for a failed one."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import atoll

from . import _libraries
from ._compared import compared
from ._teams import _current
from ._teams._exchange import from_root, gathered

T = TypeVar("T")
# The kinds of errors whose text gets the call and the PE.
_KINDS = (
    *(atoll.ShapeMismatch, atoll.DtypeMismatch, TypeError, ValueError, MemoryError, ImportError),
    *(FileNotFoundError, OSError, FloatingPointError, ZeroDivisionError, OverflowError, RuntimeWarning),
    *(IndexError, KeyError, AttributeError, AssertionError, NotImplementedError),
)


class together:
    """Run a step of this PE, and raise on every PE if it fails on any. Collective.

    The error has the call, the number of the first PE that failed, and its reason.
    """

    def __init__(self, call: str) -> None:
        self._call = call

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, Exception):  # others end this PE
            self._raise_together(error)

    def _raise_together(self, error: Exception | None) -> None:
        raise_together(error and _described(self._call, error), error)


class before_barrier(together):
    """Run a step of this PE and then a barrier, and raise on every PE if the step fails on any. Collective.

    Its cost is that of a barrier, if none fails.
    """

    def __init__(self) -> None:
        super().__init__(_current.call())

    def _raise_together(self, error: Exception | None) -> None:
        try:
            _libraries.finish()  # a kernel that failed on a GPU is reported here
        except Exception as failed:
            error = error or failed
        if _current.barrier_with(error is not None):
            super()._raise_together(error)


def in_place(name: str, arguments: Any, keywords: Mapping[str, Any], function: Callable[[], T]) -> T:
    """Return the result of a function that writes each PE's part of an array of the call. Collective over its team.

    It begins once all PEs are here, so that none still reads what it overwrites. It ends when all have written, so that
    a read of any element finds the new one. If the function fails on one PE, every PE raises.
    """

    def written() -> T:
        if _current.n_pes() > 1:
            with before_barrier():
                return function()
        found = function()
        _libraries.finish()
        return found

    return compared(name, arguments, keywords, written, meets=True)


def on_first(call: str, function: Callable[[], T]) -> T:
    """Run a function on PE 0 and return its result on every PE; raise on every PE if it fails. Collective."""
    found: T | None = None
    with together(call):
        if _current.my_pe() == 0:
            found = function()
    result: T = from_root(found)
    return result


def first_difference(value: T) -> tuple[int, T, T] | None:
    """Return the first PE with another value than PE 0, PE 0's value and its own; None without one. Collective."""
    every: list[T] = gathered(value)
    return next(((pe, every[0], other) for pe, other in enumerate(every) if other != every[0]), None)


def raise_together(problem: Exception | None, cause: Exception | None = None) -> None:
    """Raise on every PE the error of the first PE that has one. `cause` is this PE's cause. Collective."""
    for found in gathered(problem):
        if found is not None:
            raise found from cause


def _described(call: str, error: Exception) -> Exception:
    """Return an error with the call and this PE, which can be pickled.

    An OSError keeps its number. An error of the program's own kind stays what it is, with a note.
    """
    where = f"{call}: PE {_current.my_pe()}"
    if isinstance(error, OSError) and error.errno:
        return OSError(error.errno, f"{where}: {error.strerror}")
    for kind in _KINDS:
        if type(error) is kind:
            return kind(f"{where}: {error}")
    with contextlib.suppress(Exception):
        copy: Exception = pickle.loads(pickle.dumps(error))
        if hasattr(copy, "add_note"):  # Python 3.11
            copy.add_note(f"{where} raised it.")
        return copy
    return RuntimeError(f"{where}: {type(error).__name__}: {error}")
