"""Runs the cases of GPUs, and parallel_cases.py, on GPUs: ranks in turn take the GPUs that there are.

    python gpu.py [--ranks N] [--limit SECONDS] [CASE...]

It prints a line for each case, and the errors of the ranks where it failed. A case that takes longer than the limit, or
ends a rank, is reported with the ranks' threads; new ranks run the cases after it. The status is 1 if one failed.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import gpu_array_cases  # noqa: F401 (registers the cases)
import gpu_cases  # noqa: F401 (as well)
import gpu_symmetric_cases  # noqa: F401 (as well)
import parallel_cases
import torch
import torch.distributed as dist
from ranks import CASES, run_case

STARTING = "start of the ranks"
MOST_STARTS = 4


class Progress:
    """The steps of a rank, in a file that the parent reads."""

    def __init__(self, folder: str, rank: int) -> None:
        self.file = Path(folder) / f"rank-{rank}"

    def add(self, kind: str, text: str) -> None:
        """Write a line."""
        with self.file.open("a") as file:
            file.write(f"{kind} {text}\n")

    def lines(self) -> list[tuple[str, str]]:
        """Return the lines so far."""
        with contextlib.suppress(FileNotFoundError):
            return [
                (line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in self.file.read_text().splitlines()
            ]
        return []


def start_up(rank: int, size: int, folder: str, progress: Progress, limit: timedelta) -> object:
    """Make the groups, step by step, and return gloo's."""
    device = torch.device("cuda", rank % torch.cuda.device_count())
    progress.add("step", f"GPU {device.index}")
    torch.cuda.set_device(device)
    torch.ones(1, device="cuda").sum().item()
    parallel_cases.DEVICE = device
    progress.add("step", "init_process_group")
    store = dist.FileStore(f"{folder}/store", size)
    # With device_id, as programs on GPUs begin; then new_group takes other paths of PyTorch.
    dist.init_process_group("atoll", store=store, rank=rank, world_size=size, timeout=limit, device_id=device)
    progress.add("step", "group of gloo")
    gloo = dist.new_group(backend="gloo", timeout=limit)
    progress.add("step", "all_reduce on the CPU")
    dist.all_reduce(torch.ones(3))
    progress.add("step", "first all_reduce on the GPU")
    tensor = torch.ones(3, device="cuda")
    dist.all_reduce(tensor)
    progress.add("step", "its result")
    assert tensor.tolist() == [size] * 3, tensor
    return gloo


def main(rank: int, size: int, folder: str, names: list[str], seconds: float) -> None:
    """Run the cases as one rank."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(seconds, exit=False)
    progress = Progress(folder, rank)
    progress.add("begin", STARTING)
    limit = timedelta(seconds=seconds)
    gloo = start_up(rank, size, folder, progress, limit)
    progress.add("ok", STARTING)
    for name in names:
        faulthandler.dump_traceback_later(seconds, exit=False)
        progress.add("begin", name)
        errors = run_case(name, CASES[name], gloo)["errors"]
        for other, text in errors.items() if rank == 0 else ():
            print(f"{name} on rank {other}: {text}", flush=True)
        progress.add("FAILED" if errors else "ok", name)
    faulthandler.cancel_dump_traceback_later()
    progress.add("begin", "end of the ranks")
    dist.destroy_process_group()
    progress.add("ok", "end of the ranks")


def threads_of(process: int) -> str:
    """Return a process's threads as the kernel shows them: their names, and where they wait."""
    lines = []
    for task in sorted(Path(f"/proc/{process}/task").glob("*")):
        with contextlib.suppress(OSError):
            texts = [(task / name).read_text().strip()[:60] for name in ("comm", "wchan", "syscall")]
            lines.append(f"    {task.name}: " + " | ".join(texts))
    return "\n".join(lines)


def ending_of(code: int | None) -> str:
    """Return how a rank ended."""
    if code is None:
        return "runs"
    return f"ended with status {code}" if code >= 0 else f"ended by {signal.Signals(-code).name}"


def run_ranks(names: list[str], size: int, seconds: float) -> tuple[list[tuple[str, str]], str]:
    """Start ranks for the cases. Return the steps of rank 0, and a report if a rank failed."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        progress = [Progress(folder, rank) for rank in range(size)]
        ranks = [
            context.Process(target=main, args=(rank, size, folder, names, seconds)) for rank in range(size)
        ]
        for rank in ranks:
            rank.start()
        shown, changed = 0, time.monotonic()
        report = ""
        while any(rank.is_alive() for rank in ranks):
            time.sleep(0.05)
            lines = progress[0].lines()
            for kind, text in lines[shown:]:
                print(f"{kind:7} {text}", flush=True)
            if len(lines) != shown:
                shown, changed = len(lines), time.monotonic()
            gone = any(rank.exitcode not in (None, 0) for rank in ranks)
            # A rank may take time to import PyTorch; the others notice soon that one has gone.
            if time.monotonic() - changed > (5 if gone else seconds + 15):
                report = "no progress; the ranks' threads (name, place in the kernel, system call):\n"
                for rank in ranks:
                    report += (
                        f"  process {rank.pid} {ending_of(rank.exitcode)}\n{threads_of(rank.pid or 0)}\n"
                    )
                break
        for rank in ranks:
            if report:
                rank.kill()
            rank.join()
        steps = progress[0].lines()
        for kind, text in steps[shown:]:
            print(f"{kind:7} {text}", flush=True)
        if report or any(rank.exitcode != 0 for rank in ranks):
            report += "".join(
                f"  rank {number}: {ending_of(rank.exitcode)}; its last step: {progress[number].lines()[-1:]}\n"
                for number, rank in enumerate(ranks)
            )
        return steps, report


def start() -> int:
    """Run the cases; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--limit", type=float, default=30)
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    left = [name for name in CASES if not arguments.cases or name in arguments.cases]
    os.environ.setdefault("ATOLL_STALL_WARN", "10")
    failed = False
    for _ in range(MOST_STARTS):
        steps, report = run_ranks(left, arguments.ranks, arguments.limit)
        failed = failed or bool(report) or any(kind == "FAILED" for kind, _ in steps)
        if not report:
            break
        print(f"FAILED  after these steps of rank 0: {steps[-3:]}\n{report}", flush=True)
        begun = [text for kind, text in steps if kind == "begin"]
        if begun[-1:] in ([], [STARTING]):
            break  # it would fail again
        left = left[left.index(begun[-1]) + 1 :] if begun[-1] in left else []
        if not left:
            break
    return int(failed)


if __name__ == "__main__":
    sys.exit(start())
