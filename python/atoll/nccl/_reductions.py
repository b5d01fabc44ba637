"""Reductions of lines with NCCL's operators: what Atoll's lack for a type is computed before and after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import NcclInvalid
from ._lines import Line
from .typing import INTEGERS, NARROW, NUMPY_NAMES, NcclDataType, NcclRedOp

Run = Callable[[Any, Any, str], None]
"""A reduction of Atoll's: the target, the source, the operator."""

PLAIN = frozenset(
    np.dtype(name)
    for kind, name in NUMPY_NAMES.items()
    if kind not in NARROW and kind is not NcclDataType.FLOAT16
)
"""Types for which Atoll has all operators but averages of integers."""
_NAMES = {op: op.name.lower() for op in NcclRedOp}


def operator_of(op: Any) -> tuple[str, Any]:
    """Return Atoll's name of an operator, and the scalar of a custom one or nothing. Raises NcclInvalid."""
    try:
        return _NAMES[op], None
    except (KeyError, TypeError):
        scalar = getattr(op, "_scalar_of_call", None)
        if scalar is not None:
            return "sum", scalar()
        raise NcclInvalid(
            f"nccl.core: op is {op!r}; pass SUM, PROD, MAX, MIN, AVG, or what create_pre_mul_sum returned."
        ) from None


def run_on_host(
    run: Run, to: Line | None, source: Line, op: str, scalar: Any, size: int, counts: int
) -> None:
    """Carry out a reduction of `size` ranks on host memory.

    16-bit and 8-bit floats are added as float32 and rounded once. Averages of integers are rounded towards zero.

    Parameters
    ----------
    to
        The target, or nothing on ranks that get no result.
    counts
        Elements of the target.
    """
    narrow = source.kind in NARROW or source.kind is NcclDataType.FLOAT16
    given = source.wide() if narrow else source.array
    if scalar is not None:
        # Each rank's own scalar, in the type of the sum; products of integers wrap.
        with np.errstate(over="ignore"):
            given = (given * np.asarray(scalar).astype(given.dtype)).astype(given.dtype)
    averages = op == "avg" and source.kind in INTEGERS
    if narrow or to is None:
        found = np.empty(counts, given.dtype)
    else:
        found = to.array
        given = apart(found, given)
    run(found, given, "sum" if averages else op)
    if to is None:
        return
    if averages:
        _divide(found, size)
    if narrow:
        to.set_from_wide(found)


def apart(to: Any, source: Any) -> Any:
    """Return the source, or a copy of it if it overlaps the target without being the same memory."""
    if not np.may_share_memory(to, source):
        return source
    same = to.size == source.size and to.ctypes.data == source.ctypes.data
    return source if same else source.copy()


def _divide(sums: Any, size: int) -> None:
    """Divide integers in place, rounding towards zero."""
    quotients, negative = sums // size, (sums < 0) & (sums % size != 0)
    np.add(quotients, negative, out=sums, casting="unsafe")
