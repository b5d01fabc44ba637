"""Constants that select the code of a kernel. Each group but SCOPE has the order of its C++ enumeration.

The languages make objects of their own of these names: a kernel is compiled for each constant separately.
"""

from __future__ import annotations

import operator

SCOPE = ("THREAD", "WARP", "BLOCK", "GRID")
"""The threads that execute a call together; all of them call it with the same arguments."""
COMPARE = ("EQ", "NE", "GT", "GE", "LT", "LE")
"""atl::Compare."""
COMPARED_BY = (operator.eq, operator.ne, operator.gt, operator.ge, operator.lt, operator.le)
"""The functions that these name."""
SIGNAL_OP = ("SET", "ADD")
"""atl::SignalOp."""
REDUCE_OP = ("SUM", "PROD", "MIN", "MAX", "AND", "OR", "XOR")
"""atl::ReduceOp, without the average."""
REDUCE_TEXTS = tuple(name.lower() for name in REDUCE_OP)
"""The operators as texts, in names that NVSHMEM4Py has."""
ORDER = ("ACQUIRE_RELEASE", "RELAXED")
"""atl::device::Order."""


def names(language: str) -> list[str]:
    """Return the constants that a language has; Triton has no scopes."""
    scopes = () if language == "triton" else SCOPE
    return sorted([*scopes, *COMPARE, *SIGNAL_OP, *REDUCE_OP, *ORDER])
