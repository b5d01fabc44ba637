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
_GROUPS = tl.constexpr({"cmp": Compare, "op of a signal": SignalOp, "op": ReduceOp, "order": Order})
_WORDS = ("int32", "uint32", "int64", "uint64")
_NUMBERS = (*_WORDS, "fp32", "fp64")
_ALLOWED = tl.constexpr(
    {
        **dict.fromkeys(("words", "many", "bits", "compared"), _WORDS),
        "numbers": _NUMBERS,
        "element": (),
        **dict.fromkeys(("summed", "added", "counted"), (*_NUMBERS, "fp16", "bf16")),
    }
)
"""The types of words, by the key of [dtypes] in the table; none: all types."""


def _checked(name):
    """Return the arguments of an operation that accept() checks: a name, a rule, and what that rule is about."""
    found = []
    for rule in _kernels.rules.rules("triton", name):
        if rule.kind in ("same", "strided", "tile"):
            found += [("dst", "array", ""), ("src", "alike", "")]
        elif rule.kind in ("array", "word", "constant", "number", "reduction"):
            found.append(tuple(rule))
    return tuple(found)


_RULES = tl.constexpr({name: _checked(name) for name in _kernels.operations("triton")})


@constexpr_function
def _wrong_pointer(which, x):
    kind = getattr(getattr(x, "dtype", None), "scalar", None)
    if kind is not None and kind.is_ptr():
        return ""
    given = type(x).__name__ if kind is None else str(kind)
    return f"{which} is {given}; it must be a pointer"


@constexpr_function
def _wrong_word(name, which, x, dtypes):
    kind, allowed = str(x.dtype.scalar.element_ty), _ALLOWED.value[dtypes]
    if allowed and kind not in allowed:
        return f"{which} is of {kind}; it must be of {', '.join(allowed)}"
    if name in ("signal_fetch", "test") and x.type.is_block():
        return f"{which} is a block of pointers; it must be one pointer"
    return ""


@constexpr_function
def _unlike(dst, src):
    to, come = dst.dtype.scalar.element_ty, src.dtype.scalar.element_ty
    return "" if to == come else f"dst is of {to}, src of {come}; they must have one type"


@constexpr_function
def _wrong_fold(x, op):
    kind = x.dtype.scalar.element_ty
    return "" if op < ReduceOp.AND or kind.is_int() else f"{ReduceOp(op).name} of {kind}; it takes integers"


@constexpr_function
def _given(x):
    """Return the text for a value in an error: a constant itself, else its type."""
    if isinstance(x, (int, float, str)) or x is None:
        return repr(x)
    return str(getattr(x, "dtype", type(x).__name__))


@constexpr_function
def _wrong_constant(which, given, group):
    allowed = _GROUPS.value[group]
    # A number of the group is its constant, too: Inductor writes constants as numbers (inductor.py).
    if isinstance(given, allowed) or (type(given) is int and 0 <= given < len(allowed)):
        return ""
    return f"{which} is {_given(given)}; it must be one of {', '.join(map(repr, allowed))}"


@constexpr_function
def _wrong_value(which, value, of, x):
    """Return the error text for a value that does not fit, or "". x: the pointer to its word.

    Negative numbers are numbers of unsigned types modulo 2^bits, as everywhere in C++.
    """
    kind = x.dtype.scalar.element_ty
    is_known = isinstance(value, (int, float))
    scalar = None if is_known else getattr(getattr(value, "dtype", None), "scalar", None)
    begin = f"{which} is {_given(value)}; it must"
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
def _wrong(name, which, rule, of, given):
    """Return the error text for argument `which` of `given` (arguments by name), or "" if it is right."""
    x = given[which]
    if rule == "constant":
        return _wrong_constant(which, x, of)
    if rule == "number":
        return _wrong_value(which, x, of, given[of])
    if rule == "reduction":
        return _wrong_constant(which, x, "op") or _wrong_fold(given["src"], x)
    text = _wrong_pointer(which, x)
    if text == "" and rule == "word":
        return _wrong_word(name, which, x, of)
    return _unlike(given["dst"], x) if text == "" and rule == "alike" else text


@constexpr_function
def _refusal(name, *arguments):
    checks = _RULES.value[name]
    given = {check[0]: one for check, one in zip(checks, arguments, strict=True)}
    for which, rule, of in checks:
        text = _wrong(name, which, rule, of, given)
        if text != "":
            return f"atoll.triton.{name}: {text}"
    return ""


@constexpr_function
def _wrong_pe(pe):
    scalar = getattr(getattr(pe, "dtype", None), "scalar", None)
    if isinstance(pe, int) or (scalar is not None and scalar.is_int()):
        return ""
    return f"atoll.triton: pe is {_given(pe)}; it must be an integer"


@jit
def accept(name: tl.constexpr, arguments):
    """Require that the arguments of an operation, without team, PE and sizes, are as the table demands."""
    text: tl.constexpr = _refusal(name, *arguments)
    tl.static_assert(text == "", text)


@jit
def integer_pe(pe):
    """Require that pe is an integer, or a block of them."""
    text: tl.constexpr = _wrong_pe(pe)
    tl.static_assert(text == "", text)


INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
EQ, NE, GT, GE, LT, LE = map(tl.constexpr, Compare)
SET, ADD = map(tl.constexpr, SignalOp)
SUM, PROD, MIN, MAX, AND, OR, XOR = map(tl.constexpr, ReduceOp)
ACQUIRE_RELEASE, RELAXED = map(tl.constexpr, Order)
