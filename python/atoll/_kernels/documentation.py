"""Docstrings of the operations of kernels, composed from the table api/kernels.toml (here operations.json)."""

from __future__ import annotations

import functools
import importlib
import json
import textwrap
from collections.abc import Iterator
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


def operations(language: str) -> dict[str, Operation]:
    """Return the operations that a language has."""
    return {name: one for name, one in table()["operations"].items() if language not in one.get("absent", {})}


def parameters(language: str, operation: Operation) -> dict[str, str]:
    """Return the parameters with their defaults; "" for one without a default."""
    listed = str(operation.get(language, operation["arguments"])).split(", ")
    found = {}
    for one in listed:
        name, _, default = one.partition("=")
        if language != "triton" or name != "scope":
            found[name] = default or USUAL_DEFAULTS.get(name, "")
    return found


def filled(text: str, language: str) -> str:
    """Replace a text's names in braces by the language's words."""
    words: dict[str, str] = table()["languages"][language]
    for name in ("array", "arrays", "scope"):
        text = text.replace("{" + name + "}", words[name])
    return text


def paragraph(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(
        text, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False, initial_indent=indent, subsequent_indent=indent
    )  # fmt: skip
    return "\n".join(lines)


def sentences(language: str, operation: Operation) -> str:
    """Return the sentences that follow the first one."""
    parts = [operation.get("more", ""), operation.get(f"more_{language}", "")]
    return filled(" ".join(filter(None, parts)), language)


def section(title: str, entries: list[tuple[str, str]]) -> str:
    body = "\n".join(f"{name}\n{paragraph(text, '    ')}" if text else name for name, text in entries)
    return f"{title}\n{'-' * len(title)}\n{body}"


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


def kind_of(language: str, operation: Operation, parameter: str) -> str:
    """Return the type of a parameter, for its line in the docstring."""
    words: dict[str, str] = table()["languages"][language]
    if parameter in ARRAYS:
        dtypes = operation["dtypes"]
        if parameter == "signal":
            dtypes = "words"
        elif dtypes == "words" and parameter in ("dst", "src"):
            dtypes = "any"
        kind = f"{words['array']} {table()['dtypes'][dtypes][language]}"
        return f"{kind}, symmetric" if parameter in operation.get("symmetric", ()) else kind
    if parameter in ("values", "indices", "status") and operation.get("dtypes") != "wide":
        return words["array"] + (" or None" if parameter == "status" else "")
    return KINDS.get(parameter, "")


def parameter_text(language: str, operation: Operation, parameter: str) -> str:
    texts: dict[str, str] = table()["parameters"]
    symmetric = f"{parameter} symmetric" if parameter in operation.get("symmetric", ()) else parameter
    own: dict[str, str] = operation.get("parameters", {})
    has_blocks = "block of" in table()["dtypes"].get(operation.get("dtypes"), {}).get(language, "")
    for text in (
        own.get(parameter),
        texts.get(f"{parameter} of blocks") if has_blocks else None,
        texts.get(symmetric),
        texts.get(parameter),
    ):
        if text is not None:
            return filled(text, language)
    raise KeyError(f"api/kernels.toml describes no argument {parameter}")


def shown_parameters(language: str, operation: Operation) -> list[tuple[str, str]]:
    entries = []
    for name, default in parameters(language, operation).items():
        kind, text = kind_of(language, operation, name), parameter_text(language, operation, name)
        if len(kind) > LONGEST_KIND:  # in the text, to keep the line of the parameter short
            array, _, dtypes = kind.removesuffix(", symmetric").partition(" ")
            text = f"{text} A{'n' if array == 'array' else ''} {array} {dtypes}."
            kind = f"{array}, symmetric" if kind.endswith(", symmetric") else array
        kind += f"{', ' if kind else ''}default {default}" if default else ""
        entries.append((f"{name} : {kind}" if kind else name, text))
    return entries


def raised(language: str, operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield the errors of an operation, with their conditions."""
    given = parameters(language, operation)
    if len(given) > 1:
        error = table()["languages"][language]["typing_error"]
        yield error, "An argument has a wrong type. Raised when the kernel is compiled."
    # Numba's kernels also run on the host, Triton's in its interpreter.
    on_host = {"numba": "on the host", "triton": "where interpreted"}.get(language)
    check = operation.get(f"check_{language}", operation.get("check"))
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


def notes(language: str, operation: Operation) -> str:
    if operation.get("collective"):
        scope = "One program" if language == "triton" else "One scope"
        text = [
            f"Collective: {scope} of each member calls it, one call at a time for a team, in the same order."
        ]
        if {"dst", "src"} <= parameters(language, operation).keys():
            text.append(
                "All members pass the same sizes." if operation["name"] != "collect" else "Sizes may differ."
            )
            if not operation["name"].startswith("tile_") and operation["name"] != "collect":
                text.append("A message is small if a member sends another at most 8 * (512 // n_pes) bytes.")
    else:
        callers = {"any": "by any thread", "thread": "by one thread", "scope": "by all threads of {scope}"}
        caller = callers[operation["caller"]] if language != "triton" else "by all of the program"
        text = [f"Local. Called {caller}."]
    if "order" in operation:
        text.append(f"Memory order: {operation['order'][0].lower()}{operation['order'][1:]}")
    text.append(f"OpenSHMEM: {operation['shmem']}." if "shmem" in operation else "Atoll's own.")
    return filled(" ".join(text), language)


def docstring(language: str, name: str) -> str:
    """Return the docstring of an operation, in numpydoc's form."""
    operation = table()["operations"][name]
    parts = [paragraph(filled(operation["does"], language))]
    if more := sentences(language, operation):
        parts.append(paragraph(more))
    parts.append(section("Parameters", shown_parameters(language, operation)))
    if "returns" in operation:
        parts.append(section("Returns", [(operation["returns"].split(" (C++")[0], "")]))
    if errors := list(raised(language, operation)):
        parts.append(section("Raises", errors))
    parts.append("Notes\n-----\n" + paragraph(notes(language, operation)))
    parts.append(f"See Also\n--------\natoll/device/{operation['header']} : the same in C++")
    return "\n\n".join(parts) + "\n"


def publish(language: str, names: dict[str, Any]) -> list[str]:
    """Put the language's constants and operations, these with docstrings, into the globals of its package.

    The table names the module that defines an operation. Returns all these names.
    """

    def module(file: str) -> ModuleType:
        return importlib.import_module(f"{names['__name__']}.{file}")

    for name in constants.names(language):
        names[name] = getattr(module("_types"), name)
    for name, operation in operations(language).items():
        names[name] = getattr(module(operation["file"]), name)
        names[name].__doc__ = docstring(language, name)
    return [*constants.names(language), *operations(language)]


def absent(language: str) -> dict[str, str]:
    """Return the reasons why a language lacks operations, by name."""
    return {
        name: one["absent"][language]
        for name, one in table()["operations"].items()
        if language in one.get("absent", {})
    }
