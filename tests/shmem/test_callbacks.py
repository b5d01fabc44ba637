"""Jobs of processes that the program's own functions connect: shmemx_init_callbacks."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Job = Callable[..., "list[subprocess.CompletedProcess[str]]"]


@pytest.fixture
def job(program: Callable[[str], Path], start: Run, tmp_path: Path) -> Job:
    """Runs programs/callbacks.c as n processes that no launcher has started."""

    def run(n: int, *way: str, **environment: str) -> list[subprocess.CompletedProcess[str]]:
        command = program("callbacks")
        with ThreadPoolExecutor(n) as pool:
            return list(pool.map(lambda pe: start(command, tmp_path, pe, n, *way, **environment), range(n)))

    return run


@pytest.mark.parametrize("n", [1, 2, 5])
def test_functions_connect_the_pes(job: Job, n: int) -> None:
    done = job(n)
    assert [each.stdout for each in done] == [f"right: PE {pe} of {n}\n" for pe in range(n)], done


def test_global_exit_is_passed_on(job: Job) -> None:
    done = job(3, "abort")
    assert done[0].returncode == 5 and "abort of PE 0: 5" in done[0].stderr, done
    assert all(each.returncode == 5 for each in done[1:]), done


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("fail", "the allgather that was passed returned 7."),
        ("no allgather", "callbacks: allgather is needed, NULL was passed."),
    ],
)
def test_a_fault_is_reported_as_status_and_sentence(job: Job, way: str, sentence: str) -> None:
    (done,) = job(1, way)
    assert done.returncode == 3 and done.stdout == f"no job: shmemx_init_callbacks: {sentence}\n", done


def test_an_invalid_pe(program: Callable[[str], Path], start: Run, tmp_path: Path) -> None:
    done = start(program("callbacks"), tmp_path, 2, 2)
    assert done.returncode == 3 and "pe=2, n_pes=2" in done.stdout, done
