"""Compiles a kernel of Triton with a trace for a GPU on a machine without one: its events are in the PTX."""

from __future__ import annotations

import tempfile
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_compiling import TEAM, load

KERNEL = """import atoll.triton as dev

@dev.kernel
def step(team, x, flags):
    began = dev.trace_begin(team)
    dev.put_signal(team, x, x, 64, flags, 1, dev.SET, 0)
    dev.signal_wait_until(team, flags, dev.GE, 1)
    dev.trace_end(team, began, "step")
"""

with tempfile.TemporaryDirectory() as folder:  # Triton reads the source of what it compiles
    module = Path(folder) / "kernels.py"
    module.write_text(KERNEL)
    source = ASTSource(load(module).step, signature={"team": TEAM, "x": "*fp32", "flags": "*i64"})
    ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
print(
    "begins" if "mov.u64 a, %globaltimer" in ptx else "", "ends" if "mov.u64 t, %globaltimer" in ptx else ""
)
