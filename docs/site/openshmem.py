"""Writes the page of OpenSHMEM's names in C from api/openshmem.toml: each operation with its types."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from functools import cache
from itertools import groupby
from typing import Any

from pages import ROOT

TITLE = "OpenSHMEM's names in C"
ABOUT = "All functions of `shmem.h` and `pshmem.h`: OpenSHMEM 1.6, its deprecated names, and extensions."
# The sections of the page by the operation with which each begins in the table.
SECTIONS = {
    "put": "Puts and gets",
    "put_signal": "Signals",
    "atomic_fetch": "Atomics",
    "alltoall": "Collectives",
    "wait_until": "Waits and tests",
    "init": "Jobs, memory, teams, contexts, order and locks",
}


@cache
def functions() -> list[Any]:
    """The functions of the table. Its reader is loaded by its path, because bench/ has a module of the same name."""
    spec = importlib.util.spec_from_file_location("openshmem_table", ROOT / "api/table.py")
    assert spec and spec.loader
    reader = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    return list(reader.Table().functions)


def prototype(function: Any) -> str:
    """A function as C declares it, with TYPE for its type and SIZE for a number of bits."""
    name = function.name
    if function.type:
        name = name.replace(f"_{function.type.name}_", "_TYPENAME_", 1)
    if function.bits:
        name = name.replace(str(function.bits), "SIZE")
    arguments = [f"{kind} {name}".strip().replace("* ", "*") for kind, name in function.arguments]
    text = f"{function.result} {name}({', '.join(arguments) or 'void'});".replace("* ", "*")
    return re.sub(r"\bT\b", "TYPE", text)


def block(title: str, rows: list[tuple[str, list[str]]]) -> str:
    """One section: prototypes, then the names that they have."""
    text = f"## {title}\n\n```c\n" + "\n".join(one for one, _ in rows) + "\n```\n\n"
    names = sorted(name for _, each in rows for name in each)
    listed = "\n".join(textwrap.wrap(" ".join(names), 100, break_long_words=False, break_on_hyphens=False))
    return f"{text}<details>\n<summary>All {len(names)} names</summary>\n\n```text\n{listed}\n```\n\n</details>\n\n"


def page() -> str:
    """The page in Markdown."""
    rows: dict[str, list[tuple[str, list[str]]]] = {}
    title = ""
    for key, group in groupby(functions(), key=prototype):
        each = list(group)
        begins = SECTIONS.get(each[0].operation)
        title = begins if begins and not each[0].deprecated and begins not in rows else title
        of = "Extensions" if each[0].extension else "Deprecated names" if each[0].deprecated else title
        rows.setdefault(of, []).append((key, [one.name for one in each]))
    types = ", ".join(
        f"`{name}` ({kind})"
        for name, kind in sorted({(f.type.name, f.type.c) for f in functions() if f.type})
    )
    about = (
        f"{ABOUT} The [specification](https://github.com/openshmem-org/specification) tells what they do. "
        "[Porting](../../porting.md) lists what a program notices, and how it is compiled.\n\n"
        "TYPENAME is a name of a type, and TYPE the type in C. SIZE is a number of bits. Below the prototypes of a "
        "section are all names that they make. Each function also has a name that begins with `pshmem_`, for tools.\n\n"
        f"Names of types: {types}.\n\n"
    )
    return f"# {TITLE}\n\n{about}" + "".join(block(of, each) for of, each in rows.items())
