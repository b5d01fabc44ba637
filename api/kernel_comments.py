"""The comments of the operations in the headers of C++ (include/atoll/device), composed from the table of kernel
operations.

The block of `///` above an operation is generated. Reasons of its code are comments inside the function.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernel_pages import HEADERS, Language

WIDTH = 110
NAMED = {"symmetric": "x", "word": "words", "from": "team"}
"""Arguments that have another name in C++ than in the table."""
START = re.compile(r"ATOLL_ANYWHERE [\w:<> ]*?[ *]+(\w+)\((?=const Team)")


@dataclass(frozen=True)
class Function:
    """A function of the device headers that takes a team."""

    name: str
    parameters: tuple[str, ...]
    """The names in C++."""
    arguments: tuple[str, ...]
    """The names in the table, with the defaults that are unusual."""
    at: int
    """The index of the line where the declaration begins, with its template."""


def functions(text: str) -> Iterator[Function]:
    """Yield the functions of a header that take a team."""
    lines = text.split("\n")
    for match in START.finditer(text):
        end = re.compile(r"\)\s*(?:const\s*)?\{").search(text, match.end())
        assert end is not None, match[1]
        parameters, arguments = [], []
        for one in re.split(r",(?![^<]*>)", text[match.end() : end.start()]):
            declared, _, default = one.partition("=")
            name = "team" if declared.strip() == "const Team&" else re.findall(r"\w+", declared)[-1]
            parameters.append(name)
            name = NAMED.get(name, name)
            arguments.append(f"{name}={default.split('::')[-1].strip().upper()}" if "::" in default else name)
        at = text[: match.start()].count("\n")
        while lines[at - 1].startswith("template <"):
            at -= 1
        yield Function(match[1], tuple(parameters), tuple(arguments), at)


def comment(language: Language, operation: dict[str, Any], function: Function) -> list[str]:
    """Return the lines of an operation's comment."""
    parts = [
        operation["does"],
        operation.get("in_cpp", operation.get("more", "")),
        operation.get("more_cpp", ""),
    ]
    if operation.get("waits"):
        parts.append("A wait longer than `bound_ns` is reported with `tag`.")
    if "order" in operation:
        parts.append(f"Memory order: {operation['order'][0].lower()}{operation['order'][1:]}")
    text = language.filled(" ".join(filter(None, parts)))
    for ours, listed in NAMED.items():
        if ours in function.parameters:
            text = text.replace(f"the symmetric `{listed}`", f"`{ours}`").replace(f"`{listed}`", f"`{ours}`")
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent="/// ",
        subsequent_indent="/// ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def with_comments(of: dict[str, Any]) -> dict[Path, str]:
    """Return the headers with the comments of the table; a function that is not in its header keeps its own."""
    language = Language("cpp", of)
    operations = language.operations()
    made = {}
    for header in sorted({operation["header"] for operation in operations.values()}):
        text = (HEADERS / header).read_text()
        lines = text.split("\n")
        for function in sorted(functions(text), key=lambda one: -one.at):
            operation = operations.get(function.name)
            if (
                operation is None
                or operation["header"] != header
                or list(function.arguments) != language.arguments(operation)
            ):
                continue
            first = function.at
            while lines[first - 1].startswith("///"):
                first -= 1
            space = [] if lines[first - 1] == "" else [""]
            lines[first : function.at] = [*space, *comment(language, operation, function)]
        made[HEADERS / header] = "\n".join(lines)
    return made
