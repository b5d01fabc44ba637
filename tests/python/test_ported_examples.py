"""examples/porting: programs of NVSHMEM4Py and NCCL4Py, on host memory. CTest runs those in C++, tests/torch those in PyTorch."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from atoll.compat import _has_driver
from jobs import ROOT, Job

FOLDER = ROOT / "examples/porting"
WITH_CUPY = {
    "moe_dispatch.py": "{n} experts took",
    "heat_cupy.py": "has 32.6 of 1000",
    "sgd.py": "{n} ranks agree on 8 weights",
    "pipeline.py": "6 batches went through {n} layers",
}
needs_no_driver = pytest.mark.skipif(
    _has_driver(), reason="NVIDIA's driver is here: scripts/gpu.sh python is the test"
)


def test_there_are_twelve() -> None:
    programs = [file for file in FOLDER.iterdir() if file.suffix in (".cc", ".cu", ".py")]
    shown = set(re.findall(r"^\| `(\w+\.\w+)` \|", (FOLDER / "README.md").read_text(), re.M))
    assert {program.name for program in programs} == shown
    assert len(shown) == 12
    assert all("atoll" not in program.read_text().lower() for program in programs)


@pytest.mark.parametrize("program", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_programs_use_names_of_the_library(program: Path) -> None:
    """Names of the library's package that the program reads are in the list of NVIDIA's own."""
    tree = ast.parse(program.read_text())
    imported = {
        (one.asname or one.name): one.name
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Import)
        for one in statement.names
    }
    known = {
        **json.loads((ROOT / "api/nvshmem4py_names.json").read_text()),
        **json.loads((ROOT / "api/nccl4py_names.json").read_text()),
    }
    used = {
        (imported[node.value.id], node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported
    }
    ours = {(module, name) for module, name in used if module in known}
    assert ours
    # These come by `from .constants import *`, which the lists leave out.
    assert {name for module, name in ours if name not in known[module]} <= {"AVG", "my_pe", "n_pes"}


@needs_no_driver
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("program", WITH_CUPY)
def test_programs_with_cupy(job: Job, program: str, n: int) -> None:
    done = job("as_cupy.py", n, str(FOLDER / program), ATOLL_COMPAT="nvshmem,nccl")
    assert WITH_CUPY[program].format(n=n) in done.stdout
    assert len(done.stdout.splitlines()) == 1
