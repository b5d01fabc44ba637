"""Fixtures that run a Python program as a job, made of jobs.py, hanging.py and kept.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hanging import Hanging, Start
from jobs import HANG_GUARD, PROGRAMS, Done, Job, environment, launcher, write_program
from kept import Failed, KeptJobs, wants_fresh
from simulated import make_package


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A function that runs a program as a job of n PEs; `code` is a file of programs/, or a program's text."""

    def run(code: str, n: int, *arguments: str, ok: bool = True, timeout: int = 800, **changes: str) -> Done:
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


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a faulty program."""
    started: list[Hanging] = []

    def start(code: str, n: int, **changes: str) -> Hanging:
        started.append(Hanging(tmp_path, code, n, **changes))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def kept_jobs() -> Iterator[KeptJobs]:
    """The jobs in which `kept_job` runs programs."""
    jobs = KeptJobs()
    yield jobs
    jobs.end()


@pytest.fixture
def kept_job(job: Job, kept_jobs: KeptJobs, tmp_path: Path) -> Job:
    """`job` in PEs that have run programs of other tests: for programs that end normally and do not test
    starts or ends.

    Standard output is that of PE 0, then of PE 1, and so on.
    """
    if wants_fresh():
        return job

    def run(code: str, n: int, *arguments: str, timeout: int = 800, **changes: str) -> Done:
        program = PROGRAMS / code if code.endswith(".py") else write_program(tmp_path, code)
        try:
            return kept_jobs.run(program, n, list(arguments), changes, timeout)
        except Failed as error:
            pytest.fail(
                f"{program} with {n} kept PEs (ATOLL_TEST_FRESH=1 takes new ones):\n{error}", pytrace=False
            )

    return run


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PYTHONPATH of a package whose GPU is the simulated one."""
    return str(make_package(tmp_path_factory.mktemp("package")))
