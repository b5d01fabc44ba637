"""The kernel of docs/kernels.md in Triton, compiled for a GPU on a machine without one, and without PyTorch."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import atoll
import atoll.triton as dev
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_compiling import TEAM, load

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from page_blocks import block_with, wrong_uses

block = block_with("kernels", "import atoll, atoll.triton as dev, ")
sys.modules.setdefault("torch", types.ModuleType("torch"))  # the block imports it, the kernel does not use it
file = Path(sys.argv[1]) / "of_page.py"
file.write_text(block.partition("\natoll.init()")[0])
ring = load(file).ring
signature = {"team": TEAM, "x": "*fp32", "flags": "*i64", "n": "constexpr"}
source = ASTSource(ring, signature=signature, constexprs={(3,): 1024})
assert ".sys" in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
found = wrong_uses(block, {"atoll": atoll, "dev": dev})
assert not found, found
print(ring.__name__)
