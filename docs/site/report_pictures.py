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
# Page, program, PEs, options of the run, and its status. A program that hangs ends by its time-out.
PICTURES = [
    ("slow", "stencil", 4, [], 0),
    ("slow", "hot", 4, [], 0),
    ("hangs", "locks", 2, ["--timeout", "3"], 124),
    ("hangs", "mismatch", 4, [], 1),
]


def program(page: str, name: str) -> str:
    """Return the program that begins with its name, as the page prints it."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    found = re.search(rf"^```python\n(# {name}\.py\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"docs/{page}.md has no program {name}.py")
    return found[1]


def draw(page: str, name: str, pes: int, options: list[str], status: int, folder: Path) -> None:
    """Run a program with a trace, and draw its report."""
    launcher = str(Path(sys.executable).with_name("atoll"))
    with tempfile.TemporaryDirectory() as place:
        path, trace = Path(place) / f"{name}.py", Path(place) / f"{name}.pftrace"
        path.write_text(program(page, name), encoding="utf-8")
        run = [launcher, "run", "-n", str(pes), *options, "--trace", str(trace), sys.executable, str(path)]
        done = subprocess.run(run, check=False, capture_output=True, text=True, timeout=120)
        if done.returncode != status:
            raise SystemExit(
                f"{name}.py ended with status {done.returncode} in place of {status}, so no picture was drawn:\n{done.stderr}"
            )
        picture = str(folder / f"report-{name}.svg")
        subprocess.run([launcher, "report", str(trace), "--picture", picture], check=True)


def main() -> None:
    """Draw all of them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images"
    for page, name, pes, options, status in PICTURES:
        draw(page, name, pes, options, status, folder)


if __name__ == "__main__":
    main()
