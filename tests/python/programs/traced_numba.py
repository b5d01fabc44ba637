"""A kernel in Numba whose operations and ranges are in the trace. With the argument `cuda` on a GPU."""

from __future__ import annotations

import atoll
import atoll.numba as dev
import numpy as np
from numba_setup import kernel, me, n, new, read, right, start

STEPS = 3


@kernel
def steps(team, x, signal, total, right):
    for step in range(1, STEPS + 1):
        began = dev.trace_begin(team)
        dev.put_signal(team, x[512:], x[:512], signal, step, dev.SET, right, scope=dev.BLOCK)
        dev.signal_wait_until(team, signal, dev.GE, step, scope=dev.BLOCK)
        inner = dev.trace_begin(team)
        dev.trace_end(team, inner, "a name of more than twenty-four bytes", dev.BLOCK)
        dev.barrier(team, scope=dev.BLOCK)
        dev.trace_end(team, began, "step", dev.BLOCK)
    dev.quiet(team, scope=dev.BLOCK)
    dev.reduce(team, total, x[:1], dev.SUM, scope=dev.BLOCK)


x, signal, total = new(1024, np.float64, me), new(1, np.uint64), new(1, np.float64)
start(steps, x, signal, total, right)
assert read(total)[0] == n * (n - 1) / 2
atoll.finalize()
