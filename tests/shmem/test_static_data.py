"""Static symmetric data in executables of every kind: statics.c and early_threads.c as users' compilers link them."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).parent
KINDS = {
    "pie": ["gcc", "-fPIE", "-pie", "-O2"],
    "no-pie": ["gcc", "-fno-pie", "-no-pie", "-O2"],
    "bind-now": ["gcc", "-O0", "-g", "-Wl,-z,now", "-Wl,-z,relro"],
    "norelro": ["gcc", "-Wl,-z,norelro"],
    "clang": ["clang", "-O2"],
    "clang-no-pie": ["clang", "-fno-pie", "-no-pie"],
    "ubsan": ["gcc", "-fsanitize=undefined", "-fno-sanitize-recover=all"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_statics_of(kind: str, tree: Path, tmp_path: Path, start: Run, oshrun: Run) -> None:
    compiler, *flags = KINDS[kind]
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    target = tmp_path / "statics"
    done = start(tree / "bin" / "oshcc", *flags, HERE / "statics.c", "-o", target, SHMEM_CC=compiler)
    assert done.returncode == 0, done.stderr
    for n in (1, 3):
        done = oshrun(n, target)
        assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_statics_with_threadsanitizer(
    compiler: str, tree: Path, tmp_path: Path, start: Run, oshrun: Run
) -> None:
    """gcc's works. clang's keeps its state in static memory, so symmetric statics are off, which is reported."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    target, source = tmp_path / "tsan", HERE / "programs" / "symmetry.c"
    done = start(tree / "bin" / "oshcc", "-fsanitize=thread", source, "-o", target, SHMEM_CC=compiler)
    if done.returncode != 0:
        pytest.skip(f"{compiler} has no ThreadSanitizer here")
    done = oshrun(2, target)
    if done.returncode == 66 or "unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer cannot run with this kernel's address randomisation")
    if compiler == "clang":
        assert done.stdout == "heap 1, static 0\n" * 2
        assert done.stderr.count("not symmetric in a program with clang's ThreadSanitizer") == 1
    else:
        assert done.stdout == "heap 1, static 1\n" * 2 and not done.stderr
