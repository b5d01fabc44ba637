"""shmem4py from PyPI, unmodified: built by our oshcc, imported into python3, its own test suite, and a program of ours."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/shmem4py-venv/bin/python"
HANG_GUARD = 900

# Finds the executable's addresses, and other mappings there. Static objects are remapped for programs that are linked
# to the library, and python3 is not.
STATICS = """
import os, sys

def executable():
    with open("/proc/self/maps") as file: lines = [line.split(maxsplit=5) for line in file]
    own = [line for line in lines if len(line) == 6 and line[5].strip() == os.path.realpath(sys.executable)]
    low, high = own[0][0].split("-")[0], own[-1][0].split("-")[1]
    within = [line for line in lines if low <= line[0].split("-")[0] < high]
    return [(line[0], line[1], line[5:]) for line in within]

before = executable()
assert before and any("w" in line[1] for line in before)
{use}
assert executable() == before
"""


def run(*command: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("ATOLL_", "SHMEM_", "SHMEM4PY_", "SMA_"))
    }
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=kept | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        capture_output=True, text=True, check=False, timeout=HANG_GUARD, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def peer() -> Path:
    """The interpreter that has shmem4py."""
    done = run("scripts/shmem4py.sh", "--quick")
    if done.returncode == 75:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    return PYTHON


def oshrun(n: int, *command: object, **changes: str) -> subprocess.CompletedProcess[str]:
    return run(ROOT / ".venv/bin/oshrun", "-n", n, "--timeout", 800, *command, **changes)


@pytest.mark.timeout(2 * HANG_GUARD)  # the first one compiles shmem4py, for 60 s of a core
@pytest.mark.parametrize("n", [1, 4])
def test_its_own_suite(peer: Path, n: int) -> None:
    if run(peer, "-c", "import numpy, sys; sys.exit(numpy.__version__ >= '2')").returncode != 0:
        pytest.skip("shmem4py 1.0.0 needs NumPy 1, which Python 3.13 and newer do not have")
    tests = ROOT / "build/shmem4py-src/shmem4py-1.0.0/test"
    suite = ("-m", "unittest", "discover", "-s", tests, "-p", "test_*.py")
    # Lines are labelled, because unittest writes them in pieces, and other PEs' output could come between.
    done = oshrun(n, "--label", peer, *suite, ATOLL_CHECK="all")
    assert done.returncode == 0, done.stdout + done.stderr
    for pe in range(n):
        said = re.findall(rf"^\[{pe}\] (Ran \d+ tests|OK.*)", done.stderr, re.MULTILINE)
        assert [line.split(" in ")[0] for line in said] == ["Ran 110 tests", "OK"], done.stderr


# Tests of its suite that use its layer of C (ffi, lib, _getbuffer), or that fail with NumPy 2 in shmem4py too.
OF_ITS_OWN_LAYER = {
    *("TestAlloc.testAlloc", "TestBuf.testBadType", "TestBuf.testContiguous", "TestBuf.testGetBuffer"),
    *(
        "TestBuf.testReadOnly",
        "TestCtx.testNew",
        "TestTeam.testNew",
        "TestTeam.testSplit",
        "_FailedTest.test_ptr",
    ),
}
OF_NUMPY_1 = {"TestRMA.testGet", "TestRMA.testGetNBI"}


@pytest.mark.timeout(2 * HANG_GUARD)  # the first one compiles shmem4py, for 60 s of a core
@pytest.mark.parametrize("n", [1, 4])
def test_its_own_suite_on_atolls_form(peer: Path, tmp_path: Path, n: int) -> None:
    """ATOLL_COMPAT=shmem4py: the suite's `import shmem4py` finds atoll.shmem."""
    tests = ROOT / "build/shmem4py-src/shmem4py-1.0.0/test"
    suite = ("-m", "unittest", "discover", "-s", tests, "-p", "test_*.py")
    launch = (ROOT / ".venv/bin/atoll", "run", "-n", n, "--timeout", 120, "--output-dir", tmp_path)
    done = run(*launch, ROOT / ".venv/bin/python", *suite, ATOLL_COMPAT="shmem4py")
    assert done.returncode == 1, done.stderr
    for pe in range(n):
        output = (tmp_path / f"pe{pe}.err").read_text()
        cases = re.findall(r"^(?:ERROR|FAIL): (\w+) \((?:\w+\.)*?(\w+)(?:\.\1)?\)$", output, re.MULTILINE)
        assert {f"{group}.{case}" for case, group in cases} == OF_ITS_OWN_LAYER | OF_NUMPY_1, output
        assert "Ran 109 tests" in output


def test_a_program_that_knows_both_says_the_same(peer: Path) -> None:
    program = ROOT / "examples/shmem4py/histogram.py"
    ours = run(ROOT / ".venv/bin/atoll", "run", "-n", 4, ROOT / ".venv/bin/python", program)
    theirs = oshrun(4, peer, program, "shmem4py")
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    results = [[line for line in done.stdout.splitlines() if "µs" not in line] for done in (ours, theirs)]
    assert results[0][1:] == results[1][1:] and len(results[0]) == 14
    assert [lines[0] for lines in results] == [
        f"{name}.shmem over Atoll, 4 PEs" for name in ("atoll", "shmem4py")
    ]


def test_python3_keeps_its_statics(peer: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STATICS.format(use="from shmem4py import shmem\nshmem.barrier_all()"))
    done = oshrun(2, peer, program)
    assert done.returncode == 0, done.stderr


def test_the_library_alone_in_python3(tmp_path: Path) -> None:
    """Loaded with RTLD_LOCAL by ctypes: a job, its heap, a put and a child, and the executable is left alone."""
    library = next((ROOT / ".venv").glob("lib*/python3*/site-packages/atoll/lib/libatoll_shmem.so"))
    program = tmp_path / "program.py"
    use = f"""
import ctypes
shmem = ctypes.CDLL({str(library)!r}, mode=os.RTLD_LOCAL | os.RTLD_NOW)
shmem.shmem_malloc.restype = ctypes.c_void_p
shmem.shmem_malloc.argtypes = [ctypes.c_size_t]
shmem.shmem_long_p.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_int]
shmem.shmem_init()
me, n = shmem.shmem_my_pe(), shmem.shmem_n_pes()
word = shmem.shmem_malloc(8)
shmem.shmem_long_p(word, me + 1, (me + 1) % n)
shmem.shmem_barrier_all()
assert ctypes.c_long.from_address(word).value == (me - 1) % n + 1
child = os.fork()
if child == 0: os._exit(0)
assert os.waitpid(child, 0)[1] == 0
shmem.shmem_finalize()
"""
    program.write_text(STATICS.format(use=use))
    done = oshrun(2, ROOT / ".venv/bin/python", program)
    assert done.returncode == 0, done.stderr
