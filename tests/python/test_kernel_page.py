"""The blocks of Python on docs/kernels.md that run on CPUs, or compile by Triton alone.

tests/torch and tests/cute have those that need PyTorch or CuTe DSL, and test_numba.py runs the first one.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

import atoll
import pytest
from jobs import HANG_GUARD, PROGRAMS, ROOT, Done, Job, environment, launcher
from kernel_pythons import with_triton
from page_blocks import block_with, blocks, wrong_uses

# A line of each block, in the page's order, and the file of the test that runs or compiles it.
TESTED_BY = {
    "# ring.py: ": "tests/python/test_numba.py",
    "from numba_cuda_mlir import cuda": "tests/python/test_kernel_page.py",
    "import atoll, atoll.triton as dev, ": "tests/python/test_kernel_page.py",
    "from atoll.triton.inductor import ": "tests/torch/test_blocks.py",
    "import atoll, atoll.cute as dev, ": "tests/cute/test_cute.py",
}

# numba-cuda-mlir's place, taken by Numba for CPUs: a launch calls the kernel once. atoll.numba looks for the real one
# as it is imported.
AS_NUMBA = """
import types, numba, atoll.numba
class Kernel:
    def __init__(self, function):
        self.function = numba.njit(function)
    def __getitem__(self, configuration):
        return self.function
stand_in = sys.modules["numba_cuda_mlir"] = types.ModuleType("numba_cuda_mlir")
stand_in.cuda = types.SimpleNamespace(jit=Kernel)
atoll.init()
right = (atoll.my_pe() + 1) % atoll.n_pes()
x = atoll.zeros((2, 1000))
x[0] = atoll.my_pe() + 1
"""
SHOW = """
atoll.barrier_all()
print(f"PE {atoll.my_pe()}: {x[1].min():.0f} to {x[1].max():.0f}")
"""
FROM_THE_LEFT = ["PE 0: 2 to 2", "PE 1: 1 to 1"]


def replaced(text: str, changes: dict[str, str]) -> str:
    """Replace words, each of which the page must have."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def test_each_block_has_its_test() -> None:
    assert len(blocks("kernels")) == len(TESTED_BY)
    for (words, test), block in zip(TESTED_BY.items(), blocks("kernels"), strict=True):
        assert words in block and (ROOT / test).exists(), words


def test_wrong_uses_are_found() -> None:
    program = "atoll.zeroes(3)\natoll.zeros()\natoll.put(1, 2, 3, streem=4)\nother.put()\natoll.zeros(3)"
    found = wrong_uses(program, {"atoll": atoll})
    assert sorted(line.split(":")[0] for line in found) == ["atoll.put", "atoll.zeroes", "atoll.zeros"]


def test_the_block_of_numba_cuda_mlir_on_cpus(job: Job) -> None:
    """Its compiler needs a GPU to start a kernel, so Numba's for CPUs takes its place."""
    pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    block = block_with("kernels", "from numba_cuda_mlir import cuda")
    done = job(AS_NUMBA + replaced(block, {'.device("device")': '.device("host")'}) + SHOW, 2)
    assert sorted(done.stdout.splitlines()) == FROM_THE_LEFT, done.stdout


def test_the_block_of_triton_by_its_interpreter(package: str, tmp_path: Path) -> None:
    on_cpus = {
        ", torch, ": ", ",
        ', device="cuda", xp=torch': "",
        "ring[(1,)](": "x[0] = atoll.my_pe() + 1\nring[(1,)](",
        ".device()": '.device("host")',
        "torch.cuda.synchronize()": "",
    }
    program = tmp_path / "ring.py"
    program.write_text(replaced(block_with("kernels", "import atoll, atoll.triton as dev, "), on_cpus) + SHOW)
    command = [launcher(), "run", "-n", "2", with_triton(True), str(program)]
    done = run(command, PYTHONPATH=package, TRITON_INTERPRET="1")
    assert sorted(done.stdout.splitlines()) == FROM_THE_LEFT, done.stdout + done.stderr


def test_the_block_of_triton_compiles(package: str, tmp_path: Path) -> None:
    done = run([with_triton(False), str(PROGRAMS / "page_triton.py"), str(tmp_path)], PYTHONPATH=package)
    assert (done.returncode, done.stdout) == (0, "ring\n"), done.stdout + done.stderr


LOOP = """
import atoll.numba as dev
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
@dev.kernel(cache=True)
def pass_on(team, box, src, dst, left, right, steps):
{loop}
box, src, dst = dev.mailbox(64), np.full(8, me, "f8"), np.full(8, -1.0)
dev.launch(pass_on, 1, 64)(atoll.WORLD, box, src, dst, (me - 1) % n, (me + 1) % n, 3)
print(dst.tolist() == [(me - 1) % n] * 8)
"""


def test_the_loop_of_messages_on_cpus(job: Job, tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    page = (ROOT / "docs/kernels.md").read_text()
    (block,) = re.findall(r"^  ```python\n(.*?)^  ```$", page, re.MULTILINE | re.DOTALL)
    loop = textwrap.indent(textwrap.dedent(block), "    ")
    done = job(LOOP.replace("{loop}", loop), 2, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "True\n" * 2


def test_a_range_within_a_kernel_is_one_that_test_kernel_traces_runs() -> None:
    first, middle, last = block_with("slow", "dev.trace_begin(team)").splitlines()
    assert middle == "exchange(team, grid)"
    tested = (PROGRAMS / "traced_numba.py").read_text()
    for line in (first, last.partition("#")[0].rstrip().replace("halo", "step")):
        assert f" {line}\n" in tested, line


def run(command: list[str], **changes: str) -> Done:
    return subprocess.run(
        command, env=environment(**changes), capture_output=True, text=True, timeout=HANG_GUARD, check=False
    )
