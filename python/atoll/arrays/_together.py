"""Steps of one PE whose errors every PE raises, so that none waits for a failed one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

import atoll

from ._teams import _current
from ._teams._exchange import from_root, gathered

T = TypeVar("T")
# The kinds of errors that stay what they are; others become a RuntimeError.
_KINDS = (
    *(atoll.ShapeMismatch, atoll.DtypeMismatch, TypeError, ValueError, MemoryError, ImportError),
    *(FileNotFoundError, OSError),
)


@contextlib.contextmanager
def together(call: str) -> Iterator[None]:
    """Run a step of this PE, and raise on every PE if it fails on any. Collective.

    The error has the call, the number of the first PE that failed, and its reason.
    """
    problem: Exception | None = None
    try:
        yield
    except Exception as error:
        problem = _described(call, error)
    raise_together(problem)


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


def raise_together(problem: Exception | None) -> None:
    """Raise the first PE's problem on every PE. Collective."""
    for found in gathered(problem):
        if found is not None:
            raise found


def _described(call: str, error: Exception) -> Exception:
    """Return an error with the call and this PE, which can be pickled; an OSError keeps its number."""
    where = f"{call}: PE {_current.my_pe()}"
    if isinstance(error, OSError) and error.errno:
        return OSError(error.errno, f"{where}: {error.strerror}")
    for kind in _KINDS:
        if isinstance(error, kind):
            return kind(f"{where}: {error}")
    return RuntimeError(f"{where}: {type(error).__name__}: {error}")
