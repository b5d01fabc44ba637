"""Every operation at several PE counts; the checks themselves are in programs/, and each is a case here."""

from __future__ import annotations

import pytest
from jobs import EVERY_OPERATION, Job
from program_checks import Outcomes, checks_of, done_by

COUNTS = [1, 2, 3, 4, 7]
BEFORE_INIT = {"bad_input"}  # they try calls before the first init of a process
OVER_LOOPBACK = Outcomes()
OUTCOMES = Outcomes()
CHECKS = checks_of(*(f"{program}.py" for program in EVERY_OPERATION if program != "model"))


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize(("program", "check"), CHECKS)
def test_check(job: Job, kept_job: Job, program: str, check: str, n: int) -> None:
    run = job if program.removesuffix(".py") in BEFORE_INIT else kept_job
    OUTCOMES.expect(program, n, check, lambda: done_by(run, program, n))


@pytest.mark.parametrize(("program", "check"), CHECKS)
def test_check_over_the_reference_transport(job: Job, kept_job: Job, program: str, check: str) -> None:
    """Without loads and stores to other PEs, which calls must not assume."""
    run = job if program.removesuffix(".py") in BEFORE_INIT else kept_job
    OVER_LOOPBACK.expect(program, 3, check, lambda: done_by(run, program, 3, ATOLL_TRANSPORT="loopback"))


@pytest.mark.parametrize("n", COUNTS)
def test_random_operations_as_in_a_model(kept_job: Job, n: int) -> None:
    assert "all checks passed" in kept_job("model.py", n).stdout


def test_random_operations_over_the_reference_transport(kept_job: Job) -> None:
    assert "all checks passed" in kept_job("model.py", 3, ATOLL_TRANSPORT="loopback").stdout
