"""Large broadcasts between two PEs beside mpi4py over MPICH: `.venv/bin/python bench/large_broadcast.py [--mib 16] [--rounds 5]`.

Both sides run this file in turn, round by round. A call is timed from the earlier PE's start to the later PE's end, after a
barrier. Four cases: the source was just written or not; the root's target is its source (as in MPI) or another array.
MPICH is expected in an environment of its own: `python3 -m venv build/peers/mpich`, then
`build/peers/mpich/bin/pip install numpy mpi4py mpich`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MPICH = ROOT / "build" / "peers" / "mpich" / "bin"
CALLS, WARM = 60, 5


def report(side: str, case: str, times: np.ndarray[Any, Any]) -> None:
    """One line of JSON; `times` has a row (starts and ends) for each PE, in nanoseconds."""
    took = (times[:, 1].max(axis=0) - times[:, 0].min(axis=0))[WARM:] / 1e6
    row = {"side": side, "case": case, "median": float(np.median(took)), "p10": float(np.quantile(took, 0.1))}
    print(json.dumps(row), flush=True)


def timed(call: Callable[[], Any], prepare: Callable[[int], Any]) -> np.ndarray[Any, Any]:
    """Starts and ends of every call on this PE."""
    times = np.zeros((2, WARM + CALLS), np.int64)
    for i in range(WARM + CALLS):
        prepare(i)
        times[0, i] = perf_counter_ns()
        call()
        times[1, i] = perf_counter_ns()
    return times


def atoll_side(elements: int) -> None:
    """The rows of Atoll."""
    import atoll

    atoll.init()
    src, dst = atoll.zeros(elements), atoll.zeros(elements)
    me = atoll.my_pe()
    for where, target in (("other", dst), ("in place", src)):
        for state in ("clean", "written"):

            def prepare(i: int, target: Any = target, state: str = state) -> None:
                if state == "written" and me == 0:
                    src[:] = i
                atoll.barrier_all()

            mine = timed(partial(atoll.broadcast, target, src, 0), prepare)
            both = atoll.zeros((2, *mine.shape), np.int64)
            atoll.fcollect(both, mine)
            if me == 0:
                report("atoll", f"{state}, {where}", np.asarray(both))
    atoll.finalize()


def mpich_side(elements: int) -> None:
    """The rows of MPICH, whose root has no second target."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    src = np.zeros(elements)
    for state in ("clean", "written"):

        def prepare(i: int, state: str = state) -> None:
            if state == "written" and world.rank == 0:
                src[:] = i
            world.Barrier()

        both = world.gather(timed(partial(world.Bcast, src, 0), prepare))
        if both is not None:
            report("mpich", state, np.stack(both))


def run(command: list[str], side: str, elements: int) -> list[dict[str, Any]]:
    """The rows that one side reports."""
    program = [__file__, "--side", side, "--elements", str(elements)]
    done = subprocess.run([*command, *program], check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def compare(options: argparse.Namespace) -> None:
    """Both sides in turn, and a table of their medians with the ratio to MPICH's of the same kind of source."""
    elements = options.mib * 2**20 // 8
    launcher = str(options.build / "bin" / "atoll")
    commands = {
        "atoll": [launcher, "run", "-n", "2", "--bind", options.bind, sys.executable],
        "mpich": [str(MPICH / "mpiexec"), "-bind-to", options.bind, "-n", "2", str(MPICH / "python")],
    }
    rows = [
        row
        for _ in range(options.rounds)
        for side, command in commands.items()
        for row in run(command, side, elements)
    ]

    def best(case: str, statistic: str) -> list[float]:
        return sorted(row[statistic] for row in rows if row["case"] == case)

    print(f"{options.mib} MiB, load {os.getloadavg()[0]:.1f}")
    for case in dict.fromkeys(row["case"] for row in rows):
        peer = case.split(",")[0]
        text = f"{case:18}"
        for statistic in ("median", "p10"):
            values = best(case, statistic)
            ratio = statistics.median(values) / statistics.median(best(peer, statistic))
            text += f"  {statistic} {statistics.median(values):.3f} ms ({values[0]:.3f} … {values[-1]:.3f}), {ratio:.2f} × MPICH"
        print(text)


def main() -> None:
    """Compare, or be one side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bind", choices=("core", "none"), default="core")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--side", choices=("atoll", "mpich"), help=argparse.SUPPRESS)
    parser.add_argument("--elements", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        (atoll_side if options.side == "atoll" else mpich_side)(options.elements)
    else:
        compare(options)


if __name__ == "__main__":
    main()
