"""NumPy's warnings about numbers, such as a division by zero in a part, with the line of the program."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..._job import is_own

_NUMPY = str(Path(np.__file__).parent)


class named:
    """A block whose warnings of NumPy name the program's line of the call.

    By default Python shows each once for a line. Settings of `numpy.errstate` other than "warn" stay.

    Parameters
    ----------
    call
        The name of the call, for the text.
    """

    __slots__ = ("_call", "_state")

    def __init__(self, call: str) -> None:
        self._call = call

    def __enter__(self) -> None:
        settings: dict[str, Any] = {kind: "call" for kind, how in np.geterr().items() if how == "warn"}
        self._state = np.errstate(call=self._warn, **settings) if settings else np.errstate()
        self._state.__enter__()

    def __exit__(self, *error: object) -> None:
        self._state.__exit__(None, None, None)

    def _warn(self, what: str, _: int) -> None:
        warn(f"{what} encountered in {self._call.removeprefix('numpy.')}")


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
