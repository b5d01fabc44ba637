"""Copies where NumPy has views: assignments to them are refused as long as the first array is there."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

from .._array import DistArray

T = TypeVar("T")


class Derived(DistArray):
    """A copy of another array, of which NumPy would have made a view. It becomes an ordinary array once that is gone."""

    _source: weakref.ref[DistArray] | None = None
    _by = ""

    def __setitem__(self, key: Any, value: Any) -> None:
        self._require_own("b[...] = x")
        self[key] = value  # by the class of an ordinary array now

    def _require_own(self, call: str) -> None:
        source = None if self._source is None else self._source()
        if source is not None and source._memory.exists:
            raise ValueError(
                f"{call}: b is a copy, made by {self._by}, and NumPy's b would be a view. So the change would not reach the "
                f"array of shape {source.shape}{source._memory.made()}. Write to that one, or take a copy of your own: "
                f"b = {self._by}.copy()."
            )
        self.__class__ = DistArray  # type: ignore[assignment]


Derived.__name__ = Derived.__qualname__ = DistArray.__name__


def derived(source: Any, made: T, by: str) -> T:
    """Return a new array as a copy of another one; anything else as it is."""
    if type(made) is DistArray and isinstance(source, DistArray) and made is not source:
        its: Any = made
        its.__class__ = Derived
        its._source, its._by = weakref.ref(source), by
    return made


def require_own(array: Any, call: str) -> None:
    """Raise for a write to a copy where NumPy has a view.

    Raises
    ------
    ValueError
        If the array is such a copy, and the first one is still there.
    """
    if isinstance(array, Derived):
        array._require_own(call)
