"""NumPy's warnings about numbers, such as a division by zero in a part, with the line of the program."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..._job import is_own

_KINDS = {"divide by zero": "divide", "overflow": "over", "underflow": "under", "invalid value": "invalid"}
_NUMPY = str(Path(np.__file__).parent)


class named:
    """A block whose warnings of NumPy name the program's line of the call.

    By default Python shows each once for a line. If all PEs raise together at the end of the call, a fault
    that `numpy.errstate` sets to "raise" is only noted. So no PE raises alone. Other settings stay.

    Parameters
    ----------
    call
        The name of the call, for the text.
    raises_together
        Tells whether it is such a call; asked if a setting is "raise". None: it is none.
    """

    __slots__ = ("_call", "_raised", "_raises_together", "_state", "first", "is_raising")

    def __init__(self, call: str, raises_together: Callable[[], bool] | None = None) -> None:
        self._call, self._raises_together = call, raises_together
        self.is_raising, self.first = False, ""

    def __enter__(self) -> named:
        states = np.geterr()
        settings: dict[str, Any] = {kind: "call" for kind, how in states.items() if how == "warn"}
        self._raised: list[str] = []
        if "raise" in states.values() and self._raises_together is not None and self._raises_together():
            self.is_raising = True
            self._raised = [kind for kind, how in states.items() if how == "raise"]
            settings |= dict.fromkeys(self._raised, "call")
        self._raises_together = (
            None  # NumPy's state refers to this object, and arrays are not to live on with it
        )
        self._state = np.errstate(call=self._found, **settings) if settings else np.errstate()
        self._state.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._state.__exit__(None, None, None)

    def _found(self, what: str, _: int) -> None:
        text = f"{what} encountered in {self._call.removeprefix('numpy.')}"
        if _KINDS[what] in self._raised:
            self.first = self.first or text
        else:
            warn(text)


def without_imaginary(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the real parts, with its warning, if NumPy's complex numbers become real ones; else the value."""
    if dtype.kind in "iuf" and isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "c":
        warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)
        return value.real
    return value


def warn(text: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn with the line of the program, as NumPy does where a result has no meaning."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not is_own(file) and not file.startswith(_NUMPY):
            break
        frame = frame.f_back
    names = frame.f_globals
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__", ""),
        names.setdefault("__warningregistry__", {}),
    )
