"""Running Python programs as jobs, under our launcher and without it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "programs"
# Nobody waits this long; it only keeps a hang from holding up everything else.
HANG_GUARD = 150


def launcher() -> str:
    beside = Path(sys.executable).parent / "atoll"
    for candidate in (beside, ROOT / "build/release/bin/atoll"):
        if candidate.exists():
            return str(candidate)
    raise FileNotFoundError(f"no launcher: neither {beside} nor a release build; run make")


def environment(**changes: str) -> dict[str, str]:
    """An environment in which of Atoll's variables only the tests' own are set."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SMA_"))}
    return {**kept, "ATOLL_CHECK": "all", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **changes}


Done = subprocess.CompletedProcess[str]
Job = Callable[..., Done]


def write_program(folder: Path, code: str) -> Path:
    program = folder / "program.py"
    program.write_text("import atoll, numpy as np, os, sys\n" + textwrap.dedent(code))
    return program


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Runs a program as a job of n PEs; `code` is a file of programs/, or a program's text."""

    def run(code: str, n: int, *arguments: str, ok: bool = True, timeout: int = 120, **changes: str) -> Done:
        program = PROGRAMS / code if code.endswith(".py") else write_program(tmp_path, code)
        start = [launcher(), "run", "-n", str(n), "--timeout", str(timeout)]
        command = [*start, sys.executable, str(program), *arguments]
        done = subprocess.run(
            command,
            env=environment(**changes),
            capture_output=True,
            text=True,
            timeout=HANG_GUARD,
            check=False,
        )
        if ok and done.returncode != 0:
            said = f"{done.stdout}\n{done.stderr}"
            pytest.fail(f"{' '.join(command)}\nended with {done.returncode}\n{said}", pytrace=False)
        return done

    return run
