"""NumPy's rules for numbers that do not fit, by PyTorch: integers outside a dtype, NaN, negative powers and decimals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from atoll import arrays

from .common import equal, kind, refused

COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


def rules() -> None:
    if kind.get("xp") != "torch":
        return  # CuPy's own
    outside_of_dtypes()
    nan_and_signs()


def pair(x: Any) -> tuple[arrays.DistArray, Any]:
    return arrays.from_array(x, **kind), x


def outside_of_dtypes() -> None:
    for dtype, numbers in (("uint8", (300, -1, 2**70)), ("int64", (2**63, -(2**70)))):
        a, x = pair(np.array([3, 200, 0], dtype))
        for number in numbers:
            for compare in COMPARISONS:
                equal("a < a large number", compare(a, number), compare(x, number))
                equal("a large number < a", compare(number, a), compare(number, x))
            refused("a large number", OverflowError, "", lambda a=a, number=number: a + number)
            refused(
                "a large number", OverflowError, "", lambda a=a, number=number: np.where(a > 3, a, number)
            )
    a, x = pair(np.array([3, 200, 0], "uint8"))
    equal("a < 200", a < 200, x < 200)
    equal("clip", np.clip(a, -1, 300), x)
    equal("clip", np.clip(a, 1, 300), np.clip(x, 1, None))
    refused("a large bound", OverflowError, "", lambda: np.clip(a, 300, 400))
    equal("float + a large number", pair(np.ones(3))[0] + 2**70, np.ones(3) + 2**70)


def nan_and_signs() -> None:
    a, x = pair(np.array([np.nan, -2, 0, 3]))
    same("sign", np.sign(a), np.sign(x))
    same("heaviside", np.heaviside(a, 0.5), np.heaviside(x, 0.5))
    b, y = pair(np.array([15, 25, -35, 1234]))
    equal("round", np.round(b, -1), np.round(y, -1))
    equal("round", np.round(b, 1), y)
    equal("power", b**2, y**2)
    equal("power", (b / 1) ** -1, (y / 1) ** -1, exact=False)
    for exponent in (-1, -np.ones(4, int)):
        refused("negative power", ValueError, "negative integer powers", lambda n=exponent: b**n)


def same(what: str, found: Any, expected: Any) -> None:
    """Compare numbers, and where NaN is."""
    equal(what, np.isnan(found), np.isnan(expected))
    equal(what, np.where(np.isnan(found), 0.0, found), np.nan_to_num(expected))


RULES: list[Callable[[], None]] = [rules]
