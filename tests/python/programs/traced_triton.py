"""A kernel in Triton whose operations and ranges are in the trace, by Triton's interpreter on CPUs.

With the argument `cuda` on a GPU, where PyTorch has the arrays.
"""

from __future__ import annotations

import sys
from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
import triton.language as tl

CUDA = "cuda" in sys.argv
STEPS = 3
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()


@dev.kernel
def steps(team, x, signal, total, N: tl.constexpr):
    right = (team.my_pe + 1) % team.n_pes
    x, total = x.to(tl.pointer_type(tl.float64)), total.to(tl.pointer_type(tl.float64))
    signal = signal.to(tl.pointer_type(tl.uint64))
    for step in range(1, N + 1):
        began = dev.trace_begin(team)
        dev.put_signal(team, x + 512, x, 512, signal, step, dev.SET, right)
        dev.signal_wait_until(team, signal, dev.GE, step)
        inner = dev.trace_begin(team)
        dev.trace_end(team, inner, "a name of more than twenty-four bytes")
        dev.barrier(team)
        dev.trace_end(team, began, "step")
    dev.quiet(team)
    dev.reduce(team, total, x, 1, dev.SUM)


def new(size: int, dtype: Any) -> Any:
    if not CUDA:
        return atoll.zeros(size, dtype)
    import torch

    return atoll.zeros(size, dtype, device="cuda", xp=torch)


x, signal, total = new(1024, np.float64), new(1, np.uint64), new(1, np.float64)
x[...] = me
arrays = (x, signal, total)
if CUDA:
    import torch

    torch.cuda.set_device(x.device)
    torch.cuda.synchronize()
atoll.barrier_all()
if CUDA:
    steps[(1,)](atoll.WORLD, *(one.data_ptr() for one in arrays), N=STEPS)
    torch.cuda.synchronize()
else:
    steps[(1,)](atoll.WORLD.device("host"), *(one.ctypes.data for one in arrays), N=STEPS)
atoll.barrier_all()
assert float(total[0]) == n * (n - 1) / 2, total
atoll.finalize()
