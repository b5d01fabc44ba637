"""Atomic operations on a symmetric array of one element; atomic with every other atomic, signal and wait on it.

target: a symmetric array of one 32- or 64-bit integer; for set, fetch, swap, inc, add and their like float32 and float64
        too.
value:  a number that fits the dtype. pe: whose element. ctx: in whose team pe is counted; None: the default context.

Local, not collective. Raise DtypeMismatch, ShapeMismatch (not one element), NotSymmetric, PeError, InvalidArgument,
UseAfterFree. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _atoll
from ._enums import StrEnum
from ._handles import Ctx, context_of
from ._waits import number

if TYPE_CHECKING:
    from ._types import Array, Number


def atomic_set(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Set the element to value.

    target: a symmetric array of one 32- or 64-bit integer, float32 or float64; pe: whose. value: a number that fits.
    ctx: in whose team pe is counted; None: the default context.

    Local, complete after quiet. Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_set).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_set(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_inc(target: Array, pe: int, ctx: Ctx | None = None) -> None:
    """Add 1 to the element; integers wrap.

    target: a symmetric array of one 32- or 64-bit integer, float32 or float64; pe: whose.
    ctx: in whose team pe is counted; None: the default context.

    Local, complete after quiet. Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_inc).
    """
    _atoll.atomic_inc(target, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_add(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Add value to the element; integers wrap.

    target: a symmetric array of one 32- or 64-bit integer, float32 or float64; pe: whose. value: a number that fits.
    ctx: in whose team pe is counted; None: the default context.

    Local, complete after quiet. Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_add).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_add(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_and(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Bitwise and of the element with value.

    target: a symmetric array of one 32- or 64-bit integer; pe: whose. value: a number that fits.
    ctx: in whose team pe is counted; None: the default context.

    Local, complete after quiet. Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_and).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_and(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_or(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Bitwise or of the element with value.

    target: a symmetric array of one 32- or 64-bit integer; pe: whose. value: a number that fits.
    ctx: in whose team pe is counted; None: the default context.

    Local, complete after quiet. Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_or).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_or(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_xor(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Bitwise exclusive or of the element with value.

    target: a symmetric array of one 32- or 64-bit integer; pe: whose. value: a number that fits.
    ctx: in whose team pe is counted; None: the default context.

    Local, complete after quiet. Raises DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree.
    Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_xor).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_xor(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch(source: Array, pe: int, ctx: Ctx | None = None) -> Number:
    """Return the element.

    source: a symmetric array of one 32- or 64-bit integer, float32 or float64; pe: whose. Else as for atomic_set.
    """
    value: Number = _atoll.atomic_fetch(source, pe, None, ctx=None if ctx is None else context_of(ctx))
    return value


def atomic_swap(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """Set the element to value and return what stood there before. Else as for atomic_set."""
    if type(value) is not int:
        value = number(value)
    before: Number = _atoll.atomic_swap(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))
    return before


def atomic_compare_swap(
    target: Array, cond: Number, value: Number, pe: int, ctx: Ctx | None = None
) -> Number:
    """Set the element to value if it equals cond; return what stood there before.

    Integers only. Else as for atomic_set.
    """
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_compare_swap(
        target, number(cond), value, pe, None, ctx=None if ctx is None else context_of(ctx)
    )


def atomic_fetch_inc(target: Array, pe: int, ctx: Ctx | None = None) -> Number:
    """atomic_inc, and return what stood there before."""
    before: Number = _atoll.atomic_fetch_inc(target, pe, None, ctx=None if ctx is None else context_of(ctx))
    return before


def atomic_fetch_add(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """atomic_add, and return what stood there before."""
    if type(value) is not int:
        value = number(value)
    before: Number = _atoll.atomic_fetch_add(
        target, value, pe, None, ctx=None if ctx is None else context_of(ctx)
    )
    return before


def atomic_fetch_and(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """atomic_and, and return what stood there before."""
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_fetch_and(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_or(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """atomic_or, and return what stood there before."""
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_fetch_or(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_xor(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """atomic_xor, and return what stood there before."""
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_fetch_xor(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_nbi(fetch: Array, source: Array, pe: int, ctx: Ctx | None = None) -> None:
    """Read the element into fetch, for certain after quiet.

    fetch: a writeable local array of source's dtype; its first element takes the value. Else as for atomic_fetch.
    """
    _atoll.atomic_fetch_nbi(fetch, source, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_swap_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """atomic_swap; what stood there before is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_swap_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_compare_swap_nbi(
    fetch: Array, target: Array, cond: Number, value: Number, pe: int, ctx: Ctx | None = None
) -> None:
    """atomic_compare_swap; what stood there before is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_compare_swap_nbi(
        fetch, target, number(cond), value, pe, None, ctx=None if ctx is None else context_of(ctx)
    )


def atomic_fetch_inc_nbi(fetch: Array, target: Array, pe: int, ctx: Ctx | None = None) -> None:
    """atomic_inc; what stood there before is in fetch after quiet."""
    _atoll.atomic_fetch_inc_nbi(fetch, target, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_add_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """atomic_add; what stood there before is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_add_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_and_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """atomic_and; what stood there before is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_and_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_or_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """atomic_or; what stood there before is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_or_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_xor_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """atomic_xor; what stood there before is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_xor_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


class AMO(StrEnum):
    """What atomic_op and its kin do to the element. AND, OR and XOR are bitwise."""

    SET = "set"
    INC = "inc"
    ADD = "add"
    AND = "and"
    OR = "or"
    XOR = "xor"


AMO_SET: AMO = AMO.SET
AMO_INC: AMO = AMO.INC
AMO_ADD: AMO = AMO.ADD
AMO_AND: AMO = AMO.AND
AMO_OR: AMO = AMO.OR
AMO_XOR: AMO = AMO.XOR


def _inc(target: Array, value: Number, pe: int, ctx: Ctx | None) -> None:
    atomic_inc(target, pe, ctx)


def _fetch_inc(target: Array, value: Number, pe: int, ctx: Ctx | None) -> Number:
    return atomic_fetch_inc(target, pe, ctx)


def _fetch_inc_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None) -> None:
    atomic_fetch_inc_nbi(fetch, target, pe, ctx)


_plain: dict[str, Callable[..., None]] = {
    "set": atomic_set,
    "inc": _inc,
    "add": atomic_add,
    "and": atomic_and,
    "or": atomic_or,
    "xor": atomic_xor,
}
_fetching: dict[str, Callable[..., Number]] = {
    "set": atomic_swap,
    "inc": _fetch_inc,
    "add": atomic_fetch_add,
    "and": atomic_fetch_and,
    "or": atomic_fetch_or,
    "xor": atomic_fetch_xor,
}
_fetching_nbi: dict[str, Callable[..., None]] = {
    "set": atomic_swap_nbi,
    "inc": _fetch_inc_nbi,
    "add": atomic_fetch_add_nbi,
    "and": atomic_fetch_and_nbi,
    "or": atomic_fetch_or_nbi,
    "xor": atomic_fetch_xor_nbi,
}


def _named(function: str, calls: dict[str, Callable[..., Any]], op: str) -> Callable[..., Any]:
    found = calls.get(op.lower()) if isinstance(op, str) else None
    if found is None:
        raise _atoll.InvalidArgument(
            f"{function}(): op is {op!r}; pass one of shmem.AMO, such as shmem.AMO_ADD."
        )
    return found


def atomic_op(target: Array, value: Number, op: AMO, pe: int, ctx: Ctx | None = None) -> None:
    """Do to the element what op says: atomic_set, atomic_inc (value does not count), atomic_add and so on.

    op: AMO_SET and the like, or its text. Raises InvalidArgument (op), and as those do.
    """
    _named("atomic_op", _plain, op)(target, value, pe, ctx)


def atomic_fetch_op(target: Array, value: Number, op: AMO, pe: int, ctx: Ctx | None = None) -> Number:
    """atomic_op, and return what stood there before."""
    before: Number = _named("atomic_fetch_op", _fetching, op)(target, value, pe, ctx)
    return before


def atomic_fetch_op_nbi(
    fetch: Array, target: Array, value: Number, op: AMO, pe: int, ctx: Ctx | None = None
) -> None:
    """atomic_op; what stood there before is in fetch after quiet."""
    _named("atomic_fetch_op_nbi", _fetching_nbi, op)(fetch, target, value, pe, ctx)
