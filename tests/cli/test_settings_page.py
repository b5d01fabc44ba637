"""docs/settings.md has the table of variables that `atoll info` shows."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/settings.md"


def cell(text: str) -> str:
    return text.replace("|", "\\|") or " "


def test_the_page_has_the_variables_of_the_code(atoll) -> None:
    clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LD_LIBRARY_PATH")}
    shown = subprocess.run([atoll.path, "info", "--json"], env=clean, capture_output=True, check=True)
    rows = json.loads(shown.stdout)["settings"]
    lines = ["| variable | type | default | unit | meaning |", "|---|---|---|---|---|"]
    for row in rows:
        cells = [f"`{row['name']}`", *(cell(row[key]) for key in ("type", "value", "unit", "meaning"))]
        lines.append("| " + " | ".join(cells) + " |")
    table = "\n".join(line for line in PAGE.read_text().splitlines() if line.startswith("|"))
    assert table == "\n".join(lines), "the table must be\n" + "\n".join(lines)
