"""Parts that atoll.numba, atoll.triton and atoll.cute share: the table of operations, and all that is no DSL's own."""

from __future__ import annotations

from .constants import COMPARE, ORDER, REDUCE_OP, SCOPE, SIGNAL_OP
from .documentation import absent, publish

__all__ = ["COMPARE", "ORDER", "REDUCE_OP", "SCOPE", "SIGNAL_OP", "absent", "publish"]
