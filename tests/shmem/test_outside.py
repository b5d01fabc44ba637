"""Collectives of active sets on PEs outside them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("level", ["none", "basic", "args", "all"])
def test_they_do_nothing_and_warn_once(level: str, program: Callable[[str], Path], oshrun: Run) -> None:
    done = oshrun(3, program("outside"), ATOLL_CHECK=level)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 1, done.stderr
    assert "PE 0 called shmem_barrier for the active set (PE_start 1, logPE_stride 0, PE_size 2)" in said[0]
    assert "not in: the call does nothing" in said[0]
