"""The blocks of docs/torch.md in their order and in one namespace, on 2 ranks that `atoll run` starts.

The kernel of docs/torch-triton.md comes after the block of symmetric memory, in Triton's interpreter.
Each is followed by a check of what it did. Rank 1 ends before the last block, which is for that case.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from page_blocks import blocks

rank = int(os.environ["RANK"])
names: dict[str, Any] = {}


def check_try_it() -> None:
    assert names["x"].tolist() == [2.0] * 4
    assert names["dist"].get_backend() == "atoll"


def check_symmetric_memory() -> None:
    assert names["t"].shape == (1024,) and (names["t"] == 1).all(), "the sum of both ranks' numbers"


def check_kernel_of_triton() -> None:
    assert names["handle"].world_size == 2 and (names["out"] == 3).all()


def check_one_sided_access() -> None:
    if rank == 1:
        assert (names["x"][5:15] == 1).all()


def before_shrinking() -> None:
    if rank == 1:
        os._exit(0)  # without leaving the group; by status 0 the launcher lets the others go on
    names["gradients"] = names["torch"].full((3,), 2.0)


def check_shrinking() -> None:
    assert names["dist"].get_world_size() == 1, "the all_reduce had no error"
    assert names["gradients"].tolist() == [2.0] * 3


STEPS: list[tuple[Any, Any]] = [
    (None, check_try_it),
    (None, check_symmetric_memory),
    (None, check_kernel_of_triton),
    (None, check_one_sided_access),
    (before_shrinking, check_shrinking),
]
texts = blocks("torch")
texts[2:2] = blocks("torch-triton")
for block, (before, check) in zip(texts, STEPS, strict=True):
    if before:
        before()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # Triton reads the source of a kernel
        file.write(block)
        file.flush()
        exec(compile(block, file.name, "exec"), names)
    check()
    print(f"rank {rank}: {check.__name__}", flush=True)
names["dist"].destroy_process_group()
