"""The block of docs/kernels.md for torch.compile: its kernel compiled for a GPU without one, its operator in a graph."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import atoll
import torch
import triton
from torch.fx.experimental.proxy_tensor import make_fx
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from page_blocks import block_with, wrong_uses

block = block_with("kernels", "from atoll.triton.inductor import ")
file = Path(sys.argv[1]) / "of_page.py"  # Triton reads the source of what it compiles
file.write_text(block.partition("\nstate = ")[0])
spec = importlib.util.spec_from_file_location("of_page", file)
assert spec is not None and spec.loader is not None
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)

signature = {"state": "*i64", "x": "*fp32", "flags": "*i64", "n": "constexpr"}
source = ASTSource(page.exchange, signature=signature, constexprs={(3,): 1024})
assert ".sys" in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


def step(state: torch.Tensor, x: torch.Tensor, flags: torch.Tensor) -> torch.Tensor:
    page.exchange_op(state, x, flags)
    return x + 1


arguments = torch.zeros(9, dtype=torch.int64), torch.zeros(2048), torch.zeros(1, dtype=torch.int64)
graph = make_fx(step, tracing_mode="fake")(*arguments)  # with shapes only: nothing runs
assert "torch.ops.mine.exchange.default(state_1, x_1, flags_1)" in graph.code, graph.code
changed = [one.name for one in torch.ops.mine.exchange.default._schema.arguments if one.is_write]
assert changed == ["x", "flags"], changed
modules = {"atoll": atoll, "team_tensor": page.team_tensor}
wrong = wrong_uses(block, modules)
assert not wrong and "\nstate = team_tensor(" in block, wrong
print("exchange")
