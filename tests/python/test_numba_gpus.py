"""Kernels in Numba compiled for GPUs, which none of these tests needs."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, PROGRAMS, ROOT, environment

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")


def needs(module: str, package: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{package} is not installed (pip install '{package}[cu13]')")


def with_numba_cuda() -> str:
    """Return the Python that has numba-cuda: this one, or that of build/numba-cuda. Its compiler is libNVVM."""
    python = sys.executable
    if importlib.util.find_spec("numba_cuda") is None:
        if not (ROOT / "build/numba-cuda/packages").exists():
            pytest.skip("numba-cuda is not installed (scripts/setup.sh numba-cuda, where nvcc is)")
        python = str(ROOT / "build/numba-cuda/bin/python")
    loads = [python, "-c", "import cuda.pathfinder; cuda.pathfinder.load_nvidia_dynamic_lib('nvvm')"]
    if subprocess.run(loads, capture_output=True, timeout=HANG_GUARD, check=False).returncode != 0:
        pytest.skip("numba-cuda finds no libNVVM (CUDA_HOME, or pip install 'numba-cuda[cu13]')")
    return python


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, package: str) -> Path:
    """The memory accesses of kernels as numba-cuda compiles them. Without a GPU: libNVVM and, if found,
    ptxas.
    """
    found = tmp_path_factory.mktemp("ptx") / "numba-cuda.json"
    return compile_kernels(with_numba_cuda(), package, found)


def compile_kernels(python: str, package: str, found: Path, *by: str) -> Path:
    done = subprocess.run(
        [python, str(PROGRAMS / "numba_ptx.py"), *by, str(found)],
        env=environment(PYTHONPATH=package), capture_output=True, text=True, timeout=4 * HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return found


def test_elements_of_distributed_arrays(package: str) -> None:
    done = subprocess.run(
        [with_numba_cuda(), str(PROGRAMS / "distributed_kernels.py"), "numba", "compile"],
        env=environment(PYTHONPATH=package), capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stdout + done.stderr


@pytest.mark.timeout(5 * HANG_GUARD)  # compiles slowly: docs/measurements/2026-11-24-constants.md
def test_the_same_kernels_compile_for_gpus(compiled: Path) -> None:
    """Every kernel of the programs."""
    source = "".join((PROGRAMS / f"numba_{name}.py").read_text() for name in ("kernels", "messages"))
    wanted = set(re.findall(r"^ *@kernel\n *def (\w+)", source, re.M))
    assert len(wanted) > 10
    assert {name.split()[0] for name, *_ in json.loads(compiled.read_text())} == wanted


@pytest.mark.timeout(8 * HANG_GUARD)  # both compilations
def test_numba_cuda_mlir_compiles_them_to_the_same_operations_on_memory(
    compiled: Path, package: str, tmp_path: Path
) -> None:
    needs("numba_cuda_mlir", "numba-cuda-mlir")
    theirs = json.loads(compile_kernels(sys.executable, package, tmp_path / "mlir.json", "mlir").read_text())
    by_numba_cuda = json.loads(compiled.read_text())
    assert [one for one in theirs if one not in by_numba_cuda] == []
