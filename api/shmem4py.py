"""Prints docs/shmem4py-coverage.md: shmem4py's names beside those of atoll.shmem.

    .venv/bin/python api/shmem4py.py > docs/shmem4py-coverage.md

tests/python/shmem4py_names.json has shmem4py's names with their signatures, printed once from its module. Those of
atoll.shmem are read from the module itself.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests/python"
sys.path.insert(0, str(TESTS))

import shmem4py_names  # noqa: E402


def read() -> tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, str]]]:
    """Return shmem4py's names, those of atoll.shmem, and the table of differences."""
    theirs = json.loads((TESTS / "shmem4py_names.json").read_text())
    ours = json.loads(json.dumps(shmem4py_names.of_module(importlib.import_module("atoll.shmem"))))
    return theirs, ours, tomllib.loads((ROOT / "api/shmem4py.toml").read_text())


def kind_of(entry: Any) -> str:
    """Return the kind of a name, in a word."""
    if not isinstance(entry, dict):
        return "constant"
    if "enum" in entry:
        return "enumeration"
    return "class" if "methods" in entry else "function"


def signature(name: str, entry: Any) -> str:
    """Return a name with its parameters."""
    if "call" not in (entry if isinstance(entry, dict) else {}):
        return name
    given = (name + ("" if value == "" else f"={value}") for name, _, value in entry["call"])
    return f"{name}({', '.join(given)})"


def page() -> str:
    """Return the page."""
    theirs, ours, table = read()
    same = [name for name in theirs if ours.get(name) == theirs[name] and name not in table["differs"]]
    differs = [name for name in theirs if name in ours and name not in same]
    every = len(theirs) + len(table["refused"])
    lines = [
        "# shmem4py's names on Atoll\n",
        f"Of {every} names {len(same)} work alike with the same signature, {len(differs)} work with a difference, and",
        f"{len(table['refused'])} are refused. [From shmem4py](from-shmem4py.md) tells how to run its programs.\n",
        "The names are those of shmem4py 1.0.0. `.venv/bin/python api/shmem4py.py` prints this page from the module `atoll.shmem`,",
        "`api/shmem4py.toml` and `tests/python/shmem4py_names.json`.\n",
        "| name | | |",
        "|---|---|---|",
        *(f"| `{name}` | refused | {reason} |" for name, reason in table["refused"].items()),
    ]
    for name, entry in theirs.items():
        note = table["differs"].get(
            name, "" if name in same else "The signature differs." if name in ours else "It is missing."
        )
        lines.append(f"| `{signature(name, entry)}` | {kind_of(entry)} | {note} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
