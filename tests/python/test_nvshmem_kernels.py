"""nvshmem.core.device.numba: kernels by NVSHMEM4Py's names, on the host, and compiled for GPUs, which no test needs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from atoll.compat import _has_driver
from jobs import HANG_GUARD, PROGRAMS, ROOT, Job, environment, launcher, python
from test_numba_gpus import needs, with_numba_cuda

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
pytestmark = pytest.mark.skipif(
    _has_driver(), reason="NVIDIA's driver is here: tests/python_gpu/nvshmem_device.py is the test"
)


@pytest.mark.timeout(4 * HANG_GUARD)
def test_kernels_on_the_host(job: Job) -> None:
    """Every family by its functions for one thread, which every scope is there."""
    assert job("nvshmem_numba.py", 2, "thread", NUMBA_OPT="0").stdout == "done\n" * 2


@pytest.mark.timeout(4 * HANG_GUARD)
def test_all_functions_for_blocks_compile_for_gpus(package: str) -> None:
    done = subprocess.run(
        [with_numba_cuda(), str(PROGRAMS / "nvshmem_numba.py"), "ptx", "_block"],
        env=environment(PYTHONPATH=package, NVSHMEM_HEAP_KIND="SYSMEM"), capture_output=True, text=True, timeout=4 * HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stdout + done.stderr


@pytest.mark.timeout(4 * HANG_GUARD)
def test_all_functions_for_blocks_compile_by_numba_cuda_mlir() -> None:
    needs("numba_cuda_mlir", "numba-cuda-mlir")
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "nvshmem_numba.py"), "ptx", "mlir", "_block"],
        env=environment(NVSHMEM_HEAP_KIND="SYSMEM"), capture_output=True, text=True, timeout=4 * HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stdout + done.stderr


@pytest.mark.timeout(4 * HANG_GUARD)
def test_the_kernels_of_a_ported_program_compile(package: str) -> None:
    done = subprocess.run(
        [
            *(launcher(), "run", "-n", "1", with_numba_cuda(), str(PROGRAMS / "ported_kernels.py")),
            str(ROOT / "examples/porting/allreduce_numba.py"),
        ],
        env=environment(PYTHONPATH=package, NVSHMEM_HEAP_KIND="SYSMEM"), capture_output=True, text=True,
        timeout=4 * HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.stdout == "one_shot\nby_library\n", done.stdout + done.stderr


def test_a_program_of_nbshmem(job: Job) -> None:
    assert job("nbshmem_kernels.py", 2, ATOLL_COMPAT="nbshmem", NUMBA_OPT="0").stdout == "done\n" * 2


MISTAKES = {
    "nv.get_multicast_array(7, x)": "has no multicast memory; store to get_peer_array(arr, pe) of each PE",
    "nv.reduce(0, x, x, 'avg')": "reduce: op is 'avg'; it must be one of sum, prod, min, max, and, or, xor",
    "nv.put(x, 3, 0)": "src is int64; it must be an array",
    "nv.signal_wait(3, 5, 1)": "signal_var is int64; it must be an array",
    "nv.barrier(99)": "uses a team without this PE, a destroyed team",
    "nv.sync_all()": "the job is not joined (nvshmem.core.init)",
}


def test_mistakes_are_named() -> None:
    code = f"""
import atoll.compat
atoll.compat.install("nvshmem")
import numba, numpy, nvshmem.core
import nvshmem.core.device.numba as nv
import nvshmem.core.device.numba_cuda_mlir as mlir
assert mlir.put is nv.put and "ask_smem" not in mlir.__all__
try:
    nv.my_pe()
except nvshmem.core.NvshmemInvalid as error:
    assert "my_pe is for kernels" in error.msg
else:
    print("my_pe was carried out")
for mistake, wanted in {MISTAKES!r}.items():
    names = dict(nv=nv)
    exec(f"def kernel(x): {{mistake}}", names)
    try:
        numba.njit(names["kernel"])(numpy.zeros(4))
    except (numba.TypingError, nvshmem.core.NvshmemInvalid) as error:
        assert wanted in str(error), error
    else:
        print(mistake, "was carried out")
"""
    done = python(code)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
