"""The programs of docs/porting.md that re-express other libraries' examples, on a simulated GPU or on CPUs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, ROOT, Job, environment
from simulated import needs_plugin

PROGRAMS = dict(
    re.findall(
        r"^```python\n# (\w+\.py):[^\n]*\n(.*?)^```$", (ROOT / "docs/porting.md").read_text(), re.S | re.M
    )
)


def test_all_programs_of_the_page_are_run_here() -> None:
    assert sorted(PROGRAMS) == ["calls.py", "kernels.py", "quick_start.py", "unique_id.py"]


@needs_plugin
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("name", ["quick_start.py", "calls.py"])
def test_on_a_simulated_gpu(job: Job, package: str, name: str, n: int) -> None:
    job(PROGRAMS[name], n, PYTHONPATH=package)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_kernels_on_cpus(job: Job, n: int) -> None:
    pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    job(PROGRAMS["kernels.py"].replace('where = "cuda"', 'where = "cpu"'), n)


def test_processes_that_something_else_started(tmp_path: Path) -> None:
    program = tmp_path / "unique_id.py"
    program.write_text(PROGRAMS["unique_id.py"])
    done = subprocess.run(
        [sys.executable, str(program)], env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
