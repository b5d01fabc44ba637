"""Numbers of NVSHMEM's enumerations in kernels, which may be known to the compiler or not."""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from ...._kernels import REDUCE_TEXTS
from ....numba import _types as ours
from ....numba._dsl._registration import helper, vocabulary
from ...direct import SignalOp

i64 = types.int64
ADD = int(SignalOp.SIGNAL_ADD)
OUTCOMES = 0x613452
"""For ComparisonType c, in bits 4 c to 4 c + 2: it holds for less (1), equal (2), greater (4)."""


@vocabulary
def number(x):
    """The number of a member of an enumeration, or of an integer."""
    if type(x).__name__ == "IntEnumMember":  # numba-cuda-mlir has its own class of this name
        return lambda x: i64(x.value)
    return lambda x: i64(x)


@helper
def is_setting(op):
    return number(op) != ADD


@helper
def outcomes_of(cmp):
    return (OUTCOMES >> (4 * number(cmp))) & 7


def op_of(name: str, op):
    """Return Atoll's operator for a text that the compiler knows."""
    if (ready := ours.constant(op)) is not None and ready.group == "op":
        return ready
    given = getattr(op, "literal_value", op)
    if given not in REDUCE_TEXTS:
        raise TypingError(
            f"nvshmem.core.device.numba.{name}: op is {given!r}; it must be one of {', '.join(REDUCE_TEXTS)}, as a text in the kernel"
        )
    return getattr(ours, given.upper())
