"""Operations inside kernels of two PEs, by the same kernels in each language.

The operations are flags, put_signal and messages one way, sync, barrier and reduce. The languages are CUDA
C++ (nvcc), CuPy (CUDA C++ by NVRTC), Numba, Triton and CuTe DSL. All alternate batch by batch in one process
for each PE, so that only their code differs. bench/tables.py makes the table.

    atoll run -n 2 python bench/gpu/kernels.py OUT.json SIDE...

SIDE: cpp=CUBIN, cute=FOLDER (made by forms/in_cute.py), cupy, numba, triton. Other names of the first two,
such as cpp-before=OTHER, add further sides. `--compile` starts every kernel once and measures nothing: the next
run then finds compiled kernels on disk.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atoll
import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent / "forms"))
import rows

# Numbers of rounds are multiples of 16: Triton compiles one kernel for such integers and another for the
# rest.
ROUNDS, FEW = 4000, 16
# In clocks, about 1 ms: keeps the GPU busy until the kernel is enqueued, so that only the kernel is timed.
AHEAD = 2_000_000
Launch = Callable[[int, int], None]


class Arrays:
    """The symmetric arrays that the kernels move, the same for all languages."""

    room = rows.ROOM

    def __init__(self) -> None:
        self.block = atoll.zeros((2, rows.ROOM // 4), np.int32, device="cuda")
        self.floats = atoll.zeros((2, rows.ROOM // 4), np.float32, device="cuda")
        self.matrix = atoll.zeros((2, 64, 256), np.float32, device="cuda")
        self.flag = atoll.zeros(1, np.int64, device="cuda")
        self.gpu = self.flag.device
        torch.cuda.set_device(self.gpu)
        self.queue = torch.cuda.Stream(self.gpu)
        self.stream = self.queue.cuda_stream

    def of(self, row: rows.Row) -> tuple[Any, ...]:
        """Return target and source of a row that has them."""
        if not row.moves:
            return ()
        if row.is_tiled:
            return self.matrix[0, : row.rows, :64], self.matrix[1, : row.rows, :64]
        both = self.floats if row.kernel == "reduces" else self.block
        return both[0, : row.nbytes // 4], both[1, : row.nbytes // 4]


def launches(arrays: Arrays, side: str) -> Callable[[rows.Row], Launch | None]:
    """Return the function that prepares a row's launch in one language."""
    name, _, path = side.partition("=")
    kind = name.split("-")[0]
    module = importlib.import_module(f"in_{ {'cupy': 'cpp', 'cute': 'cubins'}.get(kind, kind) }")
    return module.launches(arrays, *([path] if path else []))  # type: ignore[no-any-return]


class Run:
    """The cells, each a side's kernel of a row, and the times of their batches."""

    def __init__(self) -> None:
        self.arrays = Arrays()
        self.me = atoll.my_pe()
        self.first = FEW  # the first round of a launch
        self.cells: dict[tuple[rows.Row, str], Launch] = {}
        self.us: dict[tuple[rows.Row, str], list[float]] = {}
        self.missing: dict[str, str] = {}
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def say(self, text: str) -> None:
        if self.me == 0:
            print(text, file=sys.stderr, flush=True)

    def add(self, side: str) -> None:
        """Compile a side's kernels, and start each once. A failure occurs on all PEs, before the start."""
        name, since = side.partition("=")[0], time.monotonic()
        wanted = [*rows.ROWS, rows.BARE] if name == "cpp" else rows.ROWS
        try:
            launch_of = launches(self.arrays, side)
        except Exception:
            self.missing[name] = traceback.format_exc()
            return self.say(f"{name} is left out: {self.missing[name]}")
        for row in wanted:
            try:
                launch = launch_of(row)
                if launch is None:
                    continue
                self.try_out(row, name, launch)
            except Exception:
                self.missing[f"{name}: {row.key}"] = traceback.format_exc()
                self.say(f"{name}, {row.key} is left out: {traceback.format_exc(limit=-3)}")
                continue
            self.cells[row, name] = launch
        return self.say(f"{name}: compiled in {time.monotonic() - since:.1f} s")

    def try_out(self, row: rows.Row, name: str, launch: Launch) -> None:
        """Start a kernel, and check what it moved: a kernel that moves less than it should is not worth
        measuring.
        """
        moved = [x.torch() for x in self.arrays.of(row)]
        if moved:
            to, source = moved
            to.zero_()
            source.copy_(self.pattern(source, self.me))
        torch.cuda.synchronize()
        atoll.barrier_all()
        self.start(launch, FEW)
        torch.cuda.synchronize()
        atoll.barrier_all()
        if moved:
            theirs = self.pattern(source, 1 - self.me)
            if not torch.equal(to, source + theirs if row.kernel.endswith("reduces") else theirs):
                self.missing[f"{name}: {row.key}"] = "wrong data"
                print(f"PE {self.me}: {name}, {row.key}: wrong data", file=sys.stderr, flush=True)

    @staticmethod
    def pattern(like: Any, pe: int) -> Any:
        """Return a PE's source."""
        numbers = torch.arange(like.numel(), device=like.device) + 17 * pe
        return (numbers % 251).to(like.dtype).reshape(like.shape)

    def start(self, launch: Launch, rounds: int) -> None:
        with torch.cuda.stream(self.arrays.queue):
            launch(self.first, rounds)
        self.first += rounds

    def batch(self, row: rows.Row, launch: Launch) -> float:
        """Return the microseconds of an operation."""
        stream = self.arrays.queue
        atoll.barrier_all()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(AHEAD)
        self.begin.record(stream)
        self.start(launch, ROUNDS)
        self.end.record(stream)
        self.end.synchronize()
        return float(self.begin.elapsed_time(self.end)) * 1e3 / ROUNDS / row.calls

    def repeat(self, number: int) -> None:
        """Run a batch of each cell, row by row; the sides begin with another one each time."""
        for row in [rows.BARE, *rows.ROWS]:
            sides = [name for at, name in self.cells if at == row]
            for k in range(len(sides)):
                cell = row, sides[(k + number) % len(sides)]
                us = self.batch(row, self.cells[cell])
                if number >= 0:
                    self.us.setdefault(cell, []).append(us)

    def results(self) -> list[dict[str, Any]]:
        found = []
        for (row, side), us in self.us.items():
            quarter, _, three = statistics.quantiles(us, n=4)
            found.append({
                "side": side, "op": row.op, "bytes": row.nbytes, "threads": row.threads, "pes": atoll.n_pes(),
                "median_us": round(statistics.median(us), 4), "quartiles_us": [round(quarter, 4), round(three, 4)],
                "repeats_us": [round(one, 4) for one in us],
            })  # fmt: skip
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("sides", nargs="+")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    atoll.init()
    if atoll.n_pes() != 2:
        raise SystemExit("two PEs, please")
    run = Run()
    for side in options.sides:
        run.add(side)
    if not options.compile:
        for number in range(-1, options.repeats):
            run.repeat(number)
        if run.me == 0:
            about = {
                "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "gpu": torch.cuda.get_device_name(),
                "gpus": torch.cuda.device_count(),
                "rounds": ROUNDS, "repeats": options.repeats, "checks": os.environ.get("ATOLL_CHECK", "default"),
                "missing": run.missing,
            }  # fmt: skip
            options.out.write_text(json.dumps({"about": about, "rows": run.results()}, indent=0) + "\n")
    atoll.barrier_all()
    atoll.finalize()


main()
