"""Legal differences between the calls of a team's members: no level of checks reports a mismatch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
LEVELS = ("basic", "args", "all")
PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("level", LEVELS)
def test_c(level: str, n: int, program: Callable[[str], Path], oshrun: Run) -> None:
    done = oshrun(n, program("legal"), ATOLL_CHECK=level)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("of_c", ["0", "1", "[02]"])
@pytest.mark.parametrize("level", LEVELS)
def test_c_beside_python(
    level: str, of_c: str, program: Callable[[str], Path], tree: Path, start: Run
) -> None:
    """A PE's number is the second field of what the launcher leaves for it."""
    choose = f'case "$ATOLL_LAUNCHED" in [0-9]*:{of_c}:*) exec "$1" python;; *) exec "$2" "$3";; esac'
    done = start(
        tree / "bin/atoll", "run", "-n", 4, "--timeout", 60, "sh", "-c", choose, "sh", program("legal"),
        sys.executable, PROGRAMS / "legal.py", ATOLL_CHECK=level,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
