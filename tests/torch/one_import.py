"""A Python whose programs are forks of one process (preloaded.py), which has imported PyTorch. An import takes seconds.

It is a file to be started like any Python, by tests, `atoll run` and torchrun.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jobs import HANG_GUARD, environment

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / "build/torch/bin/python"


@contextmanager
def forking_python(python: Path) -> Iterator[str]:
    """Yield the path of a Python whose programs are forks of a process of `python`."""
    with tempfile.TemporaryDirectory(prefix="atoll-forks-") as name:
        folder = Path(name)
        client = folder / "python"  # by its name, `atoll run` takes it for Python
        client.write_text(f"#!{sys.executable} -IS\n" + (HERE / "preloaded_client.py").read_text())
        client.chmod(0o755)
        (folder / "real").write_text(str(python))
        server = subprocess.Popen(
            [str(python), str(HERE / "preloaded.py"), str(folder / "socket")],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n", "PyTorch was not imported"
            yield str(client)
        finally:
            server.communicate(timeout=HANG_GUARD)


@pytest.fixture(scope="session")
def forks() -> Iterator[str]:
    """The path of a Python that has imported PyTorch, and whose programs are forks of one process."""
    with forking_python(PYTHON) as path:
        yield path
