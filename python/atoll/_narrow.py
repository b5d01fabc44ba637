"""Conversions of the types that NumPy has no name for: bfloat16 and the 8-bit floats."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Bits of the mantissa, bias of the exponent, and the first code that is not a number.
_FLOAT8 = {
    "float8_e4m3fn": (3, 7, 0x7F),
    "float8_e4m3fnuz": (3, 8, 0x80),
    "float8_e5m2": (2, 15, 0x7C),
    "float8_e5m2fnuz": (2, 16, 0x80),
    "float8_e8m0fnu": (0, 127, 0xFF),
}


@functools.cache
def _numbers(name: str) -> Array:
    """Return the values of the codes from 0, and one more as if the codes went on: a value rounded to that
    overflows.
    """
    mantissa, bias, end = _FLOAT8[name]
    code = np.arange(end + 1)
    exponent, fraction = code >> mantissa, code & ((1 << mantissa) - 1)
    tiny = (exponent == 0) & (mantissa > 0)
    return np.asarray(
        np.ldexp(np.where(tiny, 0, 1 << mantissa) + fraction, np.where(tiny, 1, exponent) - bias - mantissa)
    )


def _float8(name: str, wide: Array) -> Array:
    """Round to the nearest, ties to even (ties up in a type without mantissa).

    A value that is too large becomes infinity, or NaN in a type without it, as in PyTorch and ml_dtypes.
    """
    numbers = _numbers(name)
    size = np.abs(wide)
    above = np.clip(np.searchsorted(numbers, size), 1, len(numbers) - 1)
    middle = (numbers[above - 1] + numbers[above]) / 2
    tie_up = (above % 2 == 0) | (name == "float8_e8m0fnu")
    code = np.where((size > middle) | ((size == middle) & tie_up), above, above - 1)
    negative = np.signbit(wide)
    if name.endswith("uz"):  # these have one zero; the code of a negative zero is NaN
        code = np.where(np.isnan(wide), 0x80, np.where(negative & (code > 0), code | 0x80, code))
    elif name == "float8_e8m0fnu":
        code = np.where(np.isnan(wide) | (wide < 0), 0xFF, code)
    else:
        code = np.where(np.isnan(wide), 0x7F, code) | negative * 0x80
    return np.asarray(code, np.uint8)


def _bfloat16(wide: Array) -> Array:
    """Round to the nearest, ties to even; a NaN stays a NaN."""
    bits = wide.astype(np.float32).view(np.uint32)
    rounded = np.where(np.isnan(wide), bits | 0x400000, bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.asarray(rounded, np.uint16)


def narrowed(name: str, value: Any) -> Array:
    """Return `value` in the codes of type `name`: an array of uint8 or uint16."""
    wide = np.asarray(value, np.float64)
    flat = np.atleast_1d(wide)  # one number becomes an array too, not a scalar of NumPy
    codes = _bfloat16(flat) if name == "bfloat16" else _float8(name, flat)
    return codes.reshape(wide.shape)


def code_of(name: str, number: float) -> int:
    """Return the 8-bit code of a number."""
    return int(_float8(name, np.array([number]))[0])


def number_of(name: str, code: int) -> float:
    """Return the value of an 8-bit code."""
    end = _FLOAT8[name][2]
    if name.endswith("e8m0fnu") or code < 0x80:
        size, sign = code, 1.0
    else:
        size, sign = code & 0x7F, -1.0
    if size < end and not (name.endswith("uz") and code == 0x80):
        return sign * float(_numbers(name)[size])
    return sign * np.inf if name == "float8_e5m2" and size == end else np.nan
