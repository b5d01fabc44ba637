"""Barriers and collectives. Teams are handles, in nvshmem.core.Teams or of team_split_strided."""

from __future__ import annotations

from .... import numba as dev
from ....numba._addresses import bytes_of, lesser
from ....numba._checks import check
from ....numba._collectives import BROADCAST, REDUCE, broadcast_bytes
from ....numba._dsl._registration import vocabulary
from ....numba._polling import call_of
from ....numba._reductions import reduce_elements
from ._teams import for_kernels, team_of, world
from ._words import op_of

__all__ = [
    "alltoall",
    "alltoall_block",
    "alltoall_warp",
    "barrier",
    "barrier_all",
    "barrier_all_block",
    "barrier_all_warp",
    "barrier_block",
    "barrier_warp",
    "broadcast",
    "broadcast_block",
    "broadcast_warp",
    "fcollect",
    "fcollect_block",
    "fcollect_warp",
    "reduce",
    "reduce_block",
    "reduce_warp",
    "reducescatter",
    "reducescatter_block",
    "reducescatter_warp",
    "sync",
    "sync_all",
    "sync_all_block",
    "sync_all_warp",
    "sync_block",
    "sync_warp",
]
THREAD, WARP, BLOCK = dev.THREAD, dev.WARP, dev.BLOCK


@vocabulary
def reduced(team, dst, src, op, scope):
    operator = op_of("reduce", op)
    check("reduce", {"dst": dst, "src": src, "op": operator})

    def reduced(team, dst, src, op, scope):
        call, count = call_of(REDUCE, 0, None), lesser(dst.size, src.size)
        reduce_elements(call, team, dst, src, operator, count, scope)

    return reduced


@vocabulary
def scattered(team, dst, src, op, scope):
    operator = op_of("reducescatter", op)

    def scattered(team, dst, src, op, scope):
        dev.reduce_scatter(team, dst, src, operator, scope)

    return scattered


@vocabulary
def sent(team, dst, src, root, scope):
    check("broadcast", {"dst": dst, "src": src, "root": root})

    def sent(team, dst, src, root, scope):
        nbytes = lesser(bytes_of(dst), bytes_of(src))
        broadcast_bytes(call_of(BROADCAST, 0, None), team, dst, src, nbytes, root, scope)

    return sent


@for_kernels
def sync(team):
    """Meet the other PEs of a team, by one thread."""
    dev.sync(team_of(team), THREAD)


@for_kernels
def sync_warp(team):
    """Meet the other PEs of a team, by all threads of a warp."""
    dev.sync(team_of(team), WARP)


@for_kernels
def sync_block(team):
    """Meet the other PEs of a team, by all threads of a block."""
    dev.sync(team_of(team), BLOCK)


@for_kernels
def sync_all():
    """sync of all PEs, by one thread."""
    dev.sync(world(), THREAD)


@for_kernels
def sync_all_warp():
    """sync of all PEs, by all threads of a warp."""
    dev.sync(world(), WARP)


@for_kernels
def sync_all_block():
    """sync of all PEs, by all threads of a block."""
    dev.sync(world(), BLOCK)


@for_kernels
def barrier(team):
    """sync, after this PE's operations are complete, by one thread."""
    dev.barrier(team_of(team), THREAD)


@for_kernels
def barrier_warp(team):
    """sync, after this PE's operations are complete, by all threads of a warp."""
    dev.barrier(team_of(team), WARP)


@for_kernels
def barrier_block(team):
    """sync, after this PE's operations are complete, by all threads of a block."""
    dev.barrier(team_of(team), BLOCK)


@for_kernels
def barrier_all():
    """barrier of all PEs, by one thread."""
    dev.barrier(world(), THREAD)


@for_kernels
def barrier_all_warp():
    """barrier of all PEs, by all threads of a warp."""
    dev.barrier(world(), WARP)


@for_kernels
def barrier_all_block():
    """barrier of all PEs, by all threads of a block."""
    dev.barrier(world(), BLOCK)


@for_kernels
def reduce(team, dst_array, src_array, op):
    """Set dst_array of all PEs to their src_array combined by op, a text, by one thread."""
    reduced(team_of(team), dst_array, src_array, op, THREAD)


@for_kernels
def reduce_warp(team, dst_array, src_array, op):
    """Set dst_array of all PEs to their src_array combined by op, a text, by all threads of a warp."""
    reduced(team_of(team), dst_array, src_array, op, WARP)


@for_kernels
def reduce_block(team, dst_array, src_array, op):
    """Set dst_array of all PEs to their src_array combined by op, a text, by all threads of a block."""
    reduced(team_of(team), dst_array, src_array, op, BLOCK)


@for_kernels
def reducescatter(team, dst_array, src_array, op):
    """Reduce src_array and scatter the result, by one thread: dst_array gets this PE's part."""
    scattered(team_of(team), dst_array, src_array, op, THREAD)


@for_kernels
def reducescatter_warp(team, dst_array, src_array, op):
    """Set dst_array to this PE's part of what reduce makes, by all threads of a warp."""
    scattered(team_of(team), dst_array, src_array, op, WARP)


@for_kernels
def reducescatter_block(team, dst_array, src_array, op):
    """Set dst_array to this PE's part of what reduce makes, by all threads of a block."""
    scattered(team_of(team), dst_array, src_array, op, BLOCK)


@for_kernels
def fcollect(team, dst_array, src_array):
    """Join src_array of all PEs in dst_array, by one thread."""
    dev.fcollect(team_of(team), dst_array, src_array, THREAD)


@for_kernels
def fcollect_warp(team, dst_array, src_array):
    """Join src_array of all PEs in dst_array, by all threads of a warp."""
    dev.fcollect(team_of(team), dst_array, src_array, WARP)


@for_kernels
def fcollect_block(team, dst_array, src_array):
    """Join src_array of all PEs in dst_array, by all threads of a block."""
    dev.fcollect(team_of(team), dst_array, src_array, BLOCK)


@for_kernels
def broadcast(team, dst_array, src_array, root=0):
    """Copy src_array of PE root of the team to dst_array of all, by one thread."""
    sent(team_of(team), dst_array, src_array, root, THREAD)


@for_kernels
def broadcast_warp(team, dst_array, src_array, root=0):
    """Copy src_array of PE root of the team to dst_array of all, by all threads of a warp."""
    sent(team_of(team), dst_array, src_array, root, WARP)


@for_kernels
def broadcast_block(team, dst_array, src_array, root=0):
    """Copy src_array of PE root of the team to dst_array of all, by all threads of a block."""
    sent(team_of(team), dst_array, src_array, root, BLOCK)


@for_kernels
def alltoall(team, dst_array, src_array):
    """Send part k of src_array to PE k of the team, by one thread."""
    dev.alltoall(team_of(team), dst_array, src_array, THREAD)


@for_kernels
def alltoall_warp(team, dst_array, src_array):
    """Send part k of src_array to PE k of the team, by all threads of a warp."""
    dev.alltoall(team_of(team), dst_array, src_array, WARP)


@for_kernels
def alltoall_block(team, dst_array, src_array):
    """Send part k of src_array to PE k of the team, by all threads of a block."""
    dev.alltoall(team_of(team), dst_array, src_array, BLOCK)
