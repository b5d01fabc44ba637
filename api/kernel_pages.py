"""The pages of the documentation that are made of the table of kernel operations: a table of docs/kernels.md, and the
reference of all languages, docs/kernel-operations.md."""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEADERS, SHARED = ROOT / "include/atoll/device", ROOT / "python/atoll/_kernels"
sys.path.insert(0, str(SHARED.parent))  # so that it needs no atoll, which needs the compiled library
documentation: Any = importlib.import_module("_kernels.documentation")
del sys.path[0]  # its logging.py would hide the standard library's
Language, paragraph = documentation.Language, documentation.paragraph
BEGIN, END = "<!-- coverage: api/kernels.py -->", "<!-- end of coverage -->"
ORDER_OF_TITLES = ("cpp", "numba", "triton", "cute")
CALLERS = {"any": "any thread", "thread": "one thread", "scope": "all threads of the scope"}


def groups(of: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for operation in of["operations"].values():
        found.setdefault(operation["group"], []).append(operation)
    return found


def coverage(of: dict[str, Any]) -> str:
    """Return the table that tells which language has which operations, and why one lacks some."""
    titles = [of["languages"][language]["title"] for language in ORDER_OF_TITLES]
    lines = [f"| operation | {' | '.join(titles)} |", "|---|" + "---|" * len(titles)]
    notes: dict[str, list[str]] = {}
    for group, operations in groups(of).items():
        cells = []
        for language, title in zip(ORDER_OF_TITLES, titles, strict=True):
            present = [one["name"] for one in operations if language not in one.get("absent", {})]
            some = ", ".join(f"`{name}`" for name in present) or "none"
            cells.append("all" if len(present) == len(operations) else some)
            for one in operations:
                if language in one.get("absent", {}):
                    notes.setdefault(f"{title}: {one['absent'][language]}.", []).append(f"`{one['name']}`")
        listed = ", ".join(f"`{one['name']}`" for one in operations)
        lines.append(f"| {group}: {listed} | {' | '.join(cells)} |")
    return "\n".join(
        [*lines, "", *(f"- {why} It has no {', '.join(missing)}." for why, missing in notes.items())]
    )


def with_coverage(of: dict[str, Any], page: str) -> str:
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{coverage(of)}\n\n{END}{after}"


# ---- the reference

INTRODUCTION = """# Operations of kernels

This page lists every operation of kernels in Numba, Triton, CuTe DSL and CUDA C++: its arguments, its memory order and
its callers. [Kernels in Python](kernels.md) is the guide. `help(atoll.numba.put)` and similar functions show the same for one
language, with the types of the arguments. `api/kernels.py` generates this page from `api/kernels.toml`.

All languages have the same order of arguments: `team`, `dst`, `src`, counts, the operation's own arguments, `pe`. By
name follow `scope=dev.THREAD`, `tag=0` and `bound_ns` (of [each wait](kernels.md#when-a-wait-does-not-end)). An
argument that is not called symmetric is any of this PE's memory.

- Numba and CuTe take sizes from the arrays. Triton takes an `n` and no scope, since a program calls as one. C++ takes a
  `count`, objects as scopes (`Block()`), and for tiles `make_tile(data, rows, cols, pitch)`. A count is in elements: of
  src, in `alltoall` and `reduce_scatter` of a block.
- `op` of reductions: SUM PROD MIN MAX AND OR XOR (C++: `Sum()` …); `cmp`: EQ NE GT GE LT LE. Elements of reductions are
  integers of 1 to 8 bytes (CuTe: 4 and 8), and for SUM PROD MIN MAX float32 and float64. Triton and C++ also take float16
  and bfloat16, folded in float32.
- Words of signals and waits are integers of 4 or 8 bytes; those of atomics float32 and float64, too, but for `inc`,
  `and`, `or`, `xor`.
"""


def small() -> str:
    """Return the size of messages through the team's own slots, from the constant of the headers."""
    found = re.search(r"slot_area_pairs = (\d+);", (HEADERS / "control.hpp").read_text())
    assert found is not None
    pairs = int(found[1])
    sizes = ", ".join(f"{8 * (pairs // n)} with {n} PEs" for n in (2, 4, 8))
    return (
        f"A collective is small if one member sends another at most `8 * max({pairs} // n_pes, 8)` bytes ({sizes}). It takes any "
        "arrays. Larger ones need the symmetric arrays that are named; `collect` and the tiles' always do."
    )


def signatures(of: dict[str, Any], operation: dict[str, Any]) -> str:
    """Return the call in each language; languages with the same arguments are listed together."""
    calls: dict[str, list[str]] = {}
    for language, words in of["languages"].items():
        if language in operation.get("absent", {}):
            continue
        listed = Language(language, of).arguments(operation)
        title = "C++" if language == "cpp" else words["title"].split(" ")[0]
        calls.setdefault(f"`{operation['name']}({', '.join(listed)})`", []).append(title)
    return "; ".join(f"{', '.join(languages)} {call}" for call, languages in calls.items())


def facts(operation: dict[str, Any]) -> str:
    """Return the facts about a call that hold in every language."""
    symmetric = [
        name for name in operation.get("symmetric", ()) if name in operation["arguments"].split(", ")
    ]
    said = [f"Symmetric: `{'`, `'.join(symmetric)}`."] if symmetric else []
    if "returns" in operation:
        said.append(f"Result: {operation['returns']}.")
    if operation.get("collective"):
        said.append("Collective: one scope (Triton: program) of each member calls it.")
    else:
        said.append(f"Local, called by {CALLERS[operation['caller']]}.")
    if "order" in operation:
        order = (
            operation["order"]
            .replace("{scope}", "the scope")
            .replace("{meet}", "`meet` (C++: `Scope::sync`)")
        )
        said.append(f"Memory order: {order[0].lower()}{order[1:]}")
    said.append(f"OpenSHMEM: `{operation['shmem']}`." if "shmem" in operation else "Atoll's own.")
    return " ".join(said)


def item(text: str) -> str:
    return textwrap.fill(
        text, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def reference(of: dict[str, Any]) -> str:
    lines = [INTRODUCTION, textwrap.fill(small(), 120)]
    for group, operations in groups(of).items():
        lines += ["", f"## {group[0].upper()}{group[1:]}"]
        for operation in operations:
            text = " ".join(filter(None, (operation["does"], operation.get("more", ""))))
            text = text.replace("{scope}", "the scope").replace("{no_index}", "-1 (C++: no_index)")
            lines += ["", f"### {operation['name']}", ""]
            lines += [textwrap.fill(text, 120, break_on_hyphens=False), ""]
            lines += [
                item(signatures(of, operation)),
                item(facts(operation)),
                f"- Header: `atoll/device/{operation['header']}`.",
            ]
    return "\n".join(lines) + "\n"
