"""Every operation at several PE counts; the checks themselves are in programs/."""

from __future__ import annotations

import pytest
from jobs import Job

COUNTS = [1, 2, 3, 4, 7]


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("program", ["operations", "words", "collectives", "model", "bad_input"])
def test_program(job: Job, program: str, n: int) -> None:
    assert "all checks passed" in job(f"{program}.py", n).stdout
