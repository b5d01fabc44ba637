"""Constants, and checks of types, constants and values of arguments, made when a kernel is compiled.

An error lists what is allowed; _host.py cuts Triton's error to that sentence. A correct argument leaves no
code in the kernel.
"""

# mypy: ignore-errors
from __future__ import annotations

import enum
import os

import triton.language as tl
from triton import constexpr_function, jit

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
COMPARE, SIGNAL_OP, REDUCE_OP, ORDER = (
    tl.constexpr(group.__name__) for group in (Compare, SignalOp, ReduceOp, Order)
)
_GROUPS = tl.constexpr({group.__name__: group for group in (Compare, SignalOp, ReduceOp, Order)})
_WORDS = ("int32", "uint32", "int64", "uint64")
_WORDS_ONLY = tl.constexpr("words")
_ALLOWED = tl.constexpr(
    {
        "words": _WORDS,
        "words and floats": (*_WORDS, "fp32", "fp64"),
        "words, floats and halves": (*_WORDS, "fp32", "fp64", "fp16", "bf16"),
    }
)


@constexpr_function
def _wrong_pointer(name, which, x):
    kind = getattr(getattr(x, "dtype", None), "scalar", None)
    if kind is not None and kind.is_ptr():
        return ""
    given = type(x).__name__ if kind is None else str(kind)
    return f"atoll.triton.{name}: {which} is {given}; it must be a pointer"


@constexpr_function
def _wrong_type(name, which, x, allowed):
    kind = str(x.dtype.scalar.element_ty)
    if kind in _ALLOWED.value[allowed]:
        return ""
    return f"atoll.triton.{name}: {which} is of {kind}; it must be of {', '.join(_ALLOWED.value[allowed])}"


@constexpr_function
def _wrong_count(name, which, x):
    if not x.type.is_block():
        return ""
    return f"atoll.triton.{name}: {which} is a block of pointers; it must be one pointer"


@constexpr_function
def _unlike(name, dst, src):
    to, come = dst.dtype.scalar.element_ty, src.dtype.scalar.element_ty
    return (
        "" if to == come else f"atoll.triton.{name}: dst is of {to}, src of {come}; they must have one type"
    )


@constexpr_function
def _wrong_fold(name, x, op):
    kind = x.dtype.scalar.element_ty
    if op < ReduceOp.AND or kind.is_int():
        return ""
    return f"atoll.triton.{name}: {ReduceOp(op).name} of {kind}; it takes integers"


@constexpr_function
def _given(x):
    """Return the text for a value in an error: a constant itself, else its type."""
    return (
        repr(x)
        if isinstance(x, (int, float, str)) or x is None
        else str(getattr(x, "dtype", type(x).__name__))
    )


@constexpr_function
def _wrong_constant(name, which, given, group):
    allowed = _GROUPS.value[group]
    # A number of the group is its constant, too: Inductor writes constants as numbers (inductor.py).
    is_one = isinstance(given, allowed) or (type(given) is int and 0 <= given < len(allowed))
    if is_one:
        return ""
    return (
        f"atoll.triton.{name}: {which} is {_given(given)}; it must be one of {', '.join(map(repr, allowed))}"
    )


@constexpr_function
def _wrong_value(name, which, value, of, x):
    """Return the error text for a value that does not fit, or "". x: the pointer to its word.

    Negative numbers are numbers of unsigned types modulo 2^bits, as everywhere in C++.
    """
    kind = x.dtype.scalar.element_ty
    is_known = isinstance(value, (int, float))
    scalar = None if is_known else getattr(getattr(value, "dtype", None), "scalar", None)
    begin = f"atoll.triton.{name}: {which} is {_given(value)}; it must"
    if not is_known and (scalar is None or not (scalar.is_int() or scalar.is_floating())):
        return f"{begin} be a number"
    if not kind.is_int():
        return ""
    if isinstance(value, float) or (scalar is not None and scalar.is_floating()):
        return f"{begin} be an integer, since {of} is of {kind}"
    bits = kind.primitive_bitwidth
    lowest = 0 if bits == 1 else -(1 << (bits - 1))
    highest = (1 << (bits if kind.is_int_unsigned() else max(bits - 1, 1))) - 1
    # Triton's own numbers have 32 bits. A number of 64 was converted, or is an argument that does not fit 32.
    if scalar is not None and scalar.primitive_bitwidth == 64 and bits < 64:
        return f"{begin} fit {kind}, of which {of} is: pass {which}.to(tl.{kind}), which keeps the low {bits} bits"
    if is_known and not lowest <= value <= highest:
        return f"{begin} fit {kind}, of which {of} is"
    return ""


@constexpr_function
def _wrong_pe(pe):
    scalar = getattr(getattr(pe, "dtype", None), "scalar", None)
    if isinstance(pe, int) or (scalar is not None and scalar.is_int()):
        return ""
    return f"atoll.triton: pe is {_given(pe)}; it must be an integer"


@jit
def pointer(name: tl.constexpr, which: tl.constexpr, x):
    said: tl.constexpr = _wrong_pointer(name, which, x)
    tl.static_assert(said == "", said)


@jit
def word(name: tl.constexpr, which: tl.constexpr, x, ALLOWED: tl.constexpr = _WORDS_ONLY):
    """Require that x is a pointer, or a block of them, to one of the types of that group."""
    pointer(name, which, x)
    said: tl.constexpr = _wrong_type(name, which, x, ALLOWED)
    tl.static_assert(said == "", said)


@jit
def single(name: tl.constexpr, which: tl.constexpr, x):
    """Require that x is a pointer to one such word."""
    word(name, which, x)
    said: tl.constexpr = _wrong_count(name, which, x)
    tl.static_assert(said == "", said)


@jit
def alike(name: tl.constexpr, dst, src):
    """Require that both are pointers to the same type."""
    pointer(name, "dst", dst)
    pointer(name, "src", src)
    said: tl.constexpr = _unlike(name, dst, src)
    tl.static_assert(said == "", said)


@jit
def constant(name: tl.constexpr, which: tl.constexpr, given, GROUP: tl.constexpr):
    """Require that `given` is a constant of that group."""
    said: tl.constexpr = _wrong_constant(name, which, given, GROUP)
    tl.static_assert(said == "", said)


@jit
def number(name: tl.constexpr, which: tl.constexpr, given, of: tl.constexpr, x):
    """Require that `given` is a number that fits x's type without loss, as far as is known; `of` names x."""
    said: tl.constexpr = _wrong_value(name, which, given, of, x)
    tl.static_assert(said == "", said)


@jit
def integer_pe(pe):
    """Require that pe is an integer, or a block of them."""
    said: tl.constexpr = _wrong_pe(pe)
    tl.static_assert(said == "", said)


@jit
def foldable(name: tl.constexpr, dst, src, op: tl.constexpr):
    """Require that both are pointers to the same type, which the reduction takes."""
    alike(name, dst, src)
    constant(name, "op", op, REDUCE_OP)
    said: tl.constexpr = _wrong_fold(name, src, op)
    tl.static_assert(said == "", said)


INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
EQ, NE, GT, GE, LT, LE = map(tl.constexpr, Compare)
SET, ADD = map(tl.constexpr, SignalOp)
SUM, PROD, MIN, MAX, AND, OR, XOR = map(tl.constexpr, ReduceOp)
ACQUIRE_RELEASE, RELAXED = map(tl.constexpr, Order)
MOST_PES = tl.constexpr(64)
