"""atoll.torch on tensors of the host, if PyTorch is installed; on GPUs tests/python_gpu runs the same
programs.
"""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from jobs import Job

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed (pip install torch)"
)


@needs_torch
@pytest.mark.parametrize("n", [1, 2])
def test_compiled_programs_change_the_memory_itself(job: Job, n: int) -> None:
    inductor = shutil.which("g++") is not None and n == 2
    done = job("compiled.py", n, "cpu", *([] if inductor else ["quick"]), timeout=280)
    assert done.stdout.count("done") == n
