"""Loads and stores of 16 bytes, the most that one instruction of a GPU moves.

Numba's own arrays have elements of at most 8 bytes, and their alignment does not tell the compiler that two
are one access.
"""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from .. import _primitives as prim
from .._addresses import item_of, kind_of
from .._types import item
from ._registration import helper, operation, vocabulary

i64 = types.int64


@helper
def wide_at(x, i):
    return prim.address(x) + i64(i) * item_of(x)


@operation
def load_wide(x, i):
    return prim.load_wide(kind_of(x), wide_at(x, i))


@vocabulary
def store_wide(x, i, values):
    kind = x.dtype
    count = 16 // item(kind)
    if values != types.UniTuple(kind, count):
        raise TypingError(
            f"atoll.numba.store_wide: values is {values}; for x of {kind} it must be a tuple of {count} of these"
        )

    def impl(x, i, values):
        prim.store_wide(kind, wide_at(x, i), values)

    return impl  # type: ignore[return-value]
