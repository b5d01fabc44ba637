"""Checks of an operation's arguments when a kernel is compiled, by the rules of the table.

A check returns the argument as the operation takes it: a PE as an Int32, a value as the type of its word.
"""

# mypy: ignore-errors
from __future__ import annotations

import functools
import inspect
from typing import ClassVar

import cutlass.cute as cute
from cutlass import BFloat16, Float, Float16, Float32, Float64, Int32, Int64, Numeric, Uint64
from cutlass._mlir import ir

from .._kernels import checking
from .._kernels.rules import Rule
from ._dsl._copies import dense, fits
from ._types import (
    FLOATS,
    HALVES,
    NARROW,
    WORDS,
    Compare,
    Order,
    ReduceOp,
    Scope,
    SignalOp,
    Team,
    addressed,
    global_memory,
    kind_of,
)  # fmt: skip

SIZED = {
    "put", "get", "put_nbi", "get_nbi", "async_put", "put_signal", "put_signal_nbi", "broadcast", "fcollect", "alltoall",
    "reduce",
}  # fmt: skip
"""Operations whose dst must have at least as many elements as src."""
DENSE = {
    **dict.fromkeys(
        ("broadcast", "fcollect", "collect", "alltoall", "reduce", "reduce_scatter"), ("dst", "src")
    ),
    **dict.fromkeys(("post", "post_next"), ("src",)),
    **dict.fromkeys(("receive", "receive_next", "try_receive"), ("dst",)),
}
"""Arguments that must be contiguous."""


class Checks(checking.Checks):
    """The checks of arguments, which are values or constants of CuTe DSL."""

    language = "cute"
    allowed: ClassVar = {
        **dict.fromkeys(("words", "many", "bits", "counted"), WORDS),
        **dict.fromkeys(("numbers", "compared", "summed"), WORDS + FLOATS),
        "added": WORDS + FLOATS + HALVES,
        "element": WORDS + FLOATS + NARROW,
    }

    groups: ClassVar = {
        "scope": Scope,
        "cmp": Compare,
        "op of a signal": SignalOp,
        "op": ReduceOp,
        "order": Order,
    }

    def shown(self, x):
        return type(x).__name__

    def named(self, kind):
        return kind.__name__

    def element(self, rule, x):
        if rule.kind != "word" or rule.of == "many":
            self.tensor(rule, x)
        kind = kind_of(rule.argument, x)
        (global_memory if rule.kind == "word" else addressed)(rule.argument, x)
        return kind

    def is_integer(self, x):
        return isinstance(x, (int, Numeric, ir.Value)) and not isinstance(x, Float)

    def tensor(self, rule, x, wanted="a cute.Tensor"):
        if not isinstance(x, cute.Tensor):
            raise self.refusal(rule, x, wanted)
        return x

    def team(self, rule, x):
        if not isinstance(x, Team):
            raise self.refusal(
                rule, x, "the result of dev.team(team) on the host, as the kernel's argument `team: dev.Team`"
            )
        return x

    def pe(self, rule, x):
        if isinstance(x, (float, Float, cute.Tensor, cute.Pointer, tuple, str)) or x is None:
            raise self.refusal(rule, x, "an integer, a PE's number in the team")
        return Int32(x)

    def view(self, rule, x):
        kind_of(rule.argument, x)
        global_memory(rule.argument, x)
        return x

    remote = view

    def strided(self, rule, dst):
        kind = self.same(rule, dst).element_type
        if kind.width not in (8, 16, 32, 64):
            raise TypeError(f"elements of {kind.width} bits; of 8, 16, 32 or 64")
        return dst

    def tile(self, rule, dst):
        self.strided(rule, dst)
        for which in ("dst", "src"):
            x = self.given[which]
            if cute.rank(x) != 2 or any(isinstance(extent, tuple) for extent in x.shape):
                raise TypeError(f"{which} has the shape {x.shape}; it must have two flat modes")
        return dst

    def reduction(self, rule, op):
        self.constant(Rule("op", "", "op"), op)
        allowed = WORDS if op in (ReduceOp.AND, ReduceOp.OR, ReduceOp.XOR) else WORDS + FLOATS
        kind = self.given["src"].element_type
        if kind not in allowed:
            listed = ", ".join(one.__name__ for one in allowed)
            raise TypeError(f"{op.name} of {kind.__name__}; it takes {listed}")
        return op

    def number(self, rule, value):
        """Return a value as the type of the word that it is for; a float for an integer is refused."""
        kind = kind_of(rule.of, self.given[rule.of])
        if not isinstance(value, (int, float, Numeric, ir.Value)):
            raise self.refusal(rule, value, f"a number, for a word of {kind.__name__}")
        if kind not in FLOATS + HALVES:
            if isinstance(value, (float, Float16, BFloat16, Float32, Float64)):
                raise TypeError(
                    f"{rule.argument} is {self.shown(value)}, and the word of {kind.__name__}; convert one to the other"
                )
            if isinstance(value, int) and not -(1 << kind.width - 1) <= value < 1 << kind.width:
                raise OverflowError(f"{rule.argument} is {value}, which does not fit {kind.__name__}")
        return kind(value)

    def whole(self, rule, x):
        if isinstance(x, float) or not self.is_integer(x):
            raise self.refusal(rule, x, "an integer")
        return (Uint64 if rule.argument == "data" else Int64)(x)

    def status(self, rule, x):
        return x if x is None else self.tensor(rule, x, "None or a cute.Tensor of integers")

    def values(self, rule, x):
        return self.tensor(rule, x, "a cute.Tensor, a value for each word")

    indices = tensor


def checked(name: str, function):
    """Return the operation with checks of its arguments, which CuTe DSL calls while it compiles a kernel."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def operation(*arguments, **keywords):
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        Checks(name, given).run()
        for which in DENSE.get(name, ()):
            dense(name, which, given[which])
        if name in SIZED:
            fits(name, given["dst"], given["src"])
        return function(**given)

    return operation
