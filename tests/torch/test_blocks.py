"""The blocks of Python on docs/torch.md run on 2 ranks; the one for torch.compile of docs/kernels.md is compiled."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest
from jobs import HANG_GUARD, launcher

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / "build/torch/bin/python"
pytestmark = pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("packages").exists(),
    reason="no build/torch; scripts/setup.sh torch makes it",
)


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )


def test_the_page_of_pytorch() -> None:
    done = run(launcher(), "run", "-n", "2", str(PYTHON), str(HERE / "blocks.py"), TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stdout + done.stderr
    checks = [
        "check_try_it",
        "check_symmetric_memory",
        "check_kernel_of_triton",
        "check_one_sided_access",
        "check_shrinking",
    ]
    printed = [f"rank {rank}: {[2.0] * 4}" for rank in (0, 1)]
    wanted = [f"rank 0: {check}" for check in checks] + [f"rank 1: {check}" for check in checks[:-1]]
    assert sorted(done.stdout.splitlines()) == sorted(printed + wanted), done.stdout + done.stderr


def test_the_block_for_inductor_compiles(tmp_path: Path, forks: str) -> None:
    done = run(forks, str(HERE / "inductor_block.py"), str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "exchange\n"), done.stdout + done.stderr


PORTED = {
    "gemm_allreduce.py": "summed in 4 blocks",
    "embedding_torch.py": "200 vectors read, {rows} rows changed",
}


@functools.cache
def run_ported(python: str, n: int, *programs: str) -> dict[str, tuple[int, str, str]]:
    """Run programs in turn, and return the status and the output of each, and all errors."""
    paths = [str(HERE.parents[1] / "examples/porting" / program) for program in programs]
    command = [launcher(), "run", "-n", str(n), python, str(HERE / "in_turn.py"), *paths]
    done = run(*command, ATOLL_COMPAT="nvshmem")
    parts = dict(part.split("\n", 1) for part in done.stdout.split("== ")[1:])
    return {
        program: (done.returncode, parts.get(path, ""), done.stderr)
        for program, path in zip(programs, paths, strict=True)
    }


def python_of(forks: str, n: int) -> str:
    """Return a Python for n PEs: a new one for one PE, so that each PE imports PyTorch under ATOLL_COMPAT once."""
    return str(PYTHON) if n == 1 else forks


@pytest.mark.parametrize("program", PORTED)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_ported_examples(program: str, n: int, forks: str) -> None:
    """All in one job; if it failed, each in a job of its own, so that one failure is not that of all."""
    ends = run_ported(python_of(forks, n), n, *PORTED)
    if any(status for status, *_ in ends.values()):
        ends = run_ported(python_of(forks, n), n, program)
    status, printed, errors = ends[program]
    assert (status, len(printed.splitlines())) == (0, 1), printed + errors
    assert PORTED[program].format(rows=n * n) in printed


@pytest.mark.parametrize("n", [1, 2, 4])
def test_ported_examples_make_several_worlds(n: int, forks: str) -> None:
    for status, _, errors in run_ported(python_of(forks, n), n, *PORTED).values():
        assert status == 0, errors


def test_reductions_of_narrow_floats(forks: str) -> None:
    done = run(launcher(), "run", "-n", "3", forks, str(HERE / "nvshmem_narrow.py"), ATOLL_COMPAT="nvshmem")
    assert done.stdout == "done\n" * 3, done.stdout + done.stderr
