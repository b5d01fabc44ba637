"""Two ranks by one import of PyTorch: the process forks. With arguments, both run programs one after another.

    python forked.py PROGRAM[,ARGUMENTS...]...

Each program makes and destroys its world, by PyTorch's variables. A line "== PROGRAM,..." comes before its output.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
from pathlib import Path

import torch
import torch.distributed as dist

PR_SET_PDEATHSIG = 1
_alive: list[dist.Store] = []


def fork_ranks() -> int:
    """Fork: return rank 0 in this process and rank 1 in its child, with the variables of torchrun set."""
    torch.set_num_threads(1)  # PyTorch's threads do not live on in a forked child
    store = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    rank = int(os.fork() == 0)
    if rank == 1:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a failed parent leaves no child behind
    variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
    variables |= {"MASTER_PORT": store.port, "TORCHELASTIC_RESTART_COUNT": 0}
    os.environ |= {name: str(value) for name, value in variables.items()}
    os.environ |= {"MASTER_ADDR": "localhost", "TORCHELASTIC_USE_AGENT_STORE": "True"}
    _alive.append(store)
    return rank


def end(rank: int) -> None:
    """End the child, and check its status in the parent."""
    sys.stdout.flush()
    if rank == 1:
        os._exit(0)
    assert os.wait()[1] == 0, "the other rank failed"


def run_in_turn(lines: list[str], rank: int) -> None:
    """Run programs one after another; a line is a program and its arguments, joined by commas."""
    for number, line in enumerate(lines):
        os.environ["TORCHELASTIC_RESTART_COUNT"] = str(number)  # each world has keys of its own
        if rank == 0:
            print("==", line, flush=True)
        sys.argv = line.split(",")
        sys.path[0] = str(Path(sys.argv[0]).parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


def main() -> None:
    """Run the programs."""
    rank = fork_ranks()
    run_in_turn(sys.argv[1:], rank)
    end(rank)


if __name__ == "__main__":
    main()
