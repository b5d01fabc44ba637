"""Divides the tests of PyTorch among the processes of pytest-xdist, and finds modules of the Python tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
sys.path.append(str(Path(__file__).parent))
from one_import import forks  # noqa: F401 (a fixture)


class FourRanksTogether(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Each test by itself, but those of one run of ranks in one process, which keeps it."""

    def _split_scope(self, nodeid: str) -> str:
        together = ("::test_on_four_ranks[", "::test_ported_examples")
        return next((name for name in together if name in nodeid), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FourRanksTogether:
    """Return the scheduler, for pytest-xdist."""
    return FourRanksTogether(config, log)
