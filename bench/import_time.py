"""The cost of `import atoll` in a program that has NumPy: `.venv/bin/python bench/import_time.py [--processes
101] [--output FILE]`.

Processes of two kinds alternate, so that other load on the machine affects both. One kind imports NumPy
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

import schema
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
    figures = {"median": median, "p25": low, "p75": high, "min": min(times), "max": max(times)}
    return {
        "op": f"import {of}",
        "side": "numpy" if of == "numpy" else "atoll Python",
        "pes": 1,
        "clock": clock,
        "unit": "ms",
        **{name: round(value, 2) for name, value in figures.items()},
        "n": len(times),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=101, help="of each kind")
    parser.add_argument(
        "--output", type=Path, help="a file of results for the rows, which are printed anyway"
    )
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
        "rows": [
            row(of, clock, [by_clock[i] for by_clock in found])
            for of, found in times.items()
            for i, clock in enumerate(CLOCKS)
        ],
    }
    run = schema.convert("import_time", result)
    if options.output:
        schema.add("import_time", run, options.output)
    print(*(json.dumps(one) for one in run["rows"]), sep="\n")


if __name__ == "__main__":
    main()
