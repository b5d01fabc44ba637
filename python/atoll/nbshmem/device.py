"""nbshmem's operations in kernels of Numba, called by all threads of the grid.

`dest` and `src` are tuples with every PE's array. `npes` and `sync` are not used: the team of all PEs is known, and its
barrier has words of its own.
"""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from .. import numba as dev
from ..numba import _primitives as prim
from ..numba._dsl import _registration
from ..numba._dsl._registration import vocabulary
from ..numba._polling import WAIT, call_of, check_job
from ..numba._types import WORDS
from ..nvshmem.device.numba._teams import for_kernels, world

__all__ = [
    "allreduce_1d_sum",
    "allreduce_1d_sum_bcast",
    "allreduce_2d_sum",
    "allreduce_sum",
    "alltoall_1d",
    "alltoall_2d",
    "barrier_all",
    "barrier_all_volatile",
    "broadcast_1d",
    "broadcast_2d",
    "fence",
    "get_1d_threadidx_in_grid",
    "get_idx_1d_block",
    "get_num_threads_in_grid",
    "wait_until",
    "wait_until_bool",
]
BLOCK, EQ, GRID, SUM = dev.BLOCK, dev.EQ, dev.GRID, dev.SUM
i64, u8, ANY = types.int64, types.uint8, 0


@for_kernels
def fence():
    """Order this thread's earlier operations before its later ones, for all PEs."""
    dev.fence(world())


@vocabulary
def wait_equal(ary, idx, val):
    """Wait until an element of this PE equals a value: a word, or a truth value."""

    def of_word(ary, idx, val):
        dev.wait_until(world(), ary[idx:], EQ, val)

    def of_truth(ary, idx, val):
        since, control, call = i64(0), world().control, call_of(WAIT, 0, None)
        at, wanted = prim.address(ary[idx:]), u8(1) if val else u8(0)
        while prim.load_relaxed(u8, at) != wanted:
            since = check_job(control, call, ANY, -1, at, i64(wanted), i64(1 - wanted), since)
        prim.end_wait(since)
        prim.full_fence()

    if ary.dtype not in WORDS and ary.dtype != types.boolean:
        raise TypingError(
            f"nbshmem waits for integers of 16 to 64 bits and for booleans; the array is of {ary.dtype}. Wait for a word "
            "that the sender sets after the data."
        )
    return of_word if ary.dtype in WORDS else of_truth


@for_kernels
def wait_until(ary, idx, val):
    """Wait until ary[idx] of this PE is val."""
    wait_equal(ary, idx, val)


@for_kernels
def wait_until_bool(ary, idx, val):
    """Wait until ary[idx] of this PE is val."""
    wait_equal(ary, idx, val)


@for_kernels
def barrier_all(sync_shmem, my_pe, npes):
    """Meet all threads of the grids of all PEs."""
    dev.barrier(world(), GRID)


@for_kernels
def barrier_all_volatile(sync_shmem, my_pe, npes):
    """The same as barrier_all."""
    dev.barrier(world(), GRID)


@for_kernels
def get_idx_1d_block():
    """Return the thread's number in its block."""
    return dev.rank(BLOCK)


@for_kernels
def get_1d_threadidx_in_grid():
    """Return the thread's number in the grid."""
    return dev.rank(GRID)


@for_kernels
def get_num_threads_in_grid():
    """Return the number of threads of the grid."""
    return dev.size(GRID)


@for_kernels
def broadcast_1d(dest, src, elems, root, my_pe, sync):
    """Copy the first elements of PE root's src to dest of all PEs."""
    dev.broadcast(world(), dest[my_pe][:elems], src[my_pe][:elems], root, GRID)


@for_kernels
def broadcast_2d(dest, src, rows, root, my_pe, sync):
    """Copy the first rows of PE root's src to dest of all PEs."""
    dev.broadcast(world(), dest[my_pe][:rows], src[my_pe][:rows], root, GRID)


@for_kernels
def alltoall_1d(dest, src, elems, my_pe, sync):
    """Send part k of src, of that many elements, to PE k."""
    team = world()
    dev.alltoall(team, dest[my_pe], src[my_pe][: elems * team.n_pes], GRID)


@for_kernels
def alltoall_2d(dest, src, rows, my_pe, sync):
    """Send part k of src, of that many rows, to PE k."""
    team = world()
    dev.alltoall(team, dest[my_pe], src[my_pe][: rows * team.n_pes], GRID)


@for_kernels
def allreduce_1d_sum(dest, src, elems, my_pe, sync):
    """Set the first elements of dest of all PEs to the sums of src."""
    dev.reduce(world(), dest[my_pe], src[my_pe][:elems], SUM, GRID)


@for_kernels
def allreduce_2d_sum(dest, src, rows, my_pe, sync):
    """Set the first rows of dest of all PEs to the sums of src."""
    dev.reduce(world(), dest[my_pe], src[my_pe][:rows], SUM, GRID)


@for_kernels
def allreduce_sum(dest, src, elems, my_pe, sync):
    """The same as allreduce_1d_sum. If arrays have two axes, it reduces the first rows."""
    dev.reduce(world(), dest[my_pe], src[my_pe][:elems], SUM, GRID)


@for_kernels
def allreduce_1d_sum_bcast(dest, src, elems, my_pe, sync):
    """The same as allreduce_1d_sum."""
    dev.reduce(world(), dest[my_pe], src[my_pe][:elems], SUM, GRID)


_registration.registered()
