"""The tables of docs/kernels.md from a file of bench/gpu/kernels.py: each language's time, and its ratio to
C++'s.

python bench/gpu/kernel_table.py RESULTS.json [--write]       --write puts them into the page
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/kernels.md"
BEGIN, END = "<!-- speed: bench/gpu/kernel_table.py -->", "<!-- end of speed -->"
NAMES = {"cpp": "CUDA C++", "cupy": "CuPy", "numba": "Numba", "triton": "Triton", "cute": "CuTe DSL"}
AIM = 1.05


def size(n: int) -> str:
    return f" {n} B" if 0 < n < 1024 else f" {n // 1024} KiB" if n else ""


def spread(row: dict[str, Any]) -> float:
    """Return half of the interquartile range, relative to the median."""
    low, high = row["quartiles_us"]
    return float((high - low) / 2 / row["median_us"])


def ratio(row: dict[str, Any], cpp: dict[str, Any]) -> float:
    """Return the median ratio over the repeats, in each of which both took their turn."""
    ratios = sorted(a / b for a, b in zip(row["repeats_us"], cpp["repeats_us"], strict=True))
    return float(ratios[len(ratios) // 2])


def is_within(row: dict[str, Any], cpp: dict[str, Any]) -> bool:
    return ratio(row, cpp) <= max(AIM, 1 + spread(row) + spread(cpp))


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the lines of the table, and the rows that miss the aim."""
    cells = {(row["op"], row["bytes"], row["side"]): row for row in rows}
    found = dict.fromkeys(row["side"] for row in rows)
    sides = [side for side in NAMES if side in found] + [side for side in found if side not in NAMES]
    others = [side for side in sides if side != "cpp"]
    lines = ["| |" + "".join(f" {NAMES.get(side, side)} |" for side in sides), "|---|" + "---|" * len(sides)]
    missed = []
    for op, nbytes in dict.fromkeys((row["op"], row["bytes"]) for row in rows):
        cpp = cells.get((op, nbytes, "cpp"))
        texts = [f"{cpp['median_us']:.2f} ± {100 * spread(cpp):.0f} %" if cpp else "–"]
        for side in others:
            row = cells.get((op, nbytes, side))
            if row is None or cpp is None:
                texts.append("–")
                continue
            texts.append(f"{row['median_us']:.2f}; {ratio(row, cpp):.2f}")
            if not is_within(row, cpp):
                missed.append(f"{NAMES.get(side, side)}'s {op}{size(nbytes)} ({ratio(row, cpp):.2f})")
        lines.append(f"| {op}{size(nbytes)} | " + " | ".join(texts) + " |")
    return lines, missed


def main() -> None:
    results = Path(sys.argv[1])
    found = json.loads(results.read_text())
    lines, missed = table(found["rows"])
    listed = ["", *(f"- {row}" for row in missed)] if missed else ["No row."]
    text = "\n".join(
        [*lines, "", f"Above the aim of {AIM}, and of the repeats' spread where that is larger:", *listed]
    )
    print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text()
        new = re.sub(
            f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n\n{text}\n\n{END}", page, flags=re.S
        )
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
