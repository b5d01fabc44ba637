"""Checks of an operation's arguments when a kernel is compiled, by the rules of the table."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.errors import TypingError

from .._device import DeviceTeam
from .._kernels import rules
from .._kernels.rules import Rule
from ._types import FLOATS, MAX, MIN, PROD, SUM, WORDS, Kind, array, is_left_out, item, number, one_of, plain

NARROW = (types.int8, types.int16, types.uint8, types.uint16, types.boolean)
ALLOWED = {
    **dict.fromkeys(("words", "many", "bits", "counted"), WORDS),
    **dict.fromkeys(("numbers", "compared", "summed", "added", "wide"), WORDS + FLOATS),
    "element": WORDS + FLOATS + NARROW,
}
"""The types of words, by the key of [dtypes] in the table."""
CONTIGUOUS = ("many", "wide")


def check(name: str, given: dict[str, Kind]) -> None:
    """Raise a TypingError if an argument breaks a rule of the operation. Omitted arguments are not checked."""
    for rule in rules.rules("numba", name):
        if rule.argument in given and rule.kind in CHECKS:
            try:
                CHECKS[rule.kind](rule, given)
            except TypingError as error:
                raise TypingError(f"atoll.numba.{name}: {error}") from None


def team(rule: Rule, given: dict[str, Kind]) -> None:
    if not issubclass(getattr(given[rule.argument], "instance_class", object), DeviceTeam):
        raise TypingError(
            f"{rule.argument} is {given[rule.argument]}; pass dev.launch(…)(…) an atoll.Team, such as atoll.WORLD, and pass "
            "on the kernel's own argument, or pass team.device()"
        )


def whole(rule: Rule, given: dict[str, Kind]) -> None:
    if not isinstance(plain(given[rule.argument]), (types.Integer, types.Boolean)):
        raise TypingError(f"{rule.argument} is {given[rule.argument]}; it must be an integer")


def integer(rule: Rule, given: dict[str, Kind]) -> None:
    kind = given[rule.argument]
    if not is_left_out(kind) and not isinstance(plain(kind), types.Integer):
        unit = ", nanoseconds" if rule.argument.endswith("_ns") else ""
        raise TypingError(f"{rule.argument} is {kind}; it must be an integer{unit}")


def word(rule: Rule, given: dict[str, Kind]) -> None:
    kind = array(rule.argument, given[rule.argument], contiguous=rule.of in CONTIGUOUS)
    if kind not in ALLOWED[rule.of]:
        raise TypingError(rules.not_of(rule.argument, kind, ALLOWED[rule.of]))


def pair(given: dict[str, Kind], *, contiguous: bool) -> Kind:
    """Return the element type that dst and src have."""
    to, source = (array(one, given[one], contiguous=contiguous) for one in ("dst", "src"))
    if to != source:
        raise TypingError(rules.unlike(to, source))
    return to


def strided(rule: Rule, given: dict[str, Kind]) -> None:
    kind = pair(given, contiguous=False)
    if not isinstance(kind, (types.Integer, types.Float, types.Complex, types.Boolean)):
        raise TypingError(rules.not_of("dst", kind, ["integers", "floats", "complex numbers or bool"]))


def tile(rule: Rule, given: dict[str, Kind]) -> None:
    pair(given, contiguous=False)
    for which in ("dst", "src"):
        if given[which].ndim != 2 or item(given[which].dtype) not in (1, 2, 4, 8):
            raise TypingError(
                f"{which} is {given[which]}; it must have two axes, and elements of 1, 2, 4 or 8 bytes"
            )


def reduction(rule: Rule, given: dict[str, Kind]) -> None:
    kind, op = given["src"].dtype, one_of("op", "op", given["op"])
    is_float = isinstance(kind, types.Float) and kind.bitwidth >= 32
    if not isinstance(kind, types.Integer) and not (is_float and op in (SUM, PROD, MIN, MAX)):
        raise TypingError(
            f"{op} of {kind}; reductions take integers, and float32 and float64 for SUM PROD MIN MAX"
        )


def none_or_integers(rule: Rule, given: dict[str, Kind]) -> None:
    kind, is_optional = given[rule.argument], rule.argument == "status"
    if is_optional and isinstance(plain(kind), types.NoneType):
        return
    if not isinstance(array(rule.argument, kind, contiguous=False), types.Integer):
        wanted = "None or an array of integers" if is_optional else "an array of integers"
        raise TypingError(f"{rule.argument} is {kind}; it must be {wanted}")


def opened(rule: Rule, given: dict[str, Kind]) -> None:
    found = getattr(given[rule.argument], "instance_class", None)
    if found is None or found.__name__.lower() not in rule.of:
        raise TypingError(rules.not_made_by(rule.argument, given[rule.argument], rule.of))


CHECKS: dict[str, Any] = {
    "team": team,
    "pe": whole,
    "whole": whole,
    "integer": integer,
    "word": word,
    "view": lambda rule, given: array(rule.argument, given[rule.argument], contiguous=False),
    "array": lambda rule, given: array(rule.argument, given[rule.argument]),
    "same": lambda rule, given: pair(given, contiguous=True),
    "strided": strided,
    "tile": tile,
    "constant": lambda rule, given: one_of(rule.of, rule.argument, given[rule.argument]),
    "number": lambda rule, given: number(rule.argument, given[rule.argument], given[rule.of].dtype),
    "reduction": reduction,
    "status": none_or_integers,
    "values": none_or_integers,
    "indices": none_or_integers,
    "opened": opened,
}
