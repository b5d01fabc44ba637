"""Compiles what numba_kernels.py starts for GPUs instead, on a machine without one: typing and PTX, not results."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import atoll
import atoll.numba as dev
import numba
import numba.cuda
import numba.cuda.dispatcher

sys.path.insert(0, str(Path(__file__).parent))
import checks

compiled: set[Any] = set()
# Device functions are compiled for the GPU at hand; here is none.
numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))


PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")


def assemble(ptx: str) -> None:
    """Where ptxas is found; one that is older than libNVVM is told the version of PTX that it knows."""
    if PTXAS is None:
        return
    command = [PTXAS, "-arch=sm_90", "-o", "/dev/null", "/dev/stdin"]
    done = subprocess.run(command, input=ptx, text=True, capture_output=True, check=False)
    known = re.search(r"current version is '([\d.]+)'", done.stderr)
    if known is not None:
        ptx = re.sub(r"^\.version .*$", f".version {known[1]}", ptx, flags=re.M)
        done = subprocess.run(command, input=ptx, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def compile_for(function: Any, types: Any, cc: tuple[int, int]) -> str:
    ptx, _ = numba.cuda.compile(function, types, device=False, cc=cc, output="ptx", abi="numba")
    return str(ptx)


def launch(function: Any, grid: Any, block: Any, **options: Any) -> Any:
    if not isinstance(function, dev.Kernel):
        return real_launch(function, grid, block)

    def start(*arguments: Any) -> None:
        if any(
            hasattr(a, "__cuda_array_interface__") for a in arguments
        ):  # to be refused before anything compiles
            return real_launch(function, grid, block)(*arguments)
        values = [a.device("host") if isinstance(a, atoll.Team) else a for a in arguments]
        types = tuple(numba.typeof(value) for value in values)
        if (function, types) in compiled:
            return None
        ptx = compile_for(function.function, types, (9, 0))
        called = re.findall(r"\bcall\.uni\s+(?:\(\w+\),\s*)?(\w+)", ptx)
        assert ".entry" in ptx and all("atoll_" in name for name in called), (
            f"inlined, but for what never runs: {called}"
        )
        assemble(ptx)
        # Bulk copies are of sm_90, and so is what waits for them; for other GPUs they are the copies of threads.
        bulk = function.__name__ == "bulk"
        assert ("bulk_group" in ptx) == bulk
        if bulk:
            assert "bulk." not in compile_for(function.function, types, (8, 0))
        compiled.add((function, types))
        return None

    return start


real_launch, dev.launch = dev.launch, launch
checks.equal = checks.CollectiveInputs.check = lambda *_: None
source = Path(__file__).with_name("numba_kernels.py").read_text()
# Nothing runs, so that no results can be compared.
exec(
    compile(source.replace("    assert ", "    0 and "), "numba_kernels.py", "exec"), {"__name__": "kernels"}
)
print(len(compiled), "kernels")
