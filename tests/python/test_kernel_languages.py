"""Tests of atoll.cupy and atoll.triton that need no GPU; scripts/gpu.sh kernels runs them on real ones."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import atoll.cupy
import numpy as np
import pytest
from atoll import _atoll
from atoll._kernels import resident
from jobs import HANG_GUARD, PROGRAMS, ROOT, Done, Job, environment, launcher, python
from kernel_pythons import with_triton
from program_checks import Outcomes, checks_of
from simulated import needs_plugin


def test_structures_are_those_of_the_headers() -> None:
    at = _atoll._kernel_layout()
    for name, kind in (("Team", atoll.cupy.TEAM), ("Mailbox", atoll.cupy.MAILBOX)):
        assert kind.itemsize == at[name]
        for field, place in at.items():
            if field.startswith(f"{name}."):
                assert kind.fields is not None
                assert kind.fields[field.split(".")[1]][1] == place, field


def test_an_argument_that_is_not_a_team_is_refused() -> None:
    with pytest.raises(TypeError, match=r"pass an atoll\.Team"):
        atoll.cupy.team(3)  # type: ignore[arg-type]


def test_a_mailbox_of_host_memory_is_refused() -> None:
    with pytest.raises(TypeError, match=r"block is ndarray; it must be .*: atoll\.zeros"):
        atoll.cupy.mailbox(np.zeros(64, np.uint8), 8)


@needs_plugin
@pytest.mark.parametrize("n", [1, 2])
def test_cupys_launch_refuses_wrong_arguments(job: Job, package: str, n: int) -> None:
    """Uses a fake CuPy, whose kernels only keep their arguments. programs/cupy_kernels.py tests the real one."""
    done = job("cupy_launch.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


def test_options_find_the_headers(tmp_path: Path) -> None:
    """Compiles with nvcc, which has NVRTC's front end."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    source = tmp_path / "kernel.cu"
    source.write_text(
        "#include <atoll/device/device.hpp>\n"
        'extern "C" __global__ void k(atl::device::Team team, int* x) { atl::device::p(team, x, 1, 0); }\n'
    )
    command = [
        nvcc,
        *atoll.cupy.options(),
        "-arch=sm_90",
        "-ptx",
        "-o",
        str(tmp_path / "kernel.ptx"),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_GUARD, check=False)
    assert done.returncode == 0, done.stderr


def test_triton_kernels_compile(package: str) -> None:
    done = subprocess.run(
        [with_triton(False), str(PROGRAMS / "triton_ptx.py")],
        env=environment(PYTHONPATH=package), capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "8 kernels, and one of Inductor's\n"), (
        done.stdout + done.stderr
    )


