"""The programs of docs/from-nvshmem4py.md that re-express other libraries' examples, on a simulated GPU or on CPUs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Job, environment
from kernel_pythons import with_kept_kernels
from ported import PROGRAMS, STARTED_BY
from simulated import needs_plugin

ON_SIMULATED_GPUS = ["quick_start.py", "calls.py"]
ON_CPUS = ["kernels.py", "on_stream.py", "ring_all_reduce.py", "moe_dataflow.py", "nbshmem_stencil.py"]
# Run by scripts/gpu.sh kernels; test_kernel_languages.py compiles kernels in CuTe DSL.
ON_GPUS = ["torch_pool.py", "triton_kernels.py", "cute_kernels.py", "nccl_cute.py"]
BESIDE_MPI = ["hello.py", "init_mpi.py"]  # by tests/clusters, too
UNDER_TORCHRUN = ["init_torch.py"]
# By test_nvshmem_core.py, and by tests/python_gpu/nvshmem_device.py.
UNCHANGED = ["unchanged.py", "unchanged_kernel.py"]


def test_all_programs_of_the_page_are_run_somewhere() -> None:
    by_atoll = [*ON_SIMULATED_GPUS, *ON_CPUS, *ON_GPUS]
    run = {"atoll": by_atoll, "python": ["unique_id.py"], "mpirun": BESIDE_MPI, "torchrun": UNDER_TORCHRUN}
    run["ATOLL_COMPAT=nvshmem"] = UNCHANGED
    assert {name: how for how, names in run.items() for name in names} == STARTED_BY


@needs_plugin
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("name", ON_SIMULATED_GPUS)
def test_on_a_simulated_gpu(job: Job, package: str, name: str, n: int) -> None:
    job(PROGRAMS[name], n, PYTHONPATH=package)


@pytest.fixture(scope="module")
def on_cpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs on CPUs, and of their compiled kernels: the first job compiles each once."""
    folder = tmp_path_factory.mktemp("on_cpus")
    for name in ON_CPUS:
        text, places = re.subn(r'^where((?:, \w+)*) = "cuda"', r'where\1 = "cpu"', PROGRAMS[name], flags=re.M)
        assert places == 1
        text = text.replace('{"stream": 0}\nTHRESHOLD', "{}\nTHRESHOLD")
        (folder / name).write_text(with_kept_kernels(text))
    return folder


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("name", ON_CPUS)
def test_on_cpus(kept_job: Job, on_cpus: Path, name: str, n: int) -> None:
    pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    kept_job(str(on_cpus / name), n, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(on_cpus))


def test_processes_that_something_else_started(tmp_path: Path) -> None:
    program = tmp_path / "unique_id.py"
    program.write_text(PROGRAMS["unique_id.py"])
    done = subprocess.run(
        [sys.executable, str(program)], env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
