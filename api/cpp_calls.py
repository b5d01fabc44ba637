"""Generates the tables of docs/cpp-calls.md from the public headers. The text between them is written by hand.

Usage:

    python3 api/cpp_calls.py          writes them
    python3 api/cpp_calls.py --check  fails if they are not up to date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/cpp-calls.md"
HEADERS = ROOT / "include/atoll"
TABLE = re.compile(r"(<!-- calls: (\w+) -->\n)\n*(?:\|[^\n]*\n)*\n*")
# The headers of the members that ops.hpp calls, by table.
SOURCES = {
    "puts": ["rma.hpp", "waits.hpp"],
    "atomics": ["atomics.hpp"],
    "waits": ["waits.hpp"],
    "pointers": ["context.hpp"],
    "collectives": ["detail/team_operations.hpp"],
}
GROUPS = dict(
    zip(
        ["// Members of Context from rma.hpp", "// atomics.hpp:", "// waits.hpp:", "// context.hpp:", "// Members of Team,"],
        SOURCES,
        strict=True,
    )
)  # fmt: skip
FORWARDED = re.compile(r'ATOLL_(?:CONTEXT|TEAM)_FUNCTION\((\w+), "([^"]+)"\)')
STATIC = re.compile(r"^    static ((?:const )?[\w:<>]+ ?[&*]?) ?(\w+\([^)]*\))", re.MULTILINE)
MEMBER = re.compile(r"^    ([\w:<>, ]+?[ &*])((?:split|translate_pe|world_pe|my_pe|n_pes|sync|barrier|destroy|create_context)\w*\([^)]*\)) ?(?:const|;)", re.MULTILINE)  # fmt: skip


def returned(name: str, headers: list[str]) -> str:
    """Return the type that the first declaration of a member returns."""
    declaration = re.compile(rf"^ *(?:template <.*> )?([\w:]+(?:<\w+>)?\*?) \*?{name}\(", re.MULTILINE)
    for header in headers:
        if found := declaration.search((HEADERS / header).read_text(encoding="utf-8")):
            return found[1]
    raise ValueError(f"{name} is declared in none of {headers}")


def rows(table: str) -> list[tuple[str, str]]:
    """Return the calls of a table and what they return."""
    text = (HEADERS / "ops.hpp").read_text(encoding="utf-8")
    if table == "job":
        return [(call, kind) for kind, call in STATIC.findall(text)]
    if table == "team":
        members = (HEADERS / "team.hpp").read_text(encoding="utf-8")
        return [(call, kind) for kind, call in MEMBER.findall(members)]
    found, group = [], ""
    for line in text.splitlines():
        group = next((name for start, name in GROUPS.items() if line.strip().startswith(start)), group)
        if group == table and (call := FORWARDED.search(line)):
            found.append((call[2], returned(call[1], SOURCES[table])))
    return found


def cells(call: str, kind: str) -> str:
    """Return one row: the call, what its types are, what it returns."""
    split = re.match(r"(\w+\(.*?\))(?:[,:]? (.*))?$", call)
    if split is None:
        raise ValueError(call)
    returns = {"void": "", "auto": "std::size_t"}.get(kind.strip(), kind.strip())  # auto: collect of Team
    types = re.sub(r"(\w+\([^)]*\))", r"`\1`", split[2] or "")
    return f"| `{split[1]}` | {types or ' '} | {f'`{returns}`' if returns else ' '} |"


def page(text: str) -> str:
    """Return the page's text with tables of these headers in the place of its own."""

    def made(match: re.Match[str]) -> str:
        lines = [cells(*row) for row in rows(match[2])]
        if not lines:
            raise ValueError(f"no calls for the table {match[2]}")
        return match[1] + "\n".join(["", "| call | types | returns |", "|---|---|---|", *lines, "", ""])

    return TABLE.sub(made, text).rstrip("\n") + "\n"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    new = page(text)
    if "--check" in sys.argv:
        sys.exit(0 if new == text else "docs/cpp-calls.md is out of step: python3 api/cpp_calls.py")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
