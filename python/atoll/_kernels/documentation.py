"""Docstrings of the operations of kernels, composed from the table api/kernels.toml (here operations.json).

The package has the table as JSON; api/kernels.py passes the one that it has just read.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from . import constants

Operation = dict[str, Any]
WIDTH, LONGEST_KIND = 100, 70
USUAL_DEFAULTS = {"scope": "THREAD", "tag": "0", "bound_ns": "0"}


@functools.cache
def table() -> dict[str, Any]:
    """Return the table: its languages, dtypes and parameters, and `operations` by name."""
    return dict(json.loads(Path(__file__).with_name("operations.json").read_text()))


def paragraph(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(
        text, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False, initial_indent=indent, subsequent_indent=indent
    )  # fmt: skip
    return "\n".join(lines)


def section(title: str, entries: list[tuple[str, str]]) -> str:
    body = "\n".join(f"{name}\n{paragraph(text, '    ')}" if text else name for name, text in entries)
    return f"{title}\n{'-' * len(title)}\n{body}"


def takes_any_memory(operation: Operation) -> bool:
    """Return whether small calls of a collective take arrays that are not symmetric."""
    return bool(operation.get("collective")) and not re.match("tile_|collect$", operation["name"])


KINDS = {
    **dict.fromkeys(("scope", "cmp", "op", "order"), "constant"),
    **dict.fromkeys(("value", "condition"), "number"),
    **dict.fromkeys(
        ("pe", "root", "n", "count", "tag", "bound_ns", "part", "data", "k", "i", "room"), "integer"
    ),
    **dict.fromkeys(("dst_stride", "src_stride", "dst_pitch", "src_pitch", "rows", "cols"), "integer"),
    **dict.fromkeys(("BLOCK", "ROWS", "COLS"), "constexpr"),
}


ARRAYS = {"dst", "src", "x", "signal", "ivar", "ivars", "words"}


@dataclass(frozen=True)
class Language:
    """One language of the table, with the form that its operations have there."""

    name: str
    table: dict[str, Any]

    @property
    def words(self) -> dict[str, Any]:
        """Return the language's words for the names in braces of the table's texts."""
        return dict(self.table["languages"][self.name])

    def operations(self) -> dict[str, Operation]:
        """Return the operations that the language has."""
        listed = self.table["operations"]
        return {name: one for name, one in listed.items() if self.name not in one.get("absent", {})}

    def arguments(self, operation: Operation) -> list[str]:
        """Return an operation's arguments as the table lists them for the language; Triton has no scope."""
        listed = str(operation.get(self.name, operation["arguments"])).split(", ")
        return [one for one in listed if self.name != "triton" or one.partition("=")[0] != "scope"]

    def parameters(self, operation: Operation) -> dict[str, str]:
        """Return the parameters with their defaults; "" for one without a default."""
        parts = (one.partition("=") for one in self.arguments(operation))
        return {name: default or USUAL_DEFAULTS.get(name, "") for name, _, default in parts}

    def filled(self, text: str) -> str:
        """Replace a text's names in braces by the language's words."""
        for name in ("array", "arrays", "scope", "no_index", "meet"):
            text = text.replace("{" + name + "}", self.words[name])
        return text

    def sentences(self, operation: Operation) -> str:
        """Return the sentences that follow the first one."""
        parts = [operation.get("more", ""), operation.get(f"more_{self.name}", "")]
        return self.filled(" ".join(filter(None, parts)))

    def kind_of(self, operation: Operation, parameter: str) -> str:
        """Return the type of a parameter, for its line in the docstring."""
        if parameter in ARRAYS:
            dtypes = operation["dtypes"]
            if parameter == "signal":
                dtypes = "words"
            elif dtypes == "words" and parameter in ("dst", "src"):
                dtypes = "any"
            kind = f"{self.words['array']} {self.table['dtypes'][dtypes][self.name]}"
            return f"{kind}, symmetric" if parameter in operation.get("symmetric", ()) else kind
        if parameter in ("values", "indices", "status") and operation.get("dtypes") != "wide":
            return f"{self.words['array']}{' or None' if parameter == 'status' else ''}"
        return KINDS.get(parameter, "")

    def parameter_text(self, operation: Operation, parameter: str) -> str:
        texts: dict[str, str] = self.table["parameters"]
        symmetric = f"{parameter} symmetric" if parameter in operation.get("symmetric", ()) else parameter
        own: dict[str, str] = operation.get("parameters", {})
        has_blocks = "block of" in self.table["dtypes"].get(operation.get("dtypes"), {}).get(self.name, "")
        for text in (
            own.get(parameter),
            texts.get(f"{parameter} of blocks") if has_blocks else None,
            texts.get(symmetric),
            texts.get(parameter),
        ):
            if text is not None:
                return self.filled(text)
        raise KeyError(f"api/kernels.toml describes no argument {parameter}")

    def shown_parameters(self, operation: Operation) -> list[tuple[str, str]]:
        entries = []
        for name, default in self.parameters(operation).items():
            kind, text = self.kind_of(operation, name), self.parameter_text(operation, name)
            if len(kind) > LONGEST_KIND:  # in the text, to keep the line of the parameter short
                array, _, dtypes = kind.removesuffix(", symmetric").partition(" ")
                text = f"{text} A{'n' if array == 'array' else ''} {array} {dtypes}."
                kind = f"{array}, symmetric" if kind.endswith(", symmetric") else array
            kind += f"{', ' if kind else ''}default {default}" if default else ""
            entries.append((f"{name} : {kind}" if kind else name, text))
        return entries

    def raised(self, operation: Operation) -> Iterator[tuple[str, str]]:
        """Yield the errors of an operation, with their conditions."""
        given = self.parameters(operation)
        if len(given) > 1:
            error = self.words["typing_error"]
            yield error, "An argument has a wrong type. Raised when the kernel is compiled."
        # Numba's kernels also run on the host, Triton's in its interpreter.
        on_host = {"numba": "on the host", "triton": "where interpreted"}.get(self.name)
        check = operation.get("check")
        conditions = []
        if check is not None and given.keys() & {"pe", "root"}:
            conditions.append(("PeError", "the team has no such PE", f" (the report names {check})"))
        if check is not None:
            conditions.append(("NotSymmetric", "an address is not symmetric", " and ATOLL_CHECK=all is set"))
        if operation.get("waits"):
            conditions.append(("Timeout, PeDied", "the wait ended, by its limit or because a PE left", ""))
        for error, condition, _ in conditions if on_host else ():
            yield error, f"{condition[0].upper()}{condition[1:]}; {on_host}."
        if conditions:
            on_gpu = "; or ".join(condition + more for _, condition, more in conditions)
            yield "KernelError", f"On a GPU, raised by the host: {on_gpu}."

    def notes(self, operation: Operation) -> str:
        if operation.get("collective"):
            scope = "One program" if self.name == "triton" else "One scope"
            text = [
                f"Collective: {scope} of each member calls it, one call at a time for a team, in the same order."
            ]
            if {"dst", "src"} <= self.parameters(operation).keys():
                text.append(
                    "All members pass the same sizes."
                    if operation["name"] != "collect"
                    else "Sizes may differ."
                )
                if takes_any_memory(operation):
                    text.append(
                        "A message is small if a member sends another at most 8 * (512 // n_pes) bytes."
                    )
        else:
            callers = {
                "any": "by any thread",
                "thread": "by one thread",
                "scope": "by all threads of {scope}",
            }
            caller = callers[operation["caller"]] if self.name != "triton" else "by all of the program"
            text = [f"Local. Called {caller}."]
        if "order" in operation:
            text.append(f"Memory order: {operation['order'][0].lower()}{operation['order'][1:]}")
        text.append(f"OpenSHMEM: {operation['shmem']}." if "shmem" in operation else "Atoll's own.")
        return self.filled(" ".join(text))

    def docstring(self, name: str) -> str:
        """Return the docstring of an operation, in numpydoc's form."""
        operation = self.table["operations"][name]
        parts = [paragraph(self.filled(operation["does"]))]
        if more := self.sentences(operation):
            parts.append(paragraph(more))
        parts.append(section("Parameters", self.shown_parameters(operation)))
        if "returns" in operation:
            parts.append(section("Returns", [(operation["returns"].split(" (C++")[0], "")]))
        if errors := list(self.raised(operation)):
            parts.append(section("Raises", errors))
        parts.append("Notes\n-----\n" + paragraph(self.notes(operation)))
        parts.append(f"See Also\n--------\natoll/device/{operation['header']} : the same in C++")
        return "\n\n".join(parts) + "\n"

    def host_docstring(self, name: str) -> str:
        """Return the docstring of a function of the host, in numpydoc's form."""
        common = self.table["host"][name]
        own = common[self.name]
        more = " ".join(filter(None, (common.get("more"), own.get("more"))))
        parts = [paragraph(text) for text in (own.get("does") or common["does"], more) if text]
        for title in ("parameters", "returns", "raises"):
            texts, shared = own.get(title, {}), common.get(title, {})
            if texts:
                parts.append(
                    section(title.capitalize(), [(one, text or shared[one]) for one, text in texts.items()])
                )
        parts.append("Notes\n-----\n" + paragraph(own.get("notes") or common["notes"]))
        return "\n\n".join(parts) + "\n"


