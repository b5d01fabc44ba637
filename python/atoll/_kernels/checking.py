"""The engine that checks an operation's arguments when a kernel is compiled, by the rules of the table."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, ClassVar

from . import rules
from .rules import Rule


class Checks:
    """The checks of one call's arguments. Each port derives a class that knows its types.

    A method with the name of a rule's kind refuses an argument, or returns it as the operation takes it. A port
    leaves out the kinds that its language itself refuses.
    """

    language: ClassVar[str]
    error: ClassVar[type[Exception]] = TypeError
    allowed: ClassVar[dict[str, Sequence[Any]]]
    """The types of words, by the key of [dtypes] in the table; none: all types."""

    groups: ClassVar[dict[str, type[enum.Enum]]]
    """The constants, by their group."""

    def __init__(self, name: str, given: dict[str, Any]) -> None:
        self.name, self.given = name, given

    def run(self) -> None:
        """Check the arguments that were given, and replace them by what the checks return."""
        for rule in rules.rules(self.language, self.name):
            check = getattr(self, rule.kind, None)
            if check is not None and rule.argument in self.given:
                try:
                    self.given[rule.argument] = check(rule, self.given[rule.argument])
                except (self.error, OverflowError) as error:
                    raise type(error)(f"atoll.{self.language}.{self.name}: {error}") from None

    def refusal(self, rule: Rule, x: Any, wanted: str) -> Exception:
        return self.error(f"{rule.argument} is {self.shown(x)}; it must be {wanted}")

    # ---- the types of a port
    def shown(self, x: Any) -> str:
        """Return the text for an argument in an error."""
        return str(x)

    def named(self, kind: Any) -> str:
        """Return the name of an element type."""
        return str(kind)

    def element(self, rule: Rule, x: Any) -> Any:
        """Return the element type of an array, or refuse another argument."""
        raise NotImplementedError

    def is_integer(self, x: Any) -> bool:
        raise NotImplementedError

    def made_as(self, x: Any) -> str:
        """Return the name of the type of an operation's result."""
        return self.shown(x)

    def is_constant(self, x: Any, group: type[enum.Enum]) -> bool:
        return isinstance(x, group)

    def shown_constant(self, x: Any) -> str:
        return f"dev.{x.name}" if isinstance(x, enum.Enum) else repr(x)

    # ---- rules that are alike
    def array(self, rule: Rule, x: Any) -> Any:
        self.element(rule, x)
        return x

    def word(self, rule: Rule, x: Any) -> Any:
        kind, allowed = self.element(rule, x), self.allowed[rule.of]
        if allowed and kind not in allowed:
            raise self.error(rules.not_of(rule.argument, self.named(kind), map(self.named, allowed)))
        return x

    def same(self, rule: Rule, dst: Any) -> Any:
        to, source = (self.element(Rule(one, rule.kind), self.given[one]) for one in ("dst", "src"))
        if to != source:
            raise self.error(rules.unlike(self.named(to), self.named(source)))
        return dst

    def integer(self, rule: Rule, x: Any) -> Any:
        if not self.is_integer(x):
            raise self.refusal(
                rule, x, f"an integer{', nanoseconds' if rule.argument.endswith('_ns') else ''}"
            )
        return x

    def constant(self, rule: Rule, x: Any) -> Any:
        group = self.groups[rule.of]
        if not self.is_constant(x, group):
            allowed = (f"dev.{one.name}" for one in group)
            raise self.error(rules.not_one_of(rule.argument, self.shown_constant(x), allowed))
        return x

    def opened(self, rule: Rule, x: Any) -> Any:
        if self.made_as(x).lower() not in rule.of:
            raise self.error(rules.not_made_by(rule.argument, self.shown(x), rule.of))
        return x
