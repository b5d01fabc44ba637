"""NumPy's warnings about numbers, such as a division by zero in a part, with the line of the program."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..._job import is_own

_NUMPY = str(Path(np.__file__).parent)


@contextlib.contextmanager
def named(call: str) -> Iterator[None]:
    """Run a block whose warnings of NumPy name the line of the program that makes the call.

    By default Python shows each once for a line. Settings of `numpy.errstate` other than "warn" stay.
    """

    def warn(what: str, _: int) -> None:
        _warn(f"{what} encountered in {call.removeprefix('numpy.')}")

    settings = {kind: "call" for kind, how in np.geterr().items() if how == "warn"}
    if not settings:
        yield
        return
    with np.errstate(**settings, call=warn):  # type: ignore[arg-type]
        yield


def _warn(text: str) -> None:
    frame = sys._getframe(1)
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not is_own(file) and not file.startswith(_NUMPY):
            break
        frame = frame.f_back
    names = frame.f_globals
    warnings.warn_explicit(
        text,
        RuntimeWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__", ""),
        names.setdefault("__warningregistry__", {}),
    )
