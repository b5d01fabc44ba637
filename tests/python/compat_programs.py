"""Runs programs of other packages by atoll.compat, below `atoll run`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from atoll.compat import _has_driver
from jobs import HANG_GUARD, environment, launcher

without_driver = pytest.mark.skipif(
    _has_driver(), reason="NVIDIA's driver is here, and with it cuda.core and memory of a GPU"
)


def run(
    folder: Path, pes: int, text: str, package: str = "nvshmem", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a program under `atoll run`."""
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [str(launcher()), "run", "-n", str(pes), str(program)],
        env=environment(ATOLL_COMPAT=package, ATOLL_PYTHON=sys.executable, **settings),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )
