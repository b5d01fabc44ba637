"""Conversions to the types that NumPy has no name for, bfloat16 and the 8-bit floats, by ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np


def _type(name: str) -> np.dtype[Any]:
    """Return ml_dtypes' type of that name.

    Raises
    ------
    ImportError
        If ml_dtypes is missing.
    """
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"values of {name} need the package ml_dtypes, which is not installed; install it (pip install ml_dtypes), "
            "or pass a tensor of that dtype."
        ) from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def narrowed(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return `value` in the codes of type `name`: an array of uint8 or uint16.

    Each number is rounded to the nearest, ties to even.

    Raises
    ------
    ImportError
        If ml_dtypes is missing.
    """
    target = _type(name)
    # A number that is too large becomes infinity, or NaN in a type without infinity.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(value, np.float64).astype(target).view(np.dtype(f"u{target.itemsize}"))


def code_of(name: str, number: float) -> int:
    """Return the code of one number in an 8-bit type. The module `_atoll` calls it."""
    return int(narrowed(name, number))


def number_of(name: str, code: int) -> float:
    """Return the number that a code of an 8-bit type means. The module `_atoll` calls it."""
    return float(np.array(code, np.uint8).view(_type(name)))
