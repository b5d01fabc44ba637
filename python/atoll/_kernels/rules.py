"""Rules for the arguments of operations, made from the table, and the texts of errors about them.

Each port checks the arguments when it compiles a kernel, with its own types and its own class of error.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

from .documentation import Language, table, takes_any_memory

GROUPS = {"scope": "scope", "cmp": "cmp", "order": "order"}
PAIRS = {"strided": "strided", "tile": "tile", "reduced_tile": "tile"}
"""The rule for dst and src, by the `dtypes` of the operation. For other dtypes it is `same`."""
ONE_WORD = ("signal", "ivar", "ivars", "words")
PLAIN = {
    "team": "team", "to": "team", "pe": "pe", "root": "pe", "tag": "integer", "bound_ns": "integer",
    **dict.fromkeys(("part", "data", "k", "i"), "whole"), }  # fmt: skip
"""The rule of an argument that is the same for all operations."""
MADE_BY = {"box": ("mailbox",), "out": ("outbox",), "come": ("inbox",), "met": ("meeting",)}
ENDS = {"begin": ("outbox", "inbox"), "end": ("outbox", "inbox"), "close": ("outbox", "inbox", "meeting")}
"""The operations whose result an argument must be: by its name, and `which` by its operation."""


class Rule(NamedTuple):
    """A requirement on one argument."""

    argument: str
    kind: str
    """The name of the check in each port."""
    of: Any = ""
    """The group of a constant, the word that a number is for, the dtypes of a word, the makers of a value."""


@functools.cache
def rules(language: str, name: str) -> tuple[Rule, ...]:
    """Return the rules for the arguments of an operation; none for a function that is not in the table."""
    listed = Language(language, table())
    operation = listed.operations().get(name)
    if operation is None:
        return ()
    names, dtypes = list(listed.parameters(operation)), operation.get("dtypes", "")
    is_pair = {"dst", "src"} <= set(names)
    word = next((one for one in names if one in (*ONE_WORD, "dst", "src") and not is_pair), "signal")
    found = []
    for one in names:
        if one in ("dst", "src") and is_pair:
            found += [Rule("dst", PAIRS.get(dtypes, "same"))] if one == "dst" else []
        elif one == "x" and dtypes != "wide":
            found.append(Rule(one, "view"))
        elif one in (*ONE_WORD, "dst", "src", "x"):
            found.append(Rule(one, "array") if dtypes == "any" else Rule(one, "word", dtypes))
        elif one in ("value", "condition") or (one == "n" and name == "signal_consume"):
            found.append(Rule(one, "number", word))
        elif one == "op":
            found.append(
                Rule(one, "constant", "op of a signal") if "signal" in names else Rule(one, "reduction")
            )
        elif one in GROUPS:
            found.append(Rule(one, "constant", GROUPS[one]))
        elif one in MADE_BY or (one == "which" and name in ENDS):
            found.append(Rule(one, "opened", MADE_BY.get(one) or ENDS[name]))
        elif one in ("status", "values", "indices") and dtypes == "many":
            found.append(Rule(one, one))
        elif one in PLAIN:
            found.append(Rule(one, PLAIN[one]))
    if not takes_any_memory(operation):
        found += [
            Rule(one, "remote") for one in operation.get("symmetric", ()) if is_pair and one in ("dst", "src")
        ]
    return tuple(found)


# ---- texts of errors, without the name of the operation
def unlike(to: Any, source: Any) -> str:
    return f"dst is of {to}, src of {source}; they must have one type"


def not_of(which: str, kind: Any, allowed: Iterable[Any]) -> str:
    return f"{which} is of {kind}; it must be of {', '.join(map(str, allowed))}"


def not_one_of(which: str, given: Any, allowed: Iterable[Any]) -> str:
    return f"{which} is {given}; it must be one of {', '.join(map(str, allowed))}"


def not_made_by(which: str, given: Any, makers: Iterable[str]) -> str:
    return f"{which} is {given}; it must be the result of {' or '.join(f'dev.{one}' for one in makers)}"
