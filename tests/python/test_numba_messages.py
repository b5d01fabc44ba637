"""atoll.numba: mailboxes, collectives and tiles on host arrays, at several PE counts.

This program compiles as long as that of test_numba.py. In a file of its own, another process of pytest-xdist
runs it. LLVM optimises those of test_numba.py only: that takes 40 percent of the time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import Job
from program_checks import Outcomes, checks_of, conformance_programs

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("numba")


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes()


@pytest.mark.timeout(2000)  # the first one compiles them, slowly: docs/measurements/2026-11-24-constants.md
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(("program", "check"), checks_of(*conformance_programs("numba")[1:]))
def test_every_function(job: Job, outcomes: Outcomes, program: str, check: str, n: int, cache: Path) -> None:
    outcomes.expect(
        program,
        n,
        check,
        lambda: job(program, n, ok=False, timeout=1900, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(cache)),
    )