def test_triton_kernels_with_a_trace_compile(package: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [with_triton(False), str(PROGRAMS / "triton_traced_ptx.py")],
        env=environment(PYTHONPATH=package, ATOLL_TRACE=str(tmp_path / "out.pftrace")),
        capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    two_operations_in_a_range = r"(taken (ordered )+written ){2}taken written\n"
    assert done.returncode == 0 and re.fullmatch(two_operations_in_a_range, done.stdout), (
        done.stdout + done.stderr
    )


@pytest.mark.parametrize(("n", "how"), [(1, "compile"), (3, "interpret")])
def test_elements_of_distributed_arrays_in_triton(package: str, n: int, how: str) -> None:
    interpreted = how == "interpret"
    done = subprocess.run(
        [launcher(), "run", "-n", str(n), with_triton(interpreted), str(PROGRAMS / "distributed_kernels.py"), "triton", how],
        env=environment(PYTHONPATH=package, **({"TRITON_INTERPRET": "1"} if interpreted else {})),
        capture_output=True, text=True, timeout=HANG_GUARD, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n" * n, done.stdout + done.stderr


@pytest.mark.timeout(3 * HANG_GUARD)
def test_triton_kernels_have_checks_and_bounds_where_they_are_asked_for(package: str, tmp_path: Path) -> None:
    """Kernels are cached separately for each level of checks: another level does not reuse them."""
    for check, words in (("args", "do not look"), ("all", "look at addresses"), ("args", "do not look")):
        done = subprocess.run(
            [with_triton(False), str(PROGRAMS / "triton_extras.py"), str(tmp_path)],
            env=environment(PYTHONPATH=package, ATOLL_CHECK=check), capture_output=True, text=True,
            timeout=HANG_GUARD, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, f"32 kernels that {words}\n"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes()


@pytest.mark.timeout(2000)  # the interpreter is slow: docs/measurements/2026-11-24-constants.md
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(("program", "check"), checks_of("triton_interpreted.py"))
def test_triton_on_cpus(package: str, outcomes: Outcomes, program: str, check: str, n: int) -> None:
    expect_on_cpus(package, outcomes, program, check, n)


@needs_plugin
@pytest.mark.timeout(2000)
@pytest.mark.parametrize(("program", "check"), checks_of("triton_refused.py"))
def test_tritons_launch_refuses_wrong_arguments(
    package: str, outcomes: Outcomes, program: str, check: str
) -> None:
    expect_on_cpus(package, outcomes, program, check, 2)


def expect_on_cpus(package: str, outcomes: Outcomes, program: str, check: str, n: int) -> None:
    """Expect a check of a program, which runs in Triton's interpreter."""

    def run() -> Done:
        return subprocess.run(
            [launcher(), "run", "-n", str(n), with_triton(True), str(PROGRAMS / program)],
            env=environment(TRITON_INTERPRET="1", PYTHONPATH=package), capture_output=True, text=True,
            timeout=1900, check=False,
        )  # fmt: skip

    outcomes.expect(program, n, check, run)


@pytest.mark.timeout(2 * HANG_GUARD)
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("name", ["13_kernels_allreduce/allreduce.py", "18_kernels_matmul/matmul.py"])
def test_triton_examples_on_cpus(package: str, name: str, n: int) -> None:
    done = subprocess.run(
        [launcher(), "run", "-n", str(n), with_triton(True), str(ROOT / "examples" / name)],
        env=environment(TRITON_INTERPRET="1", PYTHONPATH=package), capture_output=True, text=True,
        timeout=2 * HANG_GUARD, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert f"interpreted, {n} PEs" in done.stdout and "right" in done.stdout


def test_the_largest_grid_is_all_multiprocessors_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses a fake driver. programs/cute_launches.py and triton_kernels.py use the real one."""

    class Driver:
        def cuLibraryGetKernel(self, kernel: Any, library: Any, name: Any) -> int:
            kernel._obj.value = library.value + len(name.value)
            return 0

        def cuKernelGetFunction(self, function: Any, kernel: Any) -> int:
            function._obj.value = 10 * kernel.value
            return 0

        def cuOccupancyMaxActiveBlocksPerMultiprocessor(
            self, each: Any, function: Any, threads: Any, shared: Any
        ) -> int:
            each._obj.value = 2048 // threads.value
            return 1 if shared.value > 1 << 16 else 0

        def cuCtxGetDevice(self, gpu: Any) -> int:
            gpu._obj.value = 3
            return 0

        def cuDeviceGetAttribute(self, value: Any, which: Any, gpu: int) -> int:
            value._obj.value = 132 if (which.value, gpu) == (16, 3) else 0
            return 0

    monkeypatch.setattr(resident, "_driver", Driver)
    assert resident.kernel_of(5, "one") == 80
    assert resident.most_blocks(80, 256, 1024) == 8 * 132
    assert resident.whole_blocks(80, 256, 1024) == 8 * 132
    resident.check_grid(132, 512, 132, 3)
    for blocks in (0, 133):
        with pytest.raises(
            ValueError, match=f"^{blocks} blocks of 512 threads cannot run at once; GPU 3 holds 132$"
        ):
            resident.check_grid(blocks, 512, 132, 3)
    with pytest.raises(RuntimeError, match="PerMultiprocessor: CUDA error 1"):
        resident.most_blocks(80, 256, 1 << 17)


def test_a_missing_library_is_named_with_its_installation() -> None:
    for module, words in (
        ("cute", "pip install 'nvidia-cutlass-dsl[cu13]'"),
        ("triton", "pip install triton"),
    ):
        code = f"import sys; sys.modules['cutlass'] = sys.modules['triton'] = None; import atoll.{module}"
        done = python(code)
        assert done.returncode != 0 and words in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("module", "stub", "words"),
    [
        ("numba", "numba", "needs Numba 0.61 or later, and found 0.58.1: pip install -U numba"),
        ("triton", "triton", "needs Triton 3.6 or later, and found 0.58.1: pip install -U triton"),
        ("cute", "cutlass", "needs NVIDIA's CuTe DSL 4.8 or later, and found 0.58.1: pip install -U"),
    ],
)
def test_an_old_library_is_named_with_both_versions(
    tmp_path: Path, module: str, stub: str, words: str
) -> None:
    package = tmp_path / stub
    (package / "cute").mkdir(parents=True)
    for file in ("__init__.py", "cute/__init__.py"):
        (package / file).write_text("__version__ = '0.58.1'\n")
    name = "nvidia-cutlass-dsl" if stub == "cutlass" else stub
    facts = tmp_path / f"{name.replace('-', '_')}-0.58.1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.58.1\n")
    done = python(f"import atoll.{module}", PYTHONPATH=str(tmp_path))
    assert done.returncode != 0 and words in done.stderr, done.stderr
