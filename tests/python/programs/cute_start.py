"""The common part of cute_kernels.py and cute_collectives.py.

It runs kernels on real GPUs (needs CuTe DSL and PyTorch), or, with the argument `ptx`, only compiles them.
"""

from __future__ import annotations

import sys
from typing import Any

import atoll
import atoll.cute as dev
import cutlass
import cutlass.cute as cute
import numpy as np
from atoll._device import DeviceTeam
from checks import equal, run
from cutlass import Float32, Int32, Int64, Uint32
from cutlass.cute.runtime import make_fake_compact_tensor

PTX = "ptx" in sys.argv  # with CUTE_DSL_ARCH set
if PTX:
    me, n, team = 0, 2, dev.team(DeviceTeam(0, 2, 0, 1 << 40, 0, 0, 1, 0, 0, 0))
    compiled = 0
else:
    import torch

    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    torch.cuda.set_device(atoll.zeros(1, device="cuda").device)
    team = dev.team(atoll.WORLD)
right, left = (me + 1) % n, (me - 1) % n
NAMES = {np.int32: Int32, np.int64: Int64, np.uint32: Uint32, np.float32: Float32, np.float64: cutlass.Float64, np.uint8: cutlass.Uint8}  # fmt: skip
NAMES |= {np.int8: cutlass.Int8, np.int16: cutlass.Int16, np.uint16: cutlass.Uint16, np.float16: cutlass.Float16, "bfloat16": cutlass.BFloat16}  # fmt: skip


def new(shape: Any, dtype: Any, values: Any = None) -> Any:
    shape = (shape,) if isinstance(shape, int) else shape
    if PTX:
        return make_fake_compact_tensor(NAMES[dtype], shape, stride_order=tuple(reversed(range(len(shape)))))
    x = atoll.zeros(shape, dtype, device="cuda", xp=torch)
    if values is not None:
        x.copy_(torch.as_tensor(np.ascontiguousarray(np.broadcast_to(values, x.shape)).astype(dtype)))
    torch.cuda.synchronize()
    atoll.barrier_all()
    return x


@cute.jit
def go(kernel: cutlass.Constexpr, team: dev.Team, values, grid: cutlass.Constexpr, block: cutlass.Constexpr):
    kernel(team, values).launch(grid=[grid, 1, 1], block=[block, 1, 1], cooperative=grid > 1)


def start(kernel: Any, *arguments: Any, grid: int = 1, block: int = 64, team: Any = team) -> None:
    """Start a kernel on all PEs, and wait until it is done on all of them."""
    if PTX:
        global compiled
        cute.compile(go, kernel, team, arguments, grid, block)
        compiled += 1
        return
    values = tuple(dev.tensor(x) if isinstance(x, torch.Tensor) else x for x in arguments)
    go(kernel, team, values, grid, block)
    torch.cuda.synchronize()
    atoll.barrier_all()


def same(found: Any, wanted: Any) -> None:
    if not PTX:
        equal(found.cpu().numpy(), np.asarray(wanted, found.cpu().numpy().dtype))


def a_mailbox(room: int) -> Any:
    """Return a mailbox, and its memory, which must be kept."""
    if PTX:
        return dev.Mailbox(Int64(0), Int64(room)), None
    memory = new(dev.mailbox_bytes(n, room), np.uint8)
    return dev.mailbox(memory, room), memory


def run_checks(names: dict[str, Any]) -> None:
    """Run all functions whose names begin with check_."""
    if not PTX:
        return run(names)
    for name, check in list(names.items()):
        if name.startswith("check_"):
            check()
    print(compiled, "kernels")
    return None
