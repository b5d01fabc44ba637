"""Numbers of 8 and 16 bits, of types that NumPy does not have."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from atoll import _narrow


# The results of PyTorch 2.11 and ml_dtypes 0.5.
@pytest.mark.parametrize(
    ("name", "number", "code"),
    [
        ("float8_e4m3fn", 448.0, 0x7E),
        ("float8_e4m3fn", 464.0, 0x7E),  # a tie, to even
        ("float8_e4m3fn", 465.0, 0x7F),  # too large: NaN
        ("float8_e4m3fn", -math.inf, 0xFF),
        ("float8_e4m3fn", 2.0**-10, 0x00),
        ("float8_e4m3fn", 1.0625, 0x38),
        ("float8_e4m3fn", 1.1875, 0x3A),
        ("float8_e4m3fnuz", 240.0, 0x7F),
        ("float8_e4m3fnuz", 248.0, 0x80),
        ("float8_e4m3fnuz", -0.0, 0x00),
        ("float8_e4m3fnuz", -1e-9, 0x00),
        ("float8_e5m2", 57344.0, 0x7B),
        ("float8_e5m2", 61439.0, 0x7B),
        ("float8_e5m2", 61440.0, 0x7C),  # infinite
        ("float8_e5m2", -1e30, 0xFC),
        ("float8_e5m2", -0.0, 0x80),
        ("float8_e5m2fnuz", 57344.0, 0x7F),
        ("float8_e5m2fnuz", math.nan, 0x80),
        ("float8_e8m0fnu", 1.5, 0x80),
        ("float8_e8m0fnu", 2.0**127, 0xFE),
        ("float8_e8m0fnu", -1.0, 0xFF),
        ("float8_e8m0fnu", 1e300, 0xFF),
    ],
)
def test_rounding(name: str, number: float, code: int) -> None:
    assert int(_narrow.narrowed(name, number)) == code


def test_bfloat16() -> None:
    given = np.array([1.0, 1.00390625, 1.01171875, -2.0, np.inf, np.nan])
    assert _narrow.narrowed("bfloat16", given).tolist() == [0x3F80, 0x3F80, 0x3F82, 0xC000, 0x7F80, 0x7FC0]
    assert _narrow.narrowed("bfloat16", 1).shape == ()


def test_without_ml_dtypes_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(
        ImportError, match=r"values of bfloat16 need the package ml_dtypes.*pip install ml_dtypes"
    ):
        _narrow.narrowed("bfloat16", 1.0)
