"""Checks of an operation's arguments when a kernel is compiled, by the rules of the table."""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core import types
from numba.core.errors import TypingError

from .._device import DeviceTeam
from .._kernels import checking, rules
from .._kernels.rules import Rule
from ._types import FLOATS, MAX, MIN, PROD, SUM, WORDS, Kind, array, is_left_out, item, number, one_of, plain

NARROW = (types.int8, types.int16, types.uint8, types.uint16, types.boolean)
SCATTERED = ("view", "strided", "tile", "status", "values", "indices")
"""Rules for arrays that need not be contiguous; nor need a word, of which the first element is used."""


class Checks(checking.Checks):
    """The checks of arguments' types, which are Numba's."""

    language, error = "numba", TypingError
    allowed: ClassVar = {
        **dict.fromkeys(("words", "many", "bits", "counted"), WORDS),
        **dict.fromkeys(("numbers", "compared", "summed", "added", "wide"), WORDS + FLOATS),
        "element": WORDS + FLOATS + NARROW,
    }

    def element(self, rule: Rule, x: Kind) -> Kind:
        scattered = rule.kind in SCATTERED or (rule.kind == "word" and rule.of not in ("many", "wide"))
        return array(rule.argument, x, contiguous=not scattered)

    def is_integer(self, x: Kind) -> bool:
        return is_left_out(x) or isinstance(plain(x), types.Integer)

    def team(self, rule: Rule, x: Kind) -> Kind:
        if not issubclass(getattr(x, "instance_class", object), DeviceTeam):
            raise TypingError(
                f"{rule.argument} is {x}; pass dev.launch(…)(…) an atoll.Team, such as atoll.WORLD, and pass "
                "on the kernel's own argument, or pass team.device()"
            )
        return x

    def whole(self, rule: Rule, x: Kind) -> Kind:
        if not isinstance(plain(x), (types.Integer, types.Boolean)):
            raise self.refusal(rule, x, "an integer")
        return x

    pe, view = whole, checking.Checks.array

    def strided(self, rule: Rule, dst: Kind) -> Kind:
        kind = self.same(rule, dst).dtype
        if not isinstance(kind, (types.Integer, types.Float, types.Complex, types.Boolean)):
            raise TypingError(rules.not_of("dst", kind, ["integers", "floats", "complex numbers or bool"]))
        return dst

    def tile(self, rule: Rule, dst: Kind) -> Kind:
        self.same(rule, dst)
        for which in ("dst", "src"):
            x = self.given[which]
            if x.ndim != 2 or item(x.dtype) not in (1, 2, 4, 8):
                raise TypingError(
                    f"{which} is {x}; it must have two axes, and elements of 1, 2, 4 or 8 bytes"
                )
        return dst

    def constant(self, rule: Rule, x: Kind) -> Kind:
        one_of(rule.of, rule.argument, x)
        return x

    def number(self, rule: Rule, value: Kind) -> Kind:
        number(rule.argument, value, self.given[rule.of].dtype)
        return value

    def reduction(self, rule: Rule, x: Kind) -> Kind:
        kind, op = self.given["src"].dtype, one_of("op", "op", x)
        is_float = isinstance(kind, types.Float) and kind.bitwidth >= 32
        if not isinstance(kind, types.Integer) and not (is_float and op in (SUM, PROD, MIN, MAX)):
            raise TypingError(
                f"{op} of {kind}; reductions take integers, and float32 and float64 for SUM PROD MIN MAX"
            )
        return x

    def values(self, rule: Rule, x: Kind) -> Kind:
        is_optional = rule.argument == "status"
        if is_optional and isinstance(plain(x), types.NoneType):
            return x
        if not isinstance(self.element(rule, x), types.Integer):
            raise self.refusal(
                rule, x, "None or an array of integers" if is_optional else "an array of integers"
            )
        return x

    status = indices = values

    def made_as(self, x: Kind) -> str:
        return getattr(getattr(x, "instance_class", None), "__name__", "")


def check(name: str, given: dict[str, Any]) -> None:
    """Raise a TypingError if an argument breaks a rule of the operation. Omitted arguments are not checked."""
    Checks(name, given).run()
