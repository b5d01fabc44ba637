"""The harness of both Python sides of a comparison: harness.h in Python, with the same lines of JSON."""

import argparse
import json
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any


class Bench:
    """Times repeated operations batch by batch, all PEs in step; PE 0 reports. All PEs call everything here."""

    def __init__(self, side: str, my_pe: int, n_pes: int, barrier: Callable[[], Any]) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("names", nargs="*")
        parser.add_argument("--quick", action="store_true")
        parser.add_argument("--json", type=Path)
        self.options = parser.parse_args()
        self.side, self.my_pe, self.n_pes, self.barrier = side, my_pe, n_pes, barrier
        self.share: Callable[[float], float]  # returns PE 0's value on all PEs
        oversubscribed = n_pes > (os.cpu_count() or 1)
        self.batch_ns = (1e6 if self.options.quick else 4e6) * (5 if oversubscribed else 1)
        self.batches = 5 if self.options.quick else 15

    def batch(self, run: Callable[[int], None], repeats: int) -> float:
        """Return the nanoseconds that this PE takes for one batch."""
        self.barrier()
        start = perf_counter_ns()
        run(repeats)
        return float(perf_counter_ns() - start)

    def measure(
        self, name: str, run: Callable[[int], None], only_pe: int | None = None, parts: int = 1
    ) -> None:
        """Calibrate and time `run(repeats)`, on all PEs or one; a repeat counts as `parts` operations."""
        if self.options.names and not any(name.startswith(prefix) for prefix in self.options.names):
            return

        def mine(repeats: int) -> None:
            if only_pe is None or only_pe == self.my_pe:
                run(repeats)

        repeats = 1
        while (took := self.share(min(self.batch(mine, repeats) for _ in range(3)))) < 0.7 * self.batch_ns:
            repeats = int(repeats * min(max(self.batch_ns / max(took, 1.0), 1.5), 10) + 0.5)
        times = [self.batch(mine, repeats) / (repeats * parts) for _ in range(self.batches)]
        self.barrier()
        self.report(name, times, repeats)

    def report(self, name: str, times: list[float], repeats: int) -> None:
        """Print a human-readable line, and one of JSON for compare.py."""
        if self.my_pe != 0:
            return
        ordered = sorted(times)
        low, high = ordered[len(times) // 10], ordered[len(times) - 1 - len(times) // 10]
        row = {
            "side": self.side,
            "op": name,
            "bytes": 8,
            "pes": self.n_pes,
            "unit": "ns",
            "median": round(statistics.median(times), 3),
            "p10": round(low, 3),
            "p90": round(high, 3),
            "repeats": repeats,
            "batches": [round(time, 2) for time in times],
        }
        print(
            f"{name:22} {8:9} B {self.n_pes:4} PEs {row['median']:14.1f} ns   ({low:.1f} … {high:.1f})",
            flush=True,
        )
        if self.options.json:
            with self.options.json.open("a") as file:
                print(json.dumps(row), file=file)
