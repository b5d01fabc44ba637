"""Runs gpu_cases.py on GPUs: ranks in turn take the GPUs that there are.

    python gpu.py [--ranks N] [CASE...]

It prints a line for each case, and the errors of the ranks where it failed. The status is 1 if one failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile

import gpu_cases  # noqa: F401 (registers the cases)
import torch
import torch.distributed as dist
from ranks import CASES, LIMIT, run_case


def main(rank: int, size: int, file: str, names: list[str]) -> None:
    """Run the cases as one rank."""
    torch.cuda.set_device(rank % torch.cuda.device_count())
    store = dist.FileStore(file, size)
    dist.init_process_group("atoll", store=store, rank=rank, world_size=size, timeout=LIMIT)
    gloo = dist.new_group(backend="gloo", timeout=LIMIT)
    failed = 0
    for name, function in CASES.items():
        if names and name not in names:
            continue
        errors = run_case(name, function, gloo)["errors"]
        failed += bool(errors)
        if rank == 0:
            print(f"{'FAILED' if errors else 'ok':7} {name}", flush=True)
            for other, text in errors.items():
                print(f"rank {other}: {text}", flush=True)
    dist.destroy_process_group()
    sys.exit(1 if failed else 0)


def start() -> int:
    """Start the ranks; return 0 if all succeeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        size = arguments.ranks
        ranks = [
            context.Process(target=main, args=(rank, size, f"{folder}/store", arguments.cases))
            for rank in range(size)
        ]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
    return max(abs(process.exitcode or 0) for process in ranks)


if __name__ == "__main__":
    sys.exit(min(start(), 1))
