"""Every operation at several PE counts; the checks themselves are in programs/."""

from __future__ import annotations

import pytest
from jobs import EVERY_OPERATION, Job

COUNTS = [1, 2, 3, 4, 7]
BEFORE_INIT = {"bad_input"}  # they try calls before the first init of a process


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("program", EVERY_OPERATION)
def test_program(job: Job, kept_job: Job, program: str, n: int) -> None:
    run = job if program in BEFORE_INIT else kept_job
    assert "all checks passed" in run(f"{program}.py", n).stdout


@pytest.mark.parametrize("program", EVERY_OPERATION)
def test_program_over_the_reference_transport(job: Job, kept_job: Job, program: str) -> None:
    """Without loads and stores to other PEs, which calls must not assume."""
    run = job if program in BEFORE_INIT else kept_job
    assert "all checks passed" in run(f"{program}.py", 3, ATOLL_TRANSPORT="loopback").stdout
