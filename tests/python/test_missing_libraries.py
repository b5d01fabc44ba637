"""An example's error for a missing library: its name and the command that installs it, before any array is
made.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, ROOT, Job, environment, launcher
from simulated import needs_plugin

# Python treats None in sys.modules as "not installed".
HIDE = """
import runpy, sys
for name in {hidden!r}: sys.modules[name] = None
sys.argv[:] = {argv!r}
sys.path.insert(0, {folder!r})
runpy.run_path(sys.argv[0], run_name="__main__")
"""
ALL = ("cupy", "torch", "triton", "cutlass", "numba", "numba_cuda", "matplotlib")
NUMBA, TORCH, CUPY = "pip install numba", "pip install torch", "pip install cupy-cuda13x"
PICTURE = "pip install matplotlib"

EXAMPLES = [
    ("10_heat/heat.py", ("cupy",), ALL, CUPY),
    ("10_heat/heat.py", ("torch",), ALL, TORCH),
    ("10_heat/heat.py", ("cpu", "8", "2", "heat.png"), ALL, PICTURE),
    ("11_kernels_jacobi/jacobi.py", (), ALL, NUMBA),
    ("12_kernels_experts/experts.py", (), ALL, NUMBA),
    ("12_kernels_experts/experts_triton.py", (), ALL, "pip install triton"),
    ("12_kernels_experts/experts_triton.py", (), ALL, TORCH),
    ("13_kernels_allreduce/allreduce.py", (), ALL, "pip install triton"),
    ("13_kernels_allreduce/allreduce.py", (), ALL, TORCH),
    ("14_kernels_cupy/ring.py", (), ALL, CUPY),
    ("15_kernels_cute/shadows.py", (), ALL, "nvidia-cutlass-dsl[cu13]"),
    ("15_kernels_cute/shadows.py", (), ALL, TORCH),
    ("16_kernels_terrain/water.py", (), ALL, NUMBA),
    ("16_kernels_terrain/water.py", (), ("matplotlib",), PICTURE),
    ("17_kernels_gradient/gradient.py", (), ALL, NUMBA),
    ("17_kernels_gradient/gradient.py", (), ("matplotlib",), PICTURE),
    ("18_kernels_matmul/matmul.py", (), ALL, TORCH),
    ("19_kernels_fft/fft.py", (), ("cupy",), CUPY),
    ("19_kernels_fft/fft.py", ("cpu",), ALL, PICTURE),
]


def hiding(name: str, arguments: tuple[str, ...], hidden: tuple[str, ...]) -> list[str]:
    program = ROOT / "examples" / name
    argv = [str(program), *arguments]
    return [sys.executable, "-c", HIDE.format(hidden=hidden, argv=argv, folder=str(program.parent))]


@pytest.mark.parametrize(("name", "arguments", "hidden", "words"), EXAMPLES)
def test_an_example_names_a_missing_library(
    name: str, arguments: tuple[str, ...], hidden: tuple[str, ...], words: str
) -> None:
    if "numba" not in hidden and name[:2] in ("16", "17"):
        pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    done = subprocess.run(
        hiding(name, arguments, hidden), env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )  # fmt: skip
    assert done.returncode == 1 and words in done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr


def test_every_kernel_example_is_tested() -> None:
    there = {f"{p.parent.name}/{p.name}" for p in ROOT.glob("examples/1[0-9]_*/*.py")}
    assert there == {name for name, *_ in EXAMPLES}


@pytest.mark.parametrize("n", [1, 2])
def test_the_one_without_kernels_needs_none_of_them(n: int) -> None:
    command = [launcher(), "run", "-n", str(n), *hiding("10_heat/heat.py", ("cpu", "16", "4"), ALL)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_a_job_names_it_too() -> None:
    command = [launcher(), "run", "-n", "2", *hiding("14_kernels_cupy/ring.py", (), ALL)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )
    assert done.returncode == 1 and CUPY in done.stderr, done.stderr


@needs_plugin
def test_kernels_for_gpus_name_the_compiler_that_is_missing(job: Job, package: str) -> None:
    pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    done = job(
        """
        sys.modules["numba_cuda"] = sys.modules["numba_cuda_mlir"] = None
        import atoll.numba as dev
        atoll.init()
        @dev.kernel
        def one(team, x):
            dev.p(team, x, 1, 0)
        dev.launch(one, 1, 1)(atoll.WORLD, atoll.zeros(1, device="cuda"))
        """,
        1,
        PYTHONPATH=package,
        ok=False,
    )
    assert done.returncode != 0 and "pip install 'numba-cuda[cu13]'" in done.stderr, done.stderr


@needs_plugin
def test_of_numba_cuda_mlir_another_version_is_named(job: Job, package: str, tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    (tmp_path / "numba_cuda_mlir").mkdir()
    (tmp_path / "numba_cuda_mlir/__init__.py").touch()
    facts = tmp_path / "numba_cuda_mlir-0.7.1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: numba-cuda-mlir\nVersion: 0.7.1\n")
    done = job(
        """
        import atoll.numba as dev
        atoll.init()
        @dev.kernel(compiler="numba-cuda-mlir")
        def one(team, x):
            dev.p(team, x, 1, 0)
        dev.launch(one, 1, 1)(atoll.WORLD, atoll.zeros(1, device="cuda"))
        """,
        1,
        PYTHONPATH=f"{tmp_path}:{package}",
        ok=False,
    )
    assert (
        done.returncode != 0 and "needs numba-cuda-mlir 0.6, and found 0.7.1: pip install" in done.stderr
    ), done.stderr
