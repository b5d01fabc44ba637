"""Constants, and the types of arguments."""

# mypy: ignore-errors
from __future__ import annotations

import enum
import os

import triton.language as tl

from .. import _kernels


class _Constant(enum.IntEnum):
    """A constant that selects a variant of an operation. Triton tells kernels' constants apart by its text,
    which is its name.
    """

    def __repr__(self):
        return f"dev.{self.name}"

    def __str__(self):
        return repr(self)

    def __format__(self, form):
        return repr(self)


Compare = _Constant("Compare", _kernels.COMPARE, start=0)
SignalOp = _Constant("SignalOp", _kernels.SIGNAL_OP, start=0)
ReduceOp = _Constant("ReduceOp", _kernels.REDUCE_OP, start=0)
Order = _Constant("Order", _kernels.ORDER, start=0)
INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
EQ, NE, GT, GE, LT, LE = map(tl.constexpr, Compare)
SET, ADD = map(tl.constexpr, SignalOp)
SUM, PROD, MIN, MAX, AND, OR, XOR = map(tl.constexpr, ReduceOp)
ACQUIRE_RELEASE, RELAXED = map(tl.constexpr, Order)