def describe(language: str, names: dict[str, Any]) -> None:
    """Give docstrings to the functions of the host in the globals of a language's package."""
    for name, function in table()["host"].items():
        if language in function:
            names[name].__doc__ = Language(language, table()).host_docstring(name)


def publish(
    language: str, names: dict[str, Any], checked: Callable[[str, Any], Any] = lambda _, function: function
) -> list[str]:
    """Put the language's constants and operations, these with docstrings, into the globals of its package.

    The table names the module that defines an operation. `checked` adds checks of its arguments to a function.
    Returns all these names.
    """

    def module(file: str) -> ModuleType:
        return importlib.import_module(f"{names['__name__']}.{file}")

    for name in constants.names(language):
        names[name] = getattr(module("_types"), name)
    listed = Language(language, table())
    for name, operation in listed.operations().items():
        names[name] = checked(name, getattr(module(operation["file"]), name))
        names[name].__doc__ = listed.docstring(name)
    describe(language, names)
    return [*constants.names(language), *listed.operations()]


def operations(language: str) -> dict[str, Operation]:
    """Return the operations that a language has, by name."""
    return Language(language, table()).operations()


def absent(language: str) -> dict[str, str]:
    """Return the reasons why a language lacks operations, by name."""
    return {
        name: one["absent"][language]
        for name, one in table()["operations"].items()
        if language in one.get("absent", {})
    }
