"""Cases that run on every rank of a job of PyTorch. Most compare the backend atoll with gloo on equal calls.

    python cases.py RANK SIZE FILE

Rank 0 writes a line of JSON for each case: its name, and the errors of the ranks where it failed. Every case
has a group of its own, so a broken one harms no other.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import array_cases  # noqa: F401 (these six register their cases, in this order)
import data_cases  # noqa: F401
import group_cases  # noqa: F401
import parallel_cases  # noqa: F401
import symmetric_cases  # noqa: F401
import torch
import torch.distributed as dist
import training_cases  # noqa: F401
from ranks import CASES, LIMIT, exchange, run_case

ATTEMPTS = 3


def group_of_gloo() -> Any:
    """Return a group of gloo over all ranks. Gloo may fail to connect on a busy machine, and is then asked again."""
    for attempt in range(ATTEMPTS):
        group, error = None, ""
        try:
            group = dist.new_group(backend="gloo", timeout=LIMIT)
        except RuntimeError as failure:
            error = str(failure)
            print(f"gloo, attempt {attempt}: {error}", file=sys.stderr, flush=True)
        errors = exchange(f"gloo/{attempt}", error, 2 * LIMIT)  # gloo ends its attempt at different times
        if not any(errors):
            return group
    raise RuntimeError(f"gloo did not connect the ranks in {ATTEMPTS} attempts: {errors}")


def main(rank: int, size: int, file: str) -> None:
    """Run all cases, or those named by the variable CASES."""
    torch.set_num_threads(1)
    store = dist.FileStore(file, size)
    dist.init_process_group("atoll", store=store, rank=rank, world_size=size, timeout=LIMIT)
    gloo = group_of_gloo()
    wanted = os.environ.get("CASES", "").split(",")
    for name, function in CASES.items():
        if wanted != [""] and name not in wanted:
            continue
        result = run_case(name, function, gloo)
        if rank == 0:
            print(json.dumps(result), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(json.dumps(list(CASES)))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
