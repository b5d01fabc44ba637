"""Dtypes that callers pass, and one dtype for parts that PEs make independently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _libraries

Array = np.ndarray[Any, Any]


def dtype_from(given: Any) -> np.dtype[Any]:
    """Return the dtype that a caller passed; None is float64.

    Raises
    ------
    TypeError
        If it is none. A number is the second length of a shape without parentheses, as in zeros(3, 4).
    """
    if isinstance(given, (int, np.integer)):
        raise TypeError(
            f"dtype is {given}, a number; expected NumPy's, such as float. A shape of several axes is one argument: "
            "write (3, 4) with its parentheses, as in zeros((3, 4))."
        )
    return np.dtype(np.float64 if given is None else given)


def agreed_dtype(every: Sequence[tuple[np.dtype[Any], int]]) -> np.dtype[Any]:
    """Return the common dtype of all PEs' parts. Empty parts count only if all parts are empty."""
    filled = [dtype for dtype, size in every if size] or [dtype for dtype, _ in every]
    found: np.dtype[Any] = np.result_type(*filled)
    return found


def converted(part: Array, dtype: np.dtype[Any], library: _libraries.Library = _libraries.HOST) -> Any:
    """Return a part of a library in the agreed dtype; one without elements warns of no loss."""
    return library.empty(part.shape, dtype) if 0 in part.shape else library.cast(part, dtype)
