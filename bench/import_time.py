"""The cost of `import atoll` in a program that has NumPy: `.venv/bin/python bench/import_time.py [--processes
101] [--output FILE]`.

Processes of two kinds take turns, so that other load on the machine affects both. One kind imports NumPy
alone, the other NumPy and then Atoll. Two clocks run around the last import: time.perf_counter, and
time.process_time, which does not count other processes' time. A busy machine shows in the difference, and in
NumPy's rows.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from machine import first_line, machine, output

IMPORTS = {"numpy": ("", "numpy"), "atoll after numpy": ("import numpy; ", "atoll")}
CLOCKS = ("perf_counter", "process_time")
PROGRAM = (
    "import time; {before}clocks = [getattr(time, name) for name in {clocks}]; start = [clock() for clock in clocks]; "
    "import {module}; print(*(clock() - begun for clock, begun in zip(clocks, start)))"
)


def milliseconds(of: str) -> list[float]:
    """Return an import's time by each clock."""
    before, module = IMPORTS[of]
    program = PROGRAM.format(before=before, module=module, clocks=CLOCKS)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [float(seconds) * 1e3 for seconds in done.stdout.split()]


def row(of: str, clock: str, times: list[float]) -> dict[str, object]:
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    figures = {
        "median": median,
        "quartile_1": low,
        "quartile_3": high,
        "least": min(times),
        "most": max(times),
    }
    return {
        "import": of,
        "clock": clock,
        "unit": "ms",
        **{name: round(value, 2) for name, value in figures.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=101, help="of each kind")
    parser.add_argument("--output", type=Path, help="a file for the JSON, which is printed anyway")
    options = parser.parse_args()

    here = machine()
    times: dict[str, list[list[float]]] = {of: [] for of in IMPORTS}
    for of in IMPORTS:
        milliseconds(of)  # bytecode is written and files are read once
    for _ in range(options.processes):
        for of, found in times.items():
            found.append(milliseconds(of))
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "what": "ms around an import, in processes of their own, the two kinds in turns; Atoll is installed editable",
        "machine": {**here, "load_after": os.getloadavg()[0]},
        "versions": {
            "atoll": version("atoll"),
            "commit": first_line(output("git", "describe", "--always", "--dirty")),
            "python": platform.python_version(),
            "numpy": version("numpy"),
        },
        "processes": options.processes,
        "rows": [
            row(of, clock, [by_clock[i] for by_clock in found])
            for of, found in times.items()
            for i, clock in enumerate(CLOCKS)
        ],
    }
    text = json.dumps(result, indent=1) + "\n"
    if options.output:
        options.output.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
