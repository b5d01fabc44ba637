"""Compiles a kernel of Triton with a trace for a GPU on a machine without one: its events are in the PTX."""

from __future__ import annotations

import re
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
# The number of a record is asked for before the operation, and used after it. A range takes its record at its end.
parts = r"atom\.relaxed\.gpu\.global\.add\.u64|(?:fence|st\.release|red\.release|atom\.release|ld\.acquire)|st\.global\.v2\.u64 \[a\],"
letters = {"atom.relaxed": "taken", "st.global.v2": "written"}
print(*(letters.get(one[:12], "ordered") for one in re.findall(parts, ptx)))
