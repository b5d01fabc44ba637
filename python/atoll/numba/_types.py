"""Types and constants of arguments, and their checks when a kernel is compiled."""

from __future__ import annotations

from typing import Any, ClassVar

import numba
from numba.core import types
from numba.core.errors import TypingError

from .._kernels import COMPARE, ORDER, REDUCE_OP, SCOPE, SIGNAL_OP, rules


def item(kind):
    """Bytes of an element."""
    return (
        int(kind.bitwidth) // 8 if hasattr(kind, "bitwidth") else {"bool": 1}.get(str(kind), 0) or _wide(kind)
    )


def _wide(kind):
    from numba.np.numpy_support import as_dtype

    return int(as_dtype(kind).itemsize)


Kind = Any
"""A type of Numba, while a kernel is compiled."""


class Constant:
    """A value that selects code at compile time, so each has its own type in Numba."""

    named: ClassVar[dict[str, Constant]] = {}

    def __init__(self, group: str, name: str, value: int) -> None:
        self.group, self.name, self.value = group, name, value
        self._numba_type_ = types.Opaque(f"atoll.numba.{name}")
        self.named[self._numba_type_.name] = self

    def __repr__(self) -> str:
        return f"atoll.numba.{self.name}"

    def __reduce__(self) -> str:
        return self.name


def constants(group: str, *names: str) -> tuple[Constant, ...]:
    return tuple(Constant(group, name, value) for value, name in enumerate(names))


THREAD, WARP, BLOCK, GRID = constants("scope", *SCOPE)
EQ, NE, GT, GE, LT, LE = constants("cmp", *COMPARE)
SET, ADD = constants("op of a signal", *SIGNAL_OP)
SUM, PROD, MIN, MAX, AND, OR, XOR = constants("op", *REDUCE_OP)
ACQUIRE_RELEASE, RELAXED = constants("order", *ORDER)
(LEFT_OUT,) = constants("what was not given", "LEFT_OUT")
WORDS = (types.int32, types.int64, types.uint32, types.uint64)
FLOATS = (types.float32, types.float64)


def plain(kind: Kind) -> Kind:
    """Return the type of an argument that may be a literal, or a default."""
    if isinstance(kind, types.Omitted):
        return numba.typeof(kind.value)
    if isinstance(kind, (int, float)):
        return numba.typeof(kind)
    return types.unliteral(kind)


def is_left_out(kind: Kind) -> bool:
    """Return whether an argument is `None` or was not given, so that its default holds."""
    return isinstance(kind, (types.Omitted, types.NoneType, int)) or kind is None


def constant(kind: Kind) -> Constant | None:
    if isinstance(kind, types.Omitted):
        kind = kind.value
    if isinstance(kind, types.Opaque):
        return Constant.named.get(kind.name)
    return kind if isinstance(kind, Constant) else None


def one_of(group: str, which: str, kind: Kind) -> Constant:
    """Return the value of a constant argument. A TypingError lists the allowed ones."""
    given = constant(kind)
    if given is None or given.group != group:
        allowed = (f"dev.{one.name}" for one in Constant.named.values() if one.group == group)
        raise TypingError(rules.not_one_of(which, kind, allowed))
    return given


def array(which: str, kind: Kind, *, contiguous: bool = True) -> Kind:
    """Return the element type of an array. A TypingError tells the type of an argument that is not an array."""
    if not isinstance(kind, types.Array):
        raise TypingError(f"{which} is {kind}; it must be an array")
    if which == "dst" and not kind.mutable:
        raise TypingError(f"dst is read-only ({kind}); pass an array that may be written")
    if contiguous and kind.layout not in "CF":
        raise TypingError(f"{which} is not contiguous ({kind}); copy it, or use iput and iget")
    return kind.dtype


def number(which: str, kind: Kind, element: Kind) -> None:
    """Refuse a value that does not fit a word of that element type without loss."""
    value = plain(kind)
    good = isinstance(value, (types.Integer, types.Boolean)) or (
        isinstance(value, types.Float) and element in FLOATS
    )
    if not good:
        raise TypingError(f"{which} is {value}; the word is of {element}")
