"""Parts that atoll.numba, atoll.triton and atoll.cute share: the table of operations, constants and checks."""

from __future__ import annotations

from . import rules
from .constants import COMPARE, ORDER, REDUCE_OP, REDUCE_TEXTS, SCOPE, SIGNAL_OP
from .documentation import absent, describe, operations, publish

__all__ = [
    "COMPARE",
    "ORDER",
    "REDUCE_OP",
    "REDUCE_TEXTS",
    "SCOPE",
    "SIGNAL_OP",
    "absent",
    "describe",
    "operations",
    "publish",
    "rules",
]
