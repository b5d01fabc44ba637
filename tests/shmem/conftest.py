"""An installed tree, and programs compiled in it by the user's compiler wrappers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ATOLL_TEST_BUILD", ROOT / "build" / "release"))
HANG_GUARD = 500
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run_to_the_end(
    *command: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run to the end. The environment has only those of our variables that the test sets."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SMA_"))}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=kept | environment, capture_output=True, text=True,
        check=False, timeout=HANG_GUARD, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="session")
def start() -> Run:
    """Runs a command."""
    return run_to_the_end


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree installed by `cmake --install`, moved to another folder."""
    folder = tmp_path_factory.mktemp("shmem")
    done = run_to_the_end("cmake", "--install", BUILD, "--prefix", folder / "first", "--component", "atoll")
    assert done.returncode == 0, done.stderr
    return Path(shutil.move(folder / "first", folder / "moved"))


@pytest.fixture(scope="session")
def program(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles one of programs/ with oshcc, once."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name: str) -> Path:
        target = folder / name
        if not target.exists():
            source = Path(__file__).parent / "programs" / f"{name}.c"
            done = run_to_the_end(tree / "bin" / "oshcc", "-Wall", "-Wextra", "-Werror", source, "-o", target)
            assert done.returncode == 0, done.stderr
        return target

    return compiled


@pytest.fixture
def oshrun(tree: Path) -> Run:
    """Runs a job."""

    def run(n: int, *command: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_to_the_end(tree / "bin" / "oshrun", "-n", n, "--timeout", 60, *command, **environment)

    return run
