"""Checks the form of docstrings: numpydoc's sections, as CONTRIBUTING requires them."""

from __future__ import annotations

import enum
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import atoll
from atoll import _atoll

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
TITLES = {
    *("Parameters", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes", "References", "Examples"),
    *("Attributes", "Methods"),
}
RAISES = re.compile(r"\b[Rr]aises?\b")
NOTHING = ("None", "NoReturn")


def sections(text: str) -> dict[str, str]:
    """Return the sections by title; the summary has the title ""."""
    parts = SECTION.split(text)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section: str) -> set[str]:
    """Return the names of a section's entries, lines without indentation that may have several names."""
    lines = [line for line in section.split("\n") if line.strip() and not line.startswith(" ")]
    return {name.strip().lstrip("*") for line in lines for name in line.split(" : ")[0].split(",")}


def written_signature(text: str) -> inspect.Signature:
    """Return the signature of a definition without a body."""
    made: dict[str, Any] = {}
    exec(f"from __future__ import annotations\n{text}: ...", {}, made)
    return inspect.signature(made.popitem()[1])


def signature(value: Any) -> inspect.Signature | None:
    """Return the signature of a function or class; None if Python knows none."""
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError, AttributeError):
        return None
    if inspect.isbuiltin(value):  # its annotations are in a text of its own
        first = _atoll.__signatures__[value.__name__].split("\n")[0]
        found = found.replace(return_annotation=first.rpartition(" -> ")[2])
    return found


def returns_value(found: inspect.Signature, text: str) -> bool:
    """Return whether a function returns something: by its annotation, or, without one, by its first sentence."""
    given = found.return_annotation
    if given is inspect.Signature.empty:
        return text.startswith(("Return ", "True if "))
    return str(given if isinstance(given, str) else getattr(given, "__name__", given)) not in NOTHING


def is_not_called(value: Any) -> bool:
    """Return True for properties, and for classes whose objects a program does not make: errors, enumerations."""
    if inspect.isclass(value):
        return issubclass(value, BaseException | enum.Enum)
    return inspect.ismodule(value) or isinstance(value, property | functools.cached_property)


def faults(value: Any) -> Iterator[str]:
    """Yield what the docstring of a public name lacks; each overload of a method has a docstring."""
    overloads = getattr(value, "__nb_signature__", ())
    if len(overloads) > 1:
        for written, text, _ in overloads:
            yield from faults_of(written_signature(written), text or "", True)
        return
    found = None if is_not_called(value) else signature(value)
    yield from faults_of(found, inspect.getdoc(value) or "", not inspect.isclass(value))


def is_public(name: str) -> bool:
    """Return whether a dotted name leads to something in `atoll`."""
    found: Any = atoll
    for part in name.removeprefix("atoll.").split("."):
        found = getattr(found, part, None)
    return found is not None


def faults_of(found: inspect.Signature | None, text: str, is_function: bool) -> Iterator[str]:
    """Yield what a docstring lacks; without a signature it is not that of a call."""
    if not text:
        yield "no docstring"
        return
    its = sections(text)
    for title in its.keys() - {"", *TITLES}:
        yield f"{title!r} is no section of numpydoc"
    if "Examples" in its and ">>>" not in its["Examples"]:
        yield "Examples has no example"
    if unknown := {name for name in entries(its.get("See Also", "")) if not is_public(name)}:
        yield f"See Also names {', '.join(sorted(unknown))}, which atoll does not have"
    if found is None:
        return
    outside = "".join(part for title, part in its.items() if title not in ("Raises", "Examples"))
    if RAISES.search(outside) and "Raises" not in its:
        yield "it raises an error, and has no section Raises"
    explained = entries(its.get("Parameters", "")) | entries(its.get("Attributes", ""))
    names = [name for name in found.parameters if name not in ("self", "cls") and not name.startswith("_")]
    if missing := [name for name in names if name not in explained]:
        yield f"Parameters does not name {', '.join(missing)}"
    if unknown := entries(its.get("Parameters", "")) - set(names):
        yield f"Parameters names {', '.join(sorted(unknown))}, which it does not have"
    if is_function and returns_value(found, text) and not {"Returns", "Yields"} & its.keys():
        yield "no section Returns"
