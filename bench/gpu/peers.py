"""Python on GPUs beside its peers, in one run: Atoll, NVSHMEM4Py, NCCL4Py, torch.distributed and nbshmem.

All alternate batch by batch in one process for each PE, so that only their code differs.

    atoll run -n 1 python bench/gpu/peers.py --json OUT.json

First comes the host's cost of a call on a stream (enqueued, not waited for; 8 bytes). Then come kernels in
Numba: between two blocks of one kernel with one PE, else between PEs with a GPU each. With one PE a put goes
to the PE itself and collectives have one member: that is each library's own cost, without a link. The table
and the file name a peer that is missing or fails, with its reason. scripts/gpu.sh peers runs it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import functools
import importlib.metadata
import json
import os
import statistics
import sys
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

PEERS = ("atoll", "nvshmem4py", "nccl4py", "torch", "nbshmem")
WITH_KERNELS = ("atoll", "nvshmem4py")
CALLS, ROUNDS = 200, 2000
# In clocks, about 1 ms: keeps the GPU busy until a kernel is enqueued, so that only the kernel is timed.
AHEAD = 2_000_000
WARM_UP_S = 0.3
PACKAGES = (
    "atoll", "nvshmem4py-cu13", "nvidia-nvshmem-cu13", "nccl4py", "nvidia-nccl-cu13", "torch", "numba", "numba-cuda", "cuda-core", "numpy",
)  # fmt: skip


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS), help="peers to take")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="PEER=REASON", help="a peer to leave out, and why"
    )
    parser.add_argument(
        "--try", dest="is_trial", action="store_true", help="call everything once and measure nothing"
    )
    parser.add_argument("--no-kernels", metavar="REASON", help="host calls alone, and why")
    parser.add_argument("--batches", type=int, default=41)
    options = parser.parse_args(given)
    for text in options.skip:
        if text.partition("=")[0] not in PEERS or "=" not in text:
            parser.error(f"--skip takes PEER=REASON, PEER one of {', '.join(PEERS)}; got {text}")
    return options


def load_nvshmem() -> str:
    """Load the NVSHMEM of $PEERS_NVSHMEM before torch loads the installed one: both have one name. Return an
    error's text, or "".
    """
    try:
        if home := os.environ.get("PEERS_NVSHMEM"):
            ctypes.CDLL(str(Path(home) / "lib/libnvshmem_host.so.3"), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        return said(error)
    return ""


def said(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else repr(error)
    return " ".join(text.split())[:400]


class Run:
    """The peers that work, and the times of their batches."""

    def __init__(self, options: argparse.Namespace) -> None:
        import peer_sides
        import torch

        self.options, self.torch = options, torch
        self.job = peer_sides.Job()
        self.skipped: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.us: dict[tuple[str, str, int, str], list[float]] = {}
        self.sides: list[Any] = []
        self.kernels: dict[str, Any] = {}
        self.loaded = types.SimpleNamespace()
        given = dict(text.split("=", 1) for text in options.skip)
        for peer in PEERS:
            if peer in given:
                self.skipped[peer] = given[peer]
            elif peer not in options.only:
                self.skipped[peer] = "not asked for"
            else:
                self.add(peer)

    def say(self, text: str) -> None:
        if self.job.me == 0:
            print(text, file=sys.stderr, flush=True)

    def attempt(self, what: str, does: Callable[[], object], reasons: dict[str, str]) -> bool:
        """Return True if the step succeeded on all PEs. Otherwise keep this PE's reason, else another PE's."""
        import atoll

        reason = ""
        try:
            does()
            self.torch.cuda.synchronize()
        except Exception as error:
            reason = said(error)
            print(f"PE {self.job.me}: {what}: {traceback.format_exc(limit=-4)}", file=sys.stderr, flush=True)
        if atoll.min_reduce(int(not reason)):
            return True
        reasons[what] = reason or "failed on another PE"
        return False

    def add(self, peer: str) -> None:
        """Add a library: set it up, then add each of its sides."""
        import peer_sides

        since = time.monotonic()
        makers: dict[str, Any] = {}
        if not self.attempt(
            peer, lambda: makers.update(peer_sides.sides_of(peer, self.job, self.loaded)), self.skipped
        ):
            return
        for name, maker in makers.items():
            if self.attempt(name, lambda: self.sides.append(maker()), self.missing):  # noqa: B023
                side = self.sides[-1]
                self.missing |= {f"{name}: {op}": reason for op, reason in side.missing.items()}
        self.say(f"{peer}: set up in {time.monotonic() - since:.1f} s")

    def try_calls(self) -> None:
        """Try each call once, on all PEs at a time: one that fails is left out."""
        for side in self.sides:
            for op, call in list(side.calls.items()):
                if not self.attempt(f"{side.name}: {op}", call, self.missing):
                    del side.calls[op]

    def failed(self) -> list[str]:
        """Return the requested peers of which no call works, with reasons."""
        reasons = []
        for peer in self.options.only:
            if any(side.calls for side in self.sides if side.name.startswith(peer)):
                continue
            found = [reason for what, reason in self.missing.items() if what.startswith(peer)]
            reasons.append(self.skipped.get(peer) or found[-1])
        return reasons

    # ---- host calls

    def batch_of_calls(self, call: Callable[[], object]) -> float:
        """Return the host's microseconds of a call."""
        import atoll

        self.torch.cuda.synchronize()
        atoll.barrier_all()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        return (time.perf_counter() - start) / CALLS * 1e6

    def measure_calls(self) -> None:
        import atoll
        import peer_sides

        for op in peer_sides.OPS:
            cells = [(side.name, side.calls[op]) for side in self.sides if op in side.calls]
            begin = time.perf_counter()
            while atoll.max_reduce(int(time.perf_counter() - begin < WARM_UP_S)):
                for _, call in cells:
                    self.batch_of_calls(call)
            for number in range(self.options.batches):
                for k in range(len(cells)):
                    name, call = cells[(k + number) % len(cells)]
                    us = self.batch_of_calls(call)
                    self.us.setdefault(("host", op, 8, name), []).append(us)
            self.torch.cuda.synchronize()
            atoll.barrier_all()

    # ---- kernels

    def add_kernels(self, peer: str, name: str) -> None:
        import peer_kernels

        self.kernels[name] = peer_kernels.kernels_of(peer, self.job, self.loaded)

    def compile_kernels(self) -> dict[tuple[Any, str], Any]:
        import peer_kernels

        cells: dict[tuple[Any, str], Any] = {}
        for peer in WITH_KERNELS:
            if peer in self.skipped:
                self.missing[f"{peer}: kernels"] = self.skipped[peer]
                continue
            name, since = f"{peer} Numba", time.monotonic()
            if not self.attempt(
                f"{name}: kernels", functools.partial(self.add_kernels, peer, name), self.missing
            ):
                continue
            kernels = self.kernels[name]
            for row in peer_kernels.ROWS:
                check = functools.partial(kernels.check, row, self.torch.cuda.synchronize)
                if self.attempt(f"{name}: {row.op} {row.nbytes} B", check, self.missing):
                    cells[row, name] = kernels
            self.say(f"{name}: compiled in {time.monotonic() - since:.1f} s")
        return cells

    def batch_of_kernel(self, row: Any, kernels: Any) -> float:
        """Return the microseconds of an operation."""
        import atoll

        cuda, stream = self.torch.cuda, self.job.stream
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda.synchronize()
        atoll.barrier_all()
        with cuda.stream(stream):
            cuda._sleep(AHEAD)
        begin.record(stream)
        kernels.start(row, ROUNDS)
        end.record(stream)
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e3 / ROUNDS / row.calls

    def measure_kernels(self) -> None:
        cells = self.compile_kernels()
        if self.options.is_trial:
            return
        for row in dict.fromkeys(row for row, _ in cells):
            here = [(name, kernels) for (at, name), kernels in cells.items() if at == row]
            for number in range(-1, 15):
                for k in range(len(here)):
                    name, kernels = here[(k + number) % len(here)]
                    us = self.batch_of_kernel(row, kernels)
                    if number >= 0:
                        self.us.setdefault(("kernel", row.op, row.nbytes, name), []).append(us)

    # ---- results

    def rows(self) -> list[dict[str, Any]]:
        found = []
        for (where, op, nbytes, side), us in self.us.items():
            quarter, median, three = statistics.quantiles(us, n=4)
            found.append({
                "where": where, "side": side, "op": op, "bytes": nbytes, "pes": self.job.n, "median_us": round(median, 4),
                "quartiles_us": [round(quarter, 4), round(three, 4)], "repeats_us": [round(one, 4) for one in us],
            })  # fmt: skip
        return found

    def about(self) -> dict[str, Any]:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        from machine import machine

        return {
            "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "machine": machine(), "gpu": self.torch.cuda.get_device_name(),
            "gpus": self.torch.cuda.device_count(), "pes": self.job.n, "versions": self.versions(),
            "calls": CALLS, "rounds": ROUNDS, "batches": self.options.batches, "checks": os.environ.get("ATOLL_CHECK", "default"),
        }  # fmt: skip

    def versions(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for package in PACKAGES:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                found[package] = importlib.metadata.version(package)
        with contextlib.suppress(Exception):
            import atoll

            found["atoll"] = atoll.__version__
        with contextlib.suppress(Exception):
            import peer_sides

            found["NCCL"] = ".".join(map(str, peer_sides.nccl_version()))
        if hasattr(self.loaded, "nvshmem"):
            with contextlib.suppress(Exception):
                found["NVSHMEM"] = self.loaded.nvshmem.get_version().libnvshmem_version
        return found

    def write(self) -> None:
        if self.job.me == 0 and self.options.json and not self.options.is_trial:
            skipped = {peer: {"skipped": reason} for peer, reason in self.skipped.items()}
            what = {"about": self.about(), **skipped, "missing": self.missing, "rows": self.rows()}
            self.options.json.write_text(json.dumps(what, indent=0) + "\n")

    def close(self) -> None:
        for name, kernels in self.kernels.items():
            if hasattr(kernels, "close"):
                self.attempt(f"{name}: end", kernels.close, {})
        for side in self.sides:
            self.attempt(f"{side.name}: end", side.close, {})
        if hasattr(self.loaded, "nvshmem"):
            self.attempt("nvshmem4py: end", self.loaded.nvshmem.finalize, {})


def table(rows: list[dict[str, Any]], skipped: dict[str, str], missing: dict[str, str]) -> str:
    """Return medians with half their interquartile range and their ratio to Atoll's best; then the missing
    peers.
    """
    lines = ["| | bytes | side | µs | × Atoll |", "|---|---|---|---|---|"]
    for key in dict.fromkeys((row["where"], row["op"], row["bytes"]) for row in rows):
        here = [row for row in rows if (row["where"], row["op"], row["bytes"]) == key]
        ours = [row["median_us"] for row in here if row["side"].startswith("atoll")]
        for row in here:
            low, high = row["quartiles_us"]
            ratio = f"{row['median_us'] / min(ours):.2f}" if ours and min(ours) > 0 else "–"
            lines.append(
                f"| {key[0]}: {key[1]} | {key[2]} | {row['side']} | {row['median_us']:.2f} ± {(high - low) / 2:.2f} | {ratio} |"
            )
    lines += [f"skipped: {peer}: {reason}" for peer, reason in skipped.items()]
    lines += [f"not measured: {what}: {reason}" for what, reason in missing.items()]
    return "\n".join(lines)


def main() -> None:
    options = arguments()
    if reason := load_nvshmem():
        options.skip.append(f"nvshmem4py={reason}")
    import atoll

    atoll.init()
    run = Run(options)
    run.try_calls()
    if not options.is_trial:
        run.measure_calls()
        run.write()  # saved now, because a failing kernel may end the process
    if run.job.me == 0:
        print(table(run.rows(), run.skipped, run.missing), flush=True)
    reason = options.no_kernels
    if reason is None and run.job.n > run.torch.cuda.device_count():
        reason = "PEs share a GPU: their kernels take turns on it and would wait for each other"
    listed = set(run.missing)
    if reason is None:
        run.measure_kernels()
    else:
        run.missing["kernels"] = reason
    run.write()
    if run.job.me == 0:
        new = {what: why for what, why in run.missing.items() if what not in listed}
        print(table([row for row in run.rows() if row["where"] == "kernel"], {}, new), flush=True)
    failed = run.failed() if options.is_trial else []
    run.close()
    atoll.finalize()
    if failed:
        print("not there: " + "; ".join(failed), file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if failed else 0)  # do not wait for what libraries free after their end


if __name__ == "__main__":
    main()
