"""CuTe kernels of the examples, of docs/from-nvshmem4py.md and docs/kernels.md, compiled and not run.

With CUTE_DSL_ARCH set; it needs no GPU and no PyTorch.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import atoll
import atoll.cute as dev
import cutlass.cute as cute
from atoll._device import DeviceTeam
from cutlass import Float32, Int32, Int64
from cutlass.cute.runtime import make_fake_compact_tensor

ROOT = Path(__file__).resolve().parents[3]
sys.modules.setdefault(
    "torch", types.ModuleType("torch")
)  # the programs import it, the kernels do not use it
team = dev.team(DeviceTeam(0, 2, 0, 1 << 40, 0, 0, 1, 0, 0, 0))


def array(kind: Any, *shape: int) -> Any:
    return make_fake_compact_tensor(
        kind, shape, stride_order=tuple(reversed(range(len(shape)))), assumed_align=16
    )


def of_page(program: str, text: str) -> dict[str, Any]:
    """Return the definitions of a program of a page; they may compile kernels, too."""
    definitions = text.partition("\natoll.init()")[0]
    # The DSL reads a kernel's source from a file.
    file = Path(sys.argv[1]) / program
    file.write_text(definitions)
    names: dict[str, Any] = {"__name__": "page", "__file__": str(file)}
    exec(compile(definitions, str(file), "exec"), names)
    return names


sys.path[:0] = [str(ROOT / "examples/15_kernels_cute"), str(ROOT / "tests/python")]
import shadows  # noqa: E402
from page_blocks import block_with, wrong_uses  # noqa: E402
from ported import PROGRAMS  # noqa: E402

rows, size = 160, 320
bands = rows // shadows.TILE * (size // shadows.TILE)
arrays = (
    array(Float32, rows, size),
    array(Float32, rows, size),
    array(Int32, bands),
    array(Float32, rows, size),
)
cute.compile(shadows.run, team, *arrays, Float32(1.0))
print("shadows.run")
if len(sys.argv) > 1:
    page = of_page("cute_kernels.py", PROGRAMS["cute_kernels.py"])
    for name in ("collective", "shift", "ring", "sums", "round_trip"):
        kind = Int64 if name == "round_trip" else Float32
        cute.compile(page["run"], page[name], team, array(kind, 4096), array(kind, 2, 4096), array(Int64, 4))
        print(name)
    page = of_page("nccl_cute.py", PROGRAMS["nccl_cute.py"])
    assert page["compiled"].kernel_info
    print("compiled")
    row = page["row"]
    for name, arguments in {
        "run_who": (team, array(Int32, 12)),
        "run_barriers": (team, array(Int64, 1), array(Int32, 4)),
        "run_reduce_copy": (
            array(Float32, row),
            array(Float32, row),
            array(Float32, 2 * row),
            array(Float32, 2, row),
        ),
    }.items():
        cute.compile(page[name], team, *arguments)
        print(name)
    block = block_with("kernels", "import atoll, atoll.cute as dev, ")
    page = of_page("ring.py", block)
    cute.compile(page["run"], team, array(Float32, 2, 1024), array(Int64, 1))
    wrong = wrong_uses(block, {"atoll": atoll, "dev": dev})
    assert not wrong, wrong
    print("ring")
