"""Kernels that Numba caches from one run to the next, whatever the number of PEs: kept_kernels.py [cuda]
[first].

It fails if a kernel is compiled again. With `first`, the first run, kernels may be compiled.
"""

from __future__ import annotations

import sys

import atoll
import atoll.numba as dev
import numpy as np

CUDA = "cuda" in sys.argv
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x = atoll.zeros(8, np.int32, device="cuda" if CUDA else "cpu")


@dev.kernel(cache=True)
def shift(team, x, value):
    dev.p(team, x[1:], value, (team.my_pe + 1) % team.n_pes)
    dev.barrier(team, scope=dev.BLOCK)


@dev.kernel(cache=True)
def total(team, x):
    dev.reduce(team, x[2:4], x[:2], dev.SUM, scope=dev.BLOCK)


dev.launch(shift, 1, 32)(atoll.WORLD, x, me)
dev.launch(total, 1, 32)(atoll.WORLD, x)
if CUDA:
    from numba import cuda

    cuda.select_device(x.device)
    cuda.synchronize()
found = x.numpy() if CUDA else x
assert found[1] == (me - 1) % n and found[3] == n * (n - 1) // 2, found
compiled = 0
for kernel in (shift, total):
    stats = (kernel.device if CUDA else kernel.host).stats
    compiled += sum(stats.cache_misses.values())
    assert sum(stats.cache_misses.values()) + sum(stats.cache_hits.values()) == 1, stats
assert compiled == 0 or "first" in sys.argv, f"PE {me} of {n} compiled {compiled} kernels again"
print(f"PE {me} of {n} found {2 - compiled} kernels")
atoll.finalize()
