"""Generates the table of docs/settings.md from the rows of src/common/settings/settings.cpp.

`atoll info --json` has these rows. The text above the table is written by hand.

Usage:

    python3 api/settings.py [ATOLL]          writes it
    python3 api/settings.py --check [ATOLL]  fails if it is not up to date

ATOLL is the launcher, by default that of build/release.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/settings.md"
COLUMNS = {"variable": "name", "type": "type", "default": "value", "unit": "unit", "meaning": "meaning"}


def table(atoll: str) -> str:
    """Return the table, with the values of an environment without settings."""
    clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LD_LIBRARY_PATH")}
    shown = subprocess.run([atoll, "info", "--json"], env=clean, capture_output=True, check=True)
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in json.loads(shown.stdout)["settings"]:
        cells = [row[key].replace("|", "\\|") or " " for key in COLUMNS.values()]
        lines.append("| " + " | ".join([f"`{cells[0]}`", *cells[1:]]) + " |")
    return "\n".join(lines)


def page(text: str, atoll: str) -> str:
    """Return the page's text with the table of this launcher in the place of its own."""
    lines = text.splitlines()
    rows = [k for k, line in enumerate(lines) if line.startswith("|")]
    if not rows or rows[-1] - rows[0] + 1 != len(rows):
        raise ValueError(f"{PAGE.relative_to(ROOT)} must have one table; it has {len(rows)} rows")
    return "\n".join([*lines[: rows[0]], table(atoll), *lines[rows[-1] + 1 :]]) + "\n"


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--check"]
    text = PAGE.read_text(encoding="utf-8")
    made = page(text, words[0] if words else str(ROOT / "build/release/bin/atoll"))
    if "--check" in sys.argv:
        sys.exit(0 if made == text else "docs/settings.md is out of step: python3 api/settings.py")
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
