"""Generates what is made of the table of the flight recorder's events, api/events.toml.

Usage:

    python3 api/events.py          writes it
    python3 api/events.py --check  fails if it is not up to date
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import kernels
import tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MOST_WORDS = 4


def table() -> dict[str, Any]:
    """Read the table."""
    read = tomllib.loads((HERE / "events.toml").read_text())
    for name, event in read["events"].items():
        if len(event["words"]) > MOST_WORDS:
            raise ValueError(f"{name} has {len(event['words'])} words, at most {MOST_WORDS} have room")
    operations = read["operations"]
    # Statistics look names up in order, and most calls are those of this table.
    operations["names"] = ["other", *in_kernels(), *operations["names"]]
    for group, names in operations.items():
        if unknown := set(names) - set(operations["names"]):
            raise ValueError(
                f"`{group}` of [operations] lists names that are not in `names`: {sorted(unknown)}"
            )
    return read


def in_kernels() -> list[str]:
    """Return the names of the operations of kernels and streams, as reports have them."""
    return [text for name, text in kernels.reports(kernels.table()) if name != "none"]


def listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def membership(function: str, about: str, names: list[str]) -> list[str]:
    """Return a C++ function that finds an operation in a list."""
    return [
        f"/// {about}",
        f"constexpr bool {function}(std::uint16_t number) {{",
        f"    constexpr std::string_view names[] = {{{listed(names)}}};",
        "    for (const std::string_view name : names)",
        "        if (name == operation_name(number)) return true;",
        "    return false;",
        "}",
    ]


def header(of: dict[str, Any]) -> str:
    """Return the C++ types."""
    events, operations = of["events"], of["operations"]["names"]
    # `free` is a name of C's library.
    kinds = ["none", *(f"{name}_" if name == "free" else name for name in events)]
    words = [
        "    {" + listed(event["words"] + [""] * (MOST_WORDS - len(event["words"]))) + "},"
        for event in events.values()
    ]
    waits = ", ".join(str(event.get("waits", False)).lower() for event in events.values())
    lines = [
        "// Written by api/events.py from api/events.toml.",
        "#pragma once",
        "",
        "// clang-format off",
        "#include <cstdint>",
        "#include <iterator>",
        "#include <string_view>",
        "",
        "namespace atl::common {",
        "",
        f"inline constexpr int event_words = {MOST_WORDS};",
        "",
        "enum class EventKind : std::uint8_t { " + ", ".join(kinds) + " };",
        f'inline constexpr std::string_view event_names[] = {{"", {listed(list(events))}}};',
        "/// Names of an event's words; empty for unused ones.",
        "inline constexpr std::string_view event_word_names[][event_words] = {",
        "    {" + listed([""] * MOST_WORDS) + "},",
        *words,
        "};",
        f"inline constexpr bool event_waits[] = {{false, {waits}}};",
        "",
        "enum class EventState : std::uint8_t { " + ", ".join(of["states"]["names"]) + " };",
        "inline constexpr std::string_view event_state_names[] = {" + listed(of["states"]["names"]) + "};",
        "",
        "inline constexpr std::string_view operation_names[] = {",
        *(f'    "{name}",' for name in operations),
        "};",
        "",
        "/// Number of an operation in `operation_names`; 0 for an unlisted one.",
        "constexpr std::uint16_t operation_number(std::string_view name) {",
        "    for (std::size_t i = 1; i < std::size(operation_names); ++i)",
        "        if (operation_names[i] == name) return static_cast<std::uint16_t>(i);",
        "    return 0;",
        "}",
        "constexpr std::string_view operation_name(std::uint16_t number) {",
        "    return operation_names[number < std::size(operation_names) ? number : 0];",
        "}",
        "inline constexpr std::size_t operation_count = std::size(operation_names);",
        "",
        *membership(
            "is_sized", "Collectives whose first argument is a number of bytes.", of["operations"]["sized"]
        ),
        *membership(
            "is_unfinished",
            "Calls whose bytes are in flight until their context is quiet.",
            of["operations"]["unfinished"],
        ),
        *membership(
            "completes_context",
            "Collectives that complete the default context of their team.",
            of["operations"]["completing"],
        ),
        "",
        "}  // namespace atl::common",
        "// clang-format on",
    ]
    return "\n".join(lines) + "\n"


def page(of: dict[str, Any]) -> str:
    """Return the reference."""
    lines = [
        "# Events of the flight recorder",
        "",
        "Every PE keeps its last events in shared memory, which the launcher reads even after a PE was killed.",
        "`atoll record JOB` writes those of a running job: one JSON object a line. This page",
        "is written by `api/events.py` from `api/events.toml`.",
        "",
        "Every event has these keys:",
        "",
        "| key | meaning |",
        "|---|---|",
        *(f"| `{key}` | {meaning} |" for key, meaning in of["common"].items()),
        "",
        "Waits also have these:",
        "",
        "| key | meaning |",
        "|---|---|",
        *(f"| `{key}` | {meaning} |" for key, meaning in of["wait"].items()),
        "",
        "| event | meaning | keys of its own |",
        "|---|---|---|",
    ]
    for name, event in of["events"].items():
        keys = ", ".join(f"`{word}`" for word in event["words"])
        does = event["does"] + (" " + event["explains"] if "explains" in event else "")
        lines.append(f"| `{name}` | {does} | {keys} |")
    lines += [
        "",
        "One-sided operations (`put`, `get`, `p`, `g`, atomics, signals) are not recorded. A wait that ends while",
        "it polls is not recorded either, only the collective call around it.",
        "",
        "## Files",
        "",
        "`atoll run --record FILE` keeps all events of all PEs and ranges of the program, `atoll run --trace FILE` also",
        "one-sided operations ([slow.md](slow.md#a-trace)). `atoll record FILE` prints either. Its lines have the keys `pe`",
        "to `peer` above and, for every event:",
        "",
        "| key | meaning |",
        "|---|---|",
        "| `bytes` | bytes of this PE's argument; 0 where none move |",
        "| `place` | offset in the heap: of the target, the awaited word or the block. Bit 61 is set for the heap of a GPU |",
        "| `value` | value stored or awaited |",
        "| `began_ns`, `ended_ns` | ns: CLOCK_MONOTONIC of the host; `ended_ns` is 0 for a wait in which the PE died |",
        "| `waiting_ns` | ns of that time in waits for other PEs |",
        "| `site` | place of the call in the program (of a `request`, where it started); empty for calls of less than about 5 us |",
        "| `name` | name of a range |",
        "| `gpu`, `block` | only of events inside kernels: the GPU as the PE's process counts, -1 on a CPU, and the block |",
    ]
    return "\n".join(lines) + "\n"


def generated(of: dict[str, Any]) -> dict[Path, str]:
    """Return the generated files, with their contents."""
    return {
        ROOT / "src/common/recorder/event_types.hpp": header(of),
        ROOT / "docs/events.md": page(of),
    }


def main() -> None:
    made = generated(table())
    if "--check" in sys.argv:
        stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
        sys.exit(
            "\n".join(f"{path.relative_to(ROOT)} is out of step: python api/events.py" for path in stale) or 0
        )
    for path, text in made.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
