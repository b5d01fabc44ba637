"""Checks of an operation's arguments when a kernel is compiled, by the rules of the table.

A check returns the argument as the operation takes it: a PE as an Int32, a value as the type of its word.
"""

# mypy: ignore-errors
from __future__ import annotations

import enum
import functools
import inspect

import cutlass.cute as cute
from cutlass import BFloat16, Float, Float16, Float32, Float64, Int32, Int64, Numeric, Uint64
from cutlass._mlir import ir

from .._kernels import rules
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

GROUPS = {"scope": Scope, "cmp": Compare, "op of a signal": SignalOp, "op": ReduceOp, "order": Order}
ALLOWED = {
    **dict.fromkeys(("words", "many", "bits", "counted"), WORDS),
    **dict.fromkeys(("numbers", "compared", "summed"), WORDS + FLOATS),
    "added": WORDS + FLOATS + HALVES,
    "element": WORDS + FLOATS + NARROW,
}
"""The types of words, by the key of [dtypes] in the table."""


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


def checked(name: str, function):
    """Return the operation with checks of its arguments, which CuTe DSL calls while it compiles a kernel."""
    wanted, signature = rules.rules("cute", name), inspect.signature(function)

    @functools.wraps(function)
    def operation(*arguments, **keywords):
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        for rule in wanted:
            if rule.kind in CHECKS:
                try:
                    given[rule.argument] = CHECKS[rule.kind](rule, given[rule.argument], given)
                except (TypeError, OverflowError) as error:
                    raise type(error)(f"atoll.cute.{name}: {error}") from None
        for which in DENSE.get(name, ()):
            dense(name, which, given[which])
        if name in SIZED:
            fits(name, given["dst"], given["src"])
        return function(**given)

    return operation


def team(rule, x, given):
    if not isinstance(x, Team):
        raise TypeError(
            f"{rule.argument} is {type(x).__name__}; it must be the result of dev.team(team) on the host, as the kernel's argument "
            "`team: dev.Team`"
        )
    return x


def pe(rule, x, given):
    if isinstance(x, (float, Float, cute.Tensor, cute.Pointer, tuple, str)) or x is None:
        raise TypeError(
            f"{rule.argument} is {type(x).__name__}; it must be an integer, a PE's number in the team"
        )
    return Int32(x)


def word(rule, x, given):
    kind = kind_of(rule.argument, x)
    global_memory(rule.argument, x)
    if kind not in ALLOWED[rule.of]:
        raise TypeError(
            rules.not_of(rule.argument, kind.__name__, (one.__name__ for one in ALLOWED[rule.of]))
        )
    return tensor(rule, x) if rule.of == "many" else x


def tensor(rule, x, wanted: str = "a cute.Tensor"):
    if not isinstance(x, cute.Tensor):
        raise TypeError(f"{rule.argument} is {type(x).__name__}; it must be {wanted}")
    return x


def view(rule, x, given):
    kind_of(rule.argument, x)
    global_memory(rule.argument, x)
    return x


def array(rule, x, given):
    addressed(rule.argument, tensor(rule, x))
    return x


def pair(rule, dst, given):
    for which in ("dst", "src"):
        array(rules.Rule(which, ""), given[which], given)
    kinds = [given[which].element_type for which in ("dst", "src")]
    if kinds[0] is not kinds[1]:
        raise TypeError(rules.unlike(*(kind.__name__ for kind in kinds)))
    if rule.kind != "same" and kinds[0].width not in (8, 16, 32, 64):
        raise TypeError(f"elements of {kinds[0].width} bits; of 8, 16, 32 or 64")
    return dst


def tile(rule, dst, given):
    pair(rule, dst, given)
    for which in ("dst", "src"):
        shape = given[which].shape
        if cute.rank(given[which]) != 2 or any(isinstance(extent, tuple) for extent in shape):
            raise TypeError(f"{which} has the shape {shape}; it must have two flat modes")
    return dst


def constant(rule, x, given):
    group = GROUPS[rule.of]
    if not isinstance(x, group):
        shown = f"dev.{x.name}" if isinstance(x, enum.Enum) else repr(x)
        raise TypeError(rules.not_one_of(rule.argument, shown, (f"dev.{one.name}" for one in group)))
    return x


def reduction(rule, op, given):
    constant(rules.Rule("op", "", "op"), op, given)
    allowed = WORDS if op in (ReduceOp.AND, ReduceOp.OR, ReduceOp.XOR) else WORDS + FLOATS
    kind = given["src"].element_type
    if kind not in allowed:
        listed = ", ".join(one.__name__ for one in allowed)
        raise TypeError(f"{op.name} of {kind.__name__}; it takes {listed}")
    return op


def number(rule, value, given):
    """Return a value as the type of the word that it is for; a float for an integer is refused."""
    kind = kind_of(rule.of, given[rule.of])
    if not isinstance(value, (int, float, Numeric, ir.Value)):
        raise TypeError(
            f"{rule.argument} is {type(value).__name__}; it must be a number, for a word of {kind.__name__}"
        )
    if kind not in FLOATS + HALVES:
        if isinstance(value, (float, Float16, BFloat16, Float32, Float64)):
            raise TypeError(
                f"{rule.argument} is {type(value).__name__}, and the word of {kind.__name__}; convert one to the other"
            )
        if isinstance(value, int) and not -(1 << kind.width - 1) <= value < 1 << kind.width:
            raise OverflowError(f"{rule.argument} is {value}, which does not fit {kind.__name__}")
    return kind(value)


def whole(rule, x, given):
    kind = Uint64 if rule.argument == "data" else Int64
    if isinstance(x, (float, Float)) or not isinstance(x, (int, Numeric, ir.Value)):
        raise TypeError(f"{rule.argument} is {type(x).__name__}; it must be an integer")
    return kind(x)


def integer(rule, x, given):
    if isinstance(x, Float) or not isinstance(x, (int, Numeric, ir.Value)):
        unit = ", nanoseconds" if rule.argument.endswith("_ns") else ""
        raise TypeError(f"{rule.argument} is {type(x).__name__}; it must be an integer{unit}")
    return x


def opened(rule, x, given):
    if type(x).__name__.lower() not in rule.of:
        raise TypeError(rules.not_made_by(rule.argument, type(x).__name__, rule.of))
    return x


CHECKS = {
    "team": team,
    "pe": pe,
    "whole": whole,
    "integer": integer,
    "word": word,
    "view": view,
    "array": array,
    "same": pair,
    "strided": pair,
    "tile": tile,
    "remote": view,
    "constant": constant,
    "reduction": reduction,
    "number": number,
    "status": lambda rule, x, given: x if x is None else tensor(rule, x, "None or a cute.Tensor of integers"),
    "values": lambda rule, x, given: tensor(rule, x, "a cute.Tensor, a value for each word"),
    "indices": lambda rule, x, given: tensor(rule, x),
    "opened": opened,
}
