"""Atomic operations of the host on one element."""

from __future__ import annotations

import functools
import inspect
import operator
from typing import Any

from .. import _atoll
from ._dtypes import numpy_dtype
from ._state import (
    DIRECT,
    REFUSALS,
    STATE,
    Call,
    NvshmemInvalid,
    is_buffer,
    line_of,
    memory_of,
    refuse_narrow,
    require,
    translated_as,
)

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_compare_swap",
    "atomic_fetch",
    "atomic_fetch_add",
    "atomic_fetch_and",
    "atomic_fetch_inc",
    "atomic_fetch_or",
    "atomic_fetch_xor",
    "atomic_inc",
    "atomic_or",
    "atomic_set",
    "atomic_swap",
    "atomic_xor",
]
_REFUSALS = (*REFUSALS, IndexError)
"""Errors after which a call is repeated with conversion and checks. It changed nothing."""


def _with_checks(name: str, target: Any, values: tuple[Any, ...], pe: int, offset: Any, dtype: Any) -> Any:
    require()
    refuse_narrow(name, target)
    line = line_of(memory_of(target))
    if is_buffer(target):
        if dtype is None:
            raise NvshmemInvalid(f"nvshmem.core.{name}: pass dtype, since the target is a Buffer.")
        line = line.view(numpy_dtype(dtype))
    elif dtype is not None and numpy_dtype(dtype) != numpy_dtype(line.dtype):
        raise NvshmemInvalid(
            f"nvshmem.core.{name}: dtype is {dtype}, the target's is {line.dtype}; leave dtype out."
        )
    try:
        index = -1 if isinstance(offset, bool) else operator.index(offset)
    except TypeError:
        index = -1
    if not 0 <= index < len(line):
        raise NvshmemInvalid(
            f"nvshmem.core.{name}: offset is {offset!r}; pass the number of an element, 0 to {len(line) - 1}."
        )
    return translated_as(name)(getattr(_atoll, name))(line, *values, pe, index)


def _at_once(function: Call) -> Call:
    """Let a function call Atoll's of the same name at once if that takes the target, else with conversion and checks.

    There is a form for each number of values, because a further call would take as long as the operation.
    """
    name = function.__name__
    call: Any = getattr(_atoll, name)

    def without_value(target: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> Any:
        if (
            target.__class__ in DIRECT
            and dtype is None
            and offset.__class__ is int
            and offset >= 0
            and STATE.joined
        ):
            try:
                if target.ndim == 1:
                    return call(target, remote_pe, offset)
            except _REFUSALS:
                pass
        return _with_checks(name, target, (), remote_pe, offset, dtype)

    def with_value(
        target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
    ) -> Any:
        if (
            target.__class__ in DIRECT
            and dtype is None
            and offset.__class__ is int
            and offset >= 0
            and STATE.joined
        ):
            try:
                if target.ndim == 1:
                    return call(target, value, remote_pe, offset)
            except _REFUSALS:
                pass
        return _with_checks(name, target, (value,), remote_pe, offset, dtype)

    def with_condition(
        target: Any, cond: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
    ) -> Any:
        if (
            target.__class__ in DIRECT
            and dtype is None
            and offset.__class__ is int
            and offset >= 0
            and STATE.joined
        ):
            try:
                if target.ndim == 1:
                    return call(target, cond, value, remote_pe, offset)
            except _REFUSALS:
                pass
        return _with_checks(name, target, (cond, value), remote_pe, offset, dtype)

    forms = (without_value, with_value, with_condition)
    of_values = len(inspect.signature(function).parameters) - len(inspect.signature(without_value).parameters)
    return functools.wraps(function)(forms[of_values])  # type: ignore[return-value]


@_at_once
def atomic_fetch(target: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return element `offset` of the target on PE remote_pe. Local.

    Parameters
    ----------
    target
        A symmetric array or tensor, contiguous, or a Buffer.
    remote_pe
        The PE whose element it is.
    offset
        The number of the element.
    dtype
        The elements of a Buffer, by NVSHMEM's or NumPy's name. Arrays need none.

    Raises
    ------
    NvshmemInvalid
        A wrong argument, or a dtype that the operation does not take.
    """


@_at_once
def atomic_set(target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> None:
    """Set the element to `value`. Local. Other arguments and errors are atomic_fetch's."""


@_at_once
def atomic_inc(target: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> None:
    """Add 1 to the element. Local. Arguments and errors are atomic_fetch's."""


@_at_once
def atomic_fetch_inc(target: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> Any:
    """Add 1 to the element and return its previous value. Local. Arguments and errors are atomic_fetch's."""


@_at_once
def atomic_add(target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> None:
    """Add `value` to the element. Local. Other arguments and errors are atomic_fetch's."""


@_at_once
def atomic_fetch_add(
    target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
) -> Any:
    """Add `value` to the element and return its previous value. Local. Errors are atomic_fetch's."""


@_at_once
def atomic_and(target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> None:
    """Keep the bits of the element that `value` has. Local. Other arguments and errors are atomic_fetch's."""


@_at_once
def atomic_fetch_and(
    target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
) -> Any:
    """Do as atomic_and, and return the previous value. Local. Errors are atomic_fetch's."""


@_at_once
def atomic_or(target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> None:
    """Bitwise OR `value` into the element. Local. Other arguments and errors are atomic_fetch's."""


@_at_once
def atomic_fetch_or(
    target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
) -> Any:
    """Do as atomic_or, and return the previous value. Local. Errors are atomic_fetch's."""


@_at_once
def atomic_xor(target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> None:
    """Invert the bits of the element that `value` has. Local. Other arguments and errors are atomic_fetch's."""


@_at_once
def atomic_fetch_xor(
    target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
) -> Any:
    """Do as atomic_xor, and return the previous value. Local. Errors are atomic_fetch's."""


@_at_once
def atomic_swap(target: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None) -> Any:
    """Set the element to `value` and return its previous value. Local. Errors are atomic_fetch's."""


@_at_once
def atomic_compare_swap(
    target: Any, cond: Any, value: Any, remote_pe: int = -1, *, offset: int = 0, dtype: Any = None
) -> Any:
    """Set the element to `value` if it is `cond`, and return its previous value. Local."""
