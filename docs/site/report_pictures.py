"""Draw the pictures of slow.md and hangs.md from the programs on these pages.

Usage, after `make`:

    .venv/bin/python docs/site/report_pictures.py [FOLDER]

It writes SVG files to the folder, docs/images by default. Their times are those of this run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Page, program, PEs, and options of the run. A program that hangs ends by its time-out.
PICTURES = [
    ("slow", "stencil", 4, []),
    ("slow", "hot", 4, []),
    ("hangs", "locks", 2, ["--timeout", "3"]),
    ("hangs", "mismatch", 4, []),
]


def program(page: str, name: str) -> str:
    """Return the program that begins with its name, as the page prints it."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    found = re.search(rf"^```python\n(# {name}\.py\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"docs/{page}.md has no program {name}.py")
    return found[1]


def draw(page: str, name: str, pes: int, options: list[str], folder: Path) -> None:
    """Run a program with a trace, and draw its report."""
    launcher = str(Path(sys.executable).with_name("atoll"))
    with tempfile.TemporaryDirectory() as place:
        path, trace = Path(place) / f"{name}.py", Path(place) / f"{name}.pftrace"
        path.write_text(program(page, name), encoding="utf-8")
        run = [launcher, "run", "-n", str(pes), *options, "--trace", str(trace), sys.executable, str(path)]
        # Those that show an error end with a status other than 0.
        subprocess.run(run, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        picture = str(folder / f"report-{name}.svg")
        subprocess.run([launcher, "report", str(trace), "--picture", picture], check=True)


def main() -> None:
    """Draw all of them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images"
    for page, name, pes, options in PICTURES:
        draw(page, name, pes, options, folder)


if __name__ == "__main__":
    main()
