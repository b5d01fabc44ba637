"""Loads and stores of 16 bytes, the most that one instruction of a GPU moves.

Numba's own arrays have elements of at most 8 bytes, and their alignment does not tell the compiler that two
are one access.
"""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._registration import vocabulary
from ._types import FLOATS, WORDS, array, number

i64 = types.int64


def element_of(name: str, x):
    kind = array(name, "x", x)
    if kind not in WORDS + FLOATS:
        allowed = ", ".join(str(one) for one in WORDS + FLOATS)
        raise TypingError(f"atoll.numba.{name}: x is of {kind}; it must be of {allowed}")
    return kind


@vocabulary
def load_wide(x, i):
    kind = element_of("load_wide", x)
    number("load_wide", "i", i, i64)
    each = kind.bitwidth // 8

    def impl(x, i):
        return prim.load_wide(kind, prim.address(x) + i64(i) * each)

    return impl


@vocabulary
def store_wide(x, i, values):
    kind = element_of("store_wide", x)
    number("store_wide", "i", i, i64)
    each = kind.bitwidth // 8
    if values != types.UniTuple(kind, 16 // each):
        raise TypingError(
            f"atoll.numba.store_wide: values is {values}; for x of {kind} it must be a tuple of {16 // each} of these"
        )

    def impl(x, i, values):
        prim.store_wide(kind, prim.address(x) + i64(i) * each, values)

    return impl  # type: ignore[return-value]
