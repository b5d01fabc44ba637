"""Compiles the kernels of the conformance programs for GPUs on a machine without one: typing and PTX, not results.

By numba-cuda, or as `numba_ptx.py mlir` by numba-cuda-mlir. The kernels' accesses to memory are written to
the file that the last argument names.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import atoll
import atoll.numba as dev
import numba
from atoll._kernels.documentation import table as operations_table

sys.path.insert(0, str(Path(__file__).parent))
import checks

MLIR = "mlir" in sys.argv
# Device functions are compiled for the GPU at hand; this machine has no GPU.
if MLIR:
    import numba_cuda_mlir.tools
    from atoll.numba._dsl._mlir._kinds import back
    from numba_cuda_mlir import cuda

    numba_cuda_mlir.tools._cached_cc = (9, 0)
else:
    import numba.cuda.dispatcher
    from numba import cuda

    numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
compiled: dict[Any, list[str]] = {}


def assemble(ptx: str) -> None:
    """Run ptxas if it is found; for one older than libNVVM, change PTX's version to one that it knows."""
    if PTXAS is None:
        return
    command = [PTXAS, "-arch=sm_90", "-o", "/dev/null", "/dev/stdin"]
    done = subprocess.run(command, input=ptx, text=True, capture_output=True, check=False)
    known = re.search(r"current version is '([\d.]+)'", done.stderr)
    if known is not None:
        ptx = re.sub(r"^\.version .*$", f".version {known[1]}", ptx, flags=re.M)
        done = subprocess.run(command, input=ptx, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def called(ptx: str) -> list[str]:
    return re.findall(r"\bcall\.uni\s+(?:\(\w+\),\s*)?(\w+)", ptx)


def on_memory(ptx: str) -> list[str]:
    """Return the kinds of instructions on memory of inline PTX, and of barriers, without those on registers.

    Their number depends on the compiler, which may copy code after a branch into both sides, or join the
    copies. Functions without a caller do not count: numba-cuda-mlir leaves inlined ones there.
    """
    parts = re.findall(r"^\.?[^\n]*\.(entry|func)\b([^{]*?)\n\{\n(.*?)^\}", ptx, re.S | re.M)
    bodies = [
        body for kind, head, body in parts if kind == "entry" or any(name in head for name in called(ptx))
    ]
    assert bodies
    ptx = "\n".join(bodies)
    inline = "\n".join(re.findall(r"// begin inline asm(.*?)// end inline asm", ptx, re.S))
    found = re.findall(r"\b(?:ld|st|atom|red|fence|cp|membar|trap)\b[^;]*;", inline)
    found += re.findall(r"\b(?:bar(?:\.warp)?\.sync|barrier\.sync|shfl\.sync)\b", ptx)
    return sorted({re.sub(r"%[a-z]+\d+", "R", re.sub(r"\s+", " ", one)) for one in found})


def compile_for(function: Any, types: Any, cc: tuple[int, int]) -> str:
    if MLIR:
        types = tuple(map(back, types))
    ptx, _ = cuda.compile(function, types, device=False, cc=cc, output="ptx", abi="numba")
    return ptx.decode() if isinstance(ptx, bytes) else str(ptx)


def launch(function: Any, grid: Any, block: Any, **options: Any) -> Any:
    if not isinstance(function, dev.Kernel):
        return real_launch(function, grid, block)

    def start(*arguments: Any) -> None:
        if any(hasattr(a, "__cuda_array_interface__") for a in arguments):  # refused before anything compiles
            return real_launch(function, grid, block)(*arguments)
        values = [a.device("host") if isinstance(a, atoll.Team) else a for a in arguments]
        types = tuple(numba.typeof(value) for value in values)
        known = any(function is one for one, _ in compiled) if MLIR else (function, types) in compiled
        if known:  # numba-cuda-mlir is slow: one list of types each
            return None
        ptx = compile_for(function.function, types, (9, 0))
        assert ".entry" in ptx and all("atoll_" in name for name in called(ptx)), (
            f"inlined, but for what never runs: {called(ptx)}"
        )
        if not MLIR:  # it inlines the function into the kernel
            given = "bound_ns" in inspect.getsource(function.function)
            assert ("atoll_check_within" in ptx) == given, f"{function.__name__}: a bound that was not given"
        assemble(ptx)
        # Bulk copies need sm_90, and so do their waits; for other GPUs threads copy.
        bulk = function.__name__ == "bulk"
        assert ("bulk_group" in ptx) == bulk
        if bulk:
            assert "bulk." not in compile_for(function.function, types, (8, 0))
        compiled[function, types] = [f"{function.__name__} {types[1:]}", *on_memory(ptx)]
        return None

    return start


def run_all(names: dict[str, Any]) -> None:
    """Run every check_* like checks.run, but do not end the job: another program follows."""
    for name, check in list(names.items()):
        if name.startswith("check_"):
            check()


real_launch, dev.launch = dev.launch, launch
checks.equal = checks.CollectiveInputs.check = lambda *_: None


def execute(program: str) -> dict[str, Any]:
    """Run a program whose arrays are all in the host's memory. Nothing runs, so no results are compared."""
    source = Path(__file__).with_name(f"{program}.py").read_text().replace("    assert ", "    0 and ")
    source = source.replace('"cuda" in sys.argv or MLIR', "False")
    source = source.replace("if MLIR:\n    from", "if True:\n    from") if MLIR else source
    names: dict[str, Any] = {"__name__": program}
    exec(compile(source, f"{program}.py", "exec"), names)
    return names


checks.run = run_all
setup = sys.modules["numba_setup"] = ModuleType("numba_setup")
vars(setup).update(execute("numba_setup"))
for program in operations_table()["languages"]["numba"]["programs"]:
    execute(program.removesuffix(".py"))
atoll.finalize()
print(len(compiled), "kernels")
Path(sys.argv[-1]).write_text(json.dumps(sorted(compiled.values()), indent=1))
