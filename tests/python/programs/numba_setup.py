"""Shared by the programs of Numba's kernels: arrays and launches on the host, or on GPUs with the argument `cuda`.

With `mlir` also on GPUs, by kernels of numba-cuda-mlir.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import atoll
import atoll.numba as dev
import numpy as np

MLIR = "mlir" in sys.argv
CUDA = "cuda" in sys.argv or MLIR
SCOPE = dev.BLOCK
where: dict[str, Any] = {"device": "cuda"} if CUDA else {}
cuda: Any = None
if MLIR:
    from numba_cuda_mlir import cuda
elif CUDA:
    from numba import cuda

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
if CUDA:
    cuda.select_device(atoll.zeros(1, **where).device)
right, left = (me + 1) % n, (me - 1) % n
kernel_of = functools.partial(dev.kernel, compiler="numba-cuda-mlir" if MLIR else "numba-cuda")
kernel = kernel_of(cache=True)


def new(shape: Any, dtype: Any, values: Any = None) -> Any:
    """A symmetric array that holds `values`."""
    x = atoll.zeros(shape, dtype, **where)
    if values is not None:
        write(x, values)
    return x


def write(x: Any, values: Any) -> None:
    x[...] = np.broadcast_to(np.asarray(values, x.dtype), x.shape)
    atoll.barrier_all()


def read(x: Any) -> Any:
    return x.numpy() if CUDA else x.copy()


def start(function: Any, *arguments: Any, grid: int = 1, block: int = 64) -> None:
    """Start a kernel on all PEs, and wait until it is done on all of them."""
    cooperative = grid > 1
    dev.launch(function, grid, block, cooperative=cooperative)(atoll.WORLD, *arguments)
    if CUDA:
        cuda.synchronize()
    atoll.barrier_all()
