"""Checks of types, constants and values of arguments, made when a kernel is compiled.

An error lists what is allowed; _host.py cuts Triton's error to that sentence. A correct argument leaves no
code in the kernel.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import ClassVar

import triton.language as tl
from triton import constexpr_function, jit

from .._kernels import checking, rules
from ._dsl._wrappers import around
from ._types import Compare, Order, ReduceOp, SignalOp

WORDS = ("int32", "uint32", "int64", "uint64")
NUMBERS = (*WORDS, "fp32", "fp64")


class Checks(checking.Checks):
    """The checks of arguments, which are values of Triton, constants or numbers. Types of elements are texts."""

    language = "triton"
    allowed: ClassVar = {
        **dict.fromkeys(("words", "many", "bits", "compared"), WORDS),
        "numbers": NUMBERS,
        "element": (),
        **dict.fromkeys(("summed", "added", "counted"), (*NUMBERS, "fp16", "bf16")),
    }
    groups: ClassVar = {"cmp": Compare, "op of a signal": SignalOp, "op": ReduceOp, "order": Order}

    def shown(self, x):
        if isinstance(x, (int, float, str)) or x is None:
            return repr(x)
        return str(getattr(x, "dtype", type(x).__name__))

    shown_constant = shown

    def element(self, rule, x):
        kind = getattr(getattr(x, "dtype", None), "scalar", None)
        if kind is None or not kind.is_ptr():
            raise TypeError(
                f"{rule.argument} is {type(x).__name__ if kind is None else kind}; it must be a pointer"
            )
        return str(kind.element_ty)

    def word(self, rule, x):
        if super().word(rule, x).type.is_block() and self.name in ("signal_fetch", "test"):
            raise TypeError(f"{rule.argument} is a block of pointers; it must be one pointer")
        return x

    strided = tile = checking.Checks.same
    integer = None  # an error of Triton's own

    def is_constant(self, x, group):
        # A number of the group is its constant, too: Inductor writes constants as numbers (inductor.py).
        return isinstance(x, group) or (type(x) is int and 0 <= x < len(group))

    def reduction(self, rule, op):
        self.constant(rules.Rule(rule.argument, "", "op"), op)
        kind = self.given["src"].dtype.scalar.element_ty
        if op >= ReduceOp.AND and not kind.is_int():
            raise TypeError(f"{ReduceOp(op).name} of {kind}; it takes integers")
        return op

    def number(self, rule, value):
        """Refuse a value that does not fit its word.

        Negative numbers are numbers of unsigned types modulo 2^bits, as everywhere in C++.
        """
        kind, is_known = self.given[rule.of].dtype.scalar.element_ty, isinstance(value, (int, float))
        scalar = None if is_known else getattr(getattr(value, "dtype", None), "scalar", None)
        if not is_known and (scalar is None or not (scalar.is_int() or scalar.is_floating())):
            raise TypeError(f"{rule.argument} is {self.shown(value)}; it must be a number")
        if not kind.is_int():
            return value
        begin = f"{rule.argument} is {self.shown(value)}; it must"
        if isinstance(value, float) or (scalar is not None and scalar.is_floating()):
            raise TypeError(f"{begin} be an integer, since {rule.of} is of {kind}")
        bits = kind.primitive_bitwidth
        lowest = 0 if bits == 1 else -(1 << (bits - 1))
        highest = (1 << (bits if kind.is_int_unsigned() else max(bits - 1, 1))) - 1
        # Triton's own numbers have 32 bits. A number of 64 was converted, or is an argument that does not fit 32.
        if scalar is not None and scalar.primitive_bitwidth == 64 and bits < 64:
            raise TypeError(
                f"{begin} fit {kind}, of which {rule.of} is: pass {rule.argument}.to(tl.{kind}), which keeps the low {bits} bits"
            )
        if is_known and not lowest <= value <= highest:
            raise TypeError(f"{begin} fit {kind}, of which {rule.of} is")
        return value

    def arguments(self):
        """Return the names of the arguments that are checked, in their order."""
        found = []
        for rule in rules.rules(self.language, self.name):
            if getattr(self, rule.kind, None) is not None:
                found += ["dst", "src"] if rule.kind in ("same", "strided", "tile") else [rule.argument]
        return found

    def refusal_of(self, arguments):
        """Return the text of the error for these arguments, or "" if they are right."""
        self.given = dict(zip(self.arguments(), arguments, strict=True))
        try:
            self.run()
        except TypeError as error:
            return str(error)
        return ""

    def refusal_of_pe(self, pe):
        scalar = getattr(getattr(pe, "dtype", None), "scalar", None)
        if isinstance(pe, int) or (scalar is not None and scalar.is_int()):
            return ""
        return f"atoll.triton: pe is {self.shown(pe)}; it must be an integer"


@constexpr_function
def _refusal(name, *arguments):
    return Checks(name, {}).refusal_of(arguments)


@constexpr_function
def _wrong_pe(pe):
    return Checks("", {}).refusal_of_pe(pe)


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


def checked(name, function):
    """Return an operation with checks of its arguments, or the function itself if the table has no rules for them."""
    arguments = Checks(name, {}).arguments()

    def text(declared, passed):
        return (
            f"def {name}({', '.join(declared)}):\n"
            f"    accept({name!r}, ({', '.join(arguments)},))\n"
            f"    return inner({', '.join(passed)})\n"
        )

    return around(function, name, "checked", text, {"accept": accept}) if arguments else function
