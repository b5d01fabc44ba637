"""Atomic operations on a symmetric array of one element; atomic with every other atomic, signal and wait on
it.

The element is a 32- or 64-bit integer; set, fetch, swap, inc, add and their like also take float32 and
float64. All are local, not collective. They raise DtypeMismatch, ShapeMismatch (not one element),
NotSymmetric, PeError, InvalidArgument, UseAfterFree. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*).
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

    Parameters
    ----------
    target
        A symmetric array of one element: a 32- or 64-bit integer, float32 or float64.
    value
        A number that fits the element.
    pe
        The PE whose element is changed.
    ctx
        The context, whose team numbers pe; None: the default context.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree
        An argument is wrong.

    Notes
    -----
    Local, complete after quiet. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_set).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_set(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_inc(target: Array, pe: int, ctx: Ctx | None = None) -> None:
    """Add 1 to the element; integers wrap around.

    Parameters
    ----------
    target
        A symmetric array of one element: a 32- or 64-bit integer, float32 or float64.
    pe
        The PE whose element is changed.
    ctx
        The context, whose team numbers pe; None: the default context.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree
        An argument is wrong.

    Notes
    -----
    Local, complete after quiet. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_inc).
    """
    _atoll.atomic_inc(target, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_add(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Add value to the element; integers wrap around.

    Parameters
    ----------
    target
        A symmetric array of one element: a 32- or 64-bit integer, float32 or float64.
    value
        A number that fits the element.
    pe
        The PE whose element is changed.
    ctx
        The context, whose team numbers pe; None: the default context.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree
        An argument is wrong.

    Notes
    -----
    Local, complete after quiet. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_add).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_add(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_and(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Combine the element with value by bitwise AND.

    Parameters
    ----------
    target
        A symmetric array of one element: a 32- or 64-bit integer.
    value
        A number that fits the element.
    pe
        The PE whose element is changed.
    ctx
        The context, whose team numbers pe; None: the default context.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree
        An argument is wrong.

    Notes
    -----
    Local, complete after quiet. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_and).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_and(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_or(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Combine the element with value by bitwise OR.

    Parameters
    ----------
    target
        A symmetric array of one element: a 32- or 64-bit integer.
    value
        A number that fits the element.
    pe
        The PE whose element is changed.
    ctx
        The context, whose team numbers pe; None: the default context.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree
        An argument is wrong.

    Notes
    -----
    Local, complete after quiet. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_or).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_or(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_xor(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Combine the element with value by bitwise XOR.

    Parameters
    ----------
    target
        A symmetric array of one element: a 32- or 64-bit integer.
    value
        A number that fits the element.
    pe
        The PE whose element is changed.
    ctx
        The context, whose team numbers pe; None: the default context.

    Raises
    ------
    DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, UseAfterFree
        An argument is wrong.

    Notes
    -----
    Local, complete after quiet. Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_xor).
    """
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_xor(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch(source: Array, pe: int, ctx: Ctx | None = None) -> Number:
    """Return the element.

    `source` is a symmetric array of one 32- or 64-bit integer, float32 or float64, and pe its owner. Errors
    and context as for atomic_set.
    """
    value: Number = _atoll.atomic_fetch(source, pe, None, ctx=None if ctx is None else context_of(ctx))
    return value


def atomic_swap(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """Set the element to value and return the previous value. Arguments and errors as for atomic_set."""
    if type(value) is not int:
        value = number(value)
    before: Number = _atoll.atomic_swap(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))
    return before


def atomic_compare_swap(
    target: Array, cond: Number, value: Number, pe: int, ctx: Ctx | None = None
) -> Number:
    """Set the element to value if it equals cond; return the previous value.

    Integers only. Other arguments and errors as for atomic_set.
    """
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_compare_swap(
        target, number(cond), value, pe, None, ctx=None if ctx is None else context_of(ctx)
    )


def atomic_fetch_inc(target: Array, pe: int, ctx: Ctx | None = None) -> Number:
    """Do atomic_inc, and return the previous value."""
    before: Number = _atoll.atomic_fetch_inc(target, pe, None, ctx=None if ctx is None else context_of(ctx))
    return before


def atomic_fetch_add(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """Do atomic_add, and return the previous value."""
    if type(value) is not int:
        value = number(value)
    before: Number = _atoll.atomic_fetch_add(
        target, value, pe, None, ctx=None if ctx is None else context_of(ctx)
    )
    return before


def atomic_fetch_and(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """Do atomic_and, and return the previous value."""
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_fetch_and(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_or(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """Do atomic_or, and return the previous value."""
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_fetch_or(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_xor(target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> Number:
    """Do atomic_xor, and return the previous value."""
    if type(value) is not int:
        value = number(value)
    return _atoll.atomic_fetch_xor(target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_nbi(fetch: Array, source: Array, pe: int, ctx: Ctx | None = None) -> None:
    """Read the element into fetch, complete after quiet.

    `fetch` is a writeable local array of source's dtype; its first element takes the value. Other arguments
    and errors as for atomic_fetch.
    """
    _atoll.atomic_fetch_nbi(fetch, source, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_swap_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Do atomic_swap; the previous value is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_swap_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_compare_swap_nbi(
    fetch: Array, target: Array, cond: Number, value: Number, pe: int, ctx: Ctx | None = None
) -> None:
    """Do atomic_compare_swap; the previous value is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_compare_swap_nbi(
        fetch, target, number(cond), value, pe, None, ctx=None if ctx is None else context_of(ctx)
    )


def atomic_fetch_inc_nbi(fetch: Array, target: Array, pe: int, ctx: Ctx | None = None) -> None:
    """Do atomic_inc; the previous value is in fetch after quiet."""
    _atoll.atomic_fetch_inc_nbi(fetch, target, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_add_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Do atomic_add; the previous value is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_add_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_and_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Do atomic_and; the previous value is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_and_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_or_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Do atomic_or; the previous value is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_or_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


def atomic_fetch_xor_nbi(fetch: Array, target: Array, value: Number, pe: int, ctx: Ctx | None = None) -> None:
    """Do atomic_xor; the previous value is in fetch after quiet."""
    if type(value) is not int:
        value = number(value)
    _atoll.atomic_fetch_xor_nbi(fetch, target, value, pe, None, ctx=None if ctx is None else context_of(ctx))


class AMO(StrEnum):
    """Operators of atomic_op and similar functions. AND, OR and XOR are bitwise."""

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
    """Do the operation that op names: atomic_set, atomic_inc (value is ignored), atomic_add and so on.

    `op` is AMO_SET and the like, or its text. Raises InvalidArgument (op), and the errors of the operation.
    """
    _named("atomic_op", _plain, op)(target, value, pe, ctx)


def atomic_fetch_op(target: Array, value: Number, op: AMO, pe: int, ctx: Ctx | None = None) -> Number:
    """Do atomic_op, and return the previous value."""
    before: Number = _named("atomic_fetch_op", _fetching, op)(target, value, pe, ctx)
    return before


def atomic_fetch_op_nbi(
    fetch: Array, target: Array, value: Number, op: AMO, pe: int, ctx: Ctx | None = None
) -> None:
    """Do atomic_op; the previous value is in fetch after quiet."""
    _named("atomic_fetch_op_nbi", _fetching_nbi, op)(fetch, target, value, pe, ctx)
