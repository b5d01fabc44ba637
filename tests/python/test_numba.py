"""atoll.numba: kernels on host arrays, at several PE counts; compiled kernels are kept from one run to the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import Job

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("numba")


@pytest.mark.parametrize("n", [1, 2, 4])
def test_every_function(job: Job, n: int, cache: Path) -> None:
    assert "all checks passed" in job("numba_kernels.py", n, NUMBA_CACHE_DIR=str(cache)).stdout
