"""A program of nbshmem. On the host numba.njit compiles its kernels; with the argument `cuda` cuda.jit does, on GPUs."""

from __future__ import annotations

import sys
from typing import Any

import atoll.numba as dev
import nbshmem
import numpy as np
from mpi4py import MPI

CUDA = "cuda" in sys.argv
if CUDA:
    from numba import cuda


def jit(function: Any) -> Any:
    return cuda.jit(function) if CUDA else dev.kernel(function, cache=True).host


def launch(kernel: Any, *arguments: Any) -> None:
    if CUDA:
        kernel[(2, 2), (4, 8)](*arguments)
    else:
        kernel(*arguments)
    nbshmem.barrier_all_host()


@jit
def collectives(ary, total, sent, dealt, flags, my_pe, npes, sync):
    nbshmem.allreduce_1d_sum(total, ary, ary[my_pe].shape[0] - 1, my_pe, sync)
    nbshmem.broadcast_1d(sent, ary, 3, npes - 1, my_pe, sync)
    nbshmem.alltoall_1d(dealt, ary, 2, my_pe, sync)
    nbshmem.barrier_all(sync, my_pe, npes)
    if nbshmem.get_1d_threadidx_in_grid() == 0:
        right = (my_pe + 1) % npes
        ary[right][0] = 1000 + my_pe
        nbshmem.fence()
        flags[right][1] = True
        nbshmem.wait_until_bool(flags[my_pe], 1, True)
    nbshmem.barrier_all(sync, my_pe, npes)


comm = MPI.COMM_WORLD
nbshmem.init(comm)
me, n = comm.Get_rank(), comm.Get_size()
ary = nbshmem.array(np.arange(2 * n) + 10 * me)
total, sent = nbshmem.alloc((2 * n,), np.int64), nbshmem.alloc_like(np.zeros(2 * n, np.int64))
dealt, sync = nbshmem.alloc((2 * n,), np.int64), nbshmem.array(np.full(n + 1, False))
flags = nbshmem.alloc((2,), np.bool_)
launch(collectives, ary, total, sent, dealt, flags, me, n, sync)
every = np.array([np.arange(2 * n) + 10 * pe for pe in range(n)])


def equal(x: Any, wanted: Any) -> None:
    found = x[me].copy_to_host() if CUDA else x[me]
    assert np.array_equal(found, wanted), (me, found, wanted)


least = np.arange(2 * n)
equal(total, np.where(least < 2 * n - 1, every.sum(0), 0))
equal(sent, np.where(least < 3, every[n - 1], 0))
equal(dealt, every[:, 2 * me : 2 * me + 2].ravel())
equal(ary, np.where(least == 0, 1000 + (me - 1) % n, every[me]))
nbshmem.barrier_all_host_on_stream(sync, 0, n)
print("done", flush=True)
