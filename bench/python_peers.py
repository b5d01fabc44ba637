"""Atoll from Python beside mpi4py, multiprocessing and torch.distributed's gloo: two processes of one host.

    build/docs/environment/bin/python bench/python_peers.py [--gloo PYTHON] [--rounds N] >rows.json
    .venv/bin/python bench/tables.py add python_peers rows.json

The sides alternate for several rounds. "one way" is half of a message to the other process and back. PYTHON is a
Python with PyTorch, such as build/torch/bin/python. The row of a side has the least of its batches of all rounds, since
other programs may use the cores meanwhile.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from machine import machine

SIZES = (8, 65536, 1 << 20)
BATCHES, BATCH_S = 30, 0.01
Report = Callable[[str, int, Callable[[int], None], float], None]


def reporter(side: str, me: int, barrier: Callable[[], object]) -> Report:
    """Return a function that times `run(repeats)` on both processes and prints a row of process 0."""

    def report(op: str, size: int, run: Callable[[int], None], share: float) -> None:
        repeats = 20 if size < 1 << 20 else 4
        times = []
        for _ in range(BATCHES):
            barrier()
            start = perf_counter()
            run(repeats)
            times.append((perf_counter() - start) / repeats * share * 1e6)
        if me == 0:
            times.sort()
            row = {"side": side, "op": op, "bytes": size, "pes": 2, "unit": "us", "n": len(times)}
            print(json.dumps(row | {"min": round(times[0], 4), "median": round(times[len(times) // 2], 4)}))

    return report


def atoll_side() -> None:
    import atoll
    import numpy as np

    atoll.init()
    me = atoll.my_pe()
    report = reporter("atoll Python", me, atoll.barrier_all)
    signal, count = atoll.signal(), 0
    for size in SIZES:
        x, source, target = atoll.zeros(size, "u1"), np.zeros(size, "u1"), atoll.zeros(size // 8)

        def there_and_back(repeats: int, x: Any = x, source: Any = source) -> None:
            nonlocal count
            for _ in range(repeats):
                count += 1
                if me == 0:
                    atoll.put_signal(x, source, signal, count, "set", 1)
                atoll.signal_wait_until(signal, ">=", count)
                if me == 1:
                    atoll.put_signal(x, source, signal, count, "set", 0)

        def total(repeats: int, target: Any = target) -> None:
            for _ in range(repeats):
                atoll.sum_reduce(target, target)

        report("one way", size, there_and_back, 0.5)
        report("sum of float64", size, total, 1)
    report("barrier", 0, lambda repeats: [atoll.barrier_all() for _ in range(repeats)] and None, 1)


def mpi_side() -> None:
    import numpy as np
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    me = comm.rank
    report = reporter("mpi4py", me, comm.Barrier)
    for size in SIZES:
        here, source, target = np.zeros(size, "u1"), np.zeros(size // 8), np.zeros(size // 8)

        def there_and_back(repeats: int, here: Any = here) -> None:
            for _ in range(repeats):
                if me == 0:
                    comm.Send(here, 1)
                    comm.Recv(here, 1)
                else:
                    comm.Recv(here, 0)
                    comm.Send(here, 0)

        def total(repeats: int, source: Any = source, target: Any = target) -> None:
            for _ in range(repeats):
                comm.Allreduce(source, target)

        report("one way", size, there_and_back, 0.5)
        report("sum of float64", size, total, 1)
    report("barrier", 0, lambda repeats: [comm.Barrier() for _ in range(repeats)] and None, 1)


def gloo_side() -> None:
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    me = dist.get_rank()
    report = reporter("gloo", me, dist.barrier)
    for size in SIZES:
        here, numbers = torch.zeros(size, dtype=torch.uint8), torch.zeros(size // 8, dtype=torch.float64)

        def there_and_back(repeats: int, here: Any = here) -> None:
            for _ in range(repeats):
                if me == 0:
                    dist.send(here, 1)
                    dist.recv(here, 1)
                else:
                    dist.recv(here, 0)
                    dist.send(here, 0)

        def total(repeats: int, numbers: Any = numbers) -> None:
            for _ in range(repeats):
                dist.all_reduce(numbers)

        report("one way", size, there_and_back, 0.5)
        report("sum of float64", size, total, 1)
    report("barrier", 0, lambda repeats: [dist.barrier() for _ in range(repeats)] and None, 1)
    dist.destroy_process_group()


def multiprocessing_member(me: int, pipe: Any, barrier: Any) -> None:
    report = reporter("multiprocessing", me, barrier.wait)
    for size in SIZES:
        here = bytes(size)

        def there_and_back(repeats: int, here: bytes = here) -> None:
            for _ in range(repeats):
                if me == 0:
                    pipe.send_bytes(here)
                    pipe.recv_bytes()
                else:
                    pipe.recv_bytes()
                    pipe.send_bytes(here)

        report("one way", size, there_and_back, 0.5)
    report("barrier", 0, lambda repeats: [barrier.wait() for _ in range(repeats)] and None, 1)
    sys.stdout.flush()


def multiprocessing_side() -> None:
    spawn = multiprocessing.get_context("spawn")
    ends, barrier = spawn.Pipe(), spawn.Barrier(2)
    members = [spawn.Process(target=multiprocessing_member, args=(me, ends[me], barrier)) for me in (0, 1)]
    for member in members:
        member.start()
    for member in members:
        member.join()


def versions(gloo: str | None) -> dict[str, str]:
    """The versions of Python and of the other sides."""
    found = {"python": platform.python_version()}
    found |= {name: importlib.metadata.version(name) for name in ("mpi4py", "mpich")}
    if gloo:
        code = "import torch; print(torch.__version__)"
        done = subprocess.run([gloo, "-c", code], capture_output=True, text=True, check=True)
        found["torch"] = done.stdout.strip()
    return found


def main() -> None:
    """Run one side, or all sides alternately."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", choices=["atoll", "mpi", "gloo", "multiprocessing"])
    parser.add_argument("--gloo", help="a Python with PyTorch")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.side:
        {"atoll": atoll_side, "mpi": mpi_side, "gloo": gloo_side, "multiprocessing": multiprocessing_side}[
            options.side
        ]()
        return
    mine, bin_folder = [sys.executable, __file__], Path(sys.executable).parent
    atoll = shutil.which("atoll", path=bin_folder) or shutil.which("atoll") or "atoll"
    commands = {
        "atoll": [atoll, "run", "-n", "2", *mine, "--side", "atoll"],
        "mpi": [str(bin_folder / "mpiexec"), "-n", "2", *mine, "--side", "mpi"],
        "multiprocessing": [*mine, "--side", "multiprocessing"],
    }
    if options.gloo:
        commands["gloo"] = [atoll, "run", "-n", "2", options.gloo, __file__, "--side", "gloo"]
    best: dict[tuple[str, str, int], dict[str, Any]] = {}
    before = os.getloadavg()[0]
    for _ in range(options.rounds):
        for command in commands.values():
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for line in done.stdout.splitlines():
                if line.startswith("{"):
                    row = json.loads(line)
                    key = row["side"], row["op"], row["bytes"]
                    if key not in best or row["min"] < best[key]["min"]:
                        best[key] = row
    where = machine() | {"load_before": round(before, 1), "load_after": round(os.getloadavg()[0], 1)}
    print(
        json.dumps(
            {
                "date": datetime.date.today().isoformat(),
                "machine": where,
                "versions": versions(options.gloo),
                "rounds": options.rounds,
                "rows": list(best.values()),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
