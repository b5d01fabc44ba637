"""The fixture that runs a Python program as a job; what it is made of is in jobs.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from jobs import HANG_GUARD, PROGRAMS, Done, Job, environment, launcher, write_program
from simulated import make_package


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Runs a program as a job of n PEs; `code` is a file of programs/, or a program's text."""

    def run(code: str, n: int, *arguments: str, ok: bool = True, timeout: int = 240, **changes: str) -> Done:
        program = PROGRAMS / code if code.endswith(".py") else write_program(tmp_path, code)
        start = [launcher(), "run", "-n", str(n), "--timeout", str(timeout)]
        command = [*start, sys.executable, str(program), *arguments]
        done = subprocess.run(
            command,
            env=environment(**changes),
            capture_output=True,
            text=True,
            timeout=max(HANG_GUARD, timeout + 30),
            check=False,
        )
        if ok and done.returncode != 0:
            said = f"{done.stdout}\n{done.stderr}"
            pytest.fail(f"{' '.join(command)}\nended with {done.returncode}\n{said}", pytrace=False)
        return done

    return run


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    """For PYTHONPATH: Atoll with the simulated GPU."""
    return str(make_package(tmp_path_factory.mktemp("package")))
