"""Barriers and collectives. Teams are handles, in nvshmem.core.Teams or of team_split_strided."""

# mypy: ignore-errors
from __future__ import annotations

from .... import cute as dev
from ...._kernels import REDUCE_TEXTS
from ._teams import team_of, world

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


def op_of(name: str, op):
    """Return Atoll's operator for a text."""
    if op not in REDUCE_TEXTS:
        raise TypeError(
            f"nvshmem.core.device.cute.{name}: op is {op!r}; it must be one of {', '.join(REDUCE_TEXTS)}"
        )
    return getattr(dev, op.upper())


def sync(team):
    """Meet the other PEs of a team, by one thread."""
    dev.sync(team_of(team), THREAD)


def sync_warp(team):
    """Meet the other PEs of a team, by all threads of a warp."""
    dev.sync(team_of(team), WARP)


def sync_block(team):
    """Meet the other PEs of a team, by all threads of a block."""
    dev.sync(team_of(team), BLOCK)


def sync_all():
    """sync of all PEs, by one thread."""
    dev.sync(world(), THREAD)


def sync_all_warp():
    """sync of all PEs, by all threads of a warp."""
    dev.sync(world(), WARP)


def sync_all_block():
    """sync of all PEs, by all threads of a block."""
    dev.sync(world(), BLOCK)


def barrier(team):
    """sync, after this PE's operations are complete, by one thread."""
    dev.barrier(team_of(team), THREAD)


def barrier_warp(team):
    """sync, after this PE's operations are complete, by all threads of a warp."""
    dev.barrier(team_of(team), WARP)


def barrier_block(team):
    """sync, after this PE's operations are complete, by all threads of a block."""
    dev.barrier(team_of(team), BLOCK)


def barrier_all():
    """barrier of all PEs, by one thread."""
    dev.barrier(world(), THREAD)


def barrier_all_warp():
    """barrier of all PEs, by all threads of a warp."""
    dev.barrier(world(), WARP)


def barrier_all_block():
    """barrier of all PEs, by all threads of a block."""
    dev.barrier(world(), BLOCK)


def reduce(team, dst, src, op):
    """Set dst of all PEs to their src combined by op, a text, by one thread."""
    dev.reduce(team_of(team), dst, src, op_of("reduce", op), THREAD)


def reduce_warp(team, dst, src, op):
    """Set dst of all PEs to their src combined by op, a text, by all threads of a warp."""
    dev.reduce(team_of(team), dst, src, op_of("reduce", op), WARP)


def reduce_block(team, dst, src, op):
    """Set dst of all PEs to their src combined by op, a text, by all threads of a block."""
    dev.reduce(team_of(team), dst, src, op_of("reduce", op), BLOCK)


def reducescatter(team, dst, src, op):
    """Set dst to this PE's part of what reduce makes, by one thread."""
    dev.reduce_scatter(team_of(team), dst, src, op_of("reducescatter", op), THREAD)


def reducescatter_warp(team, dst, src, op):
    """Set dst to this PE's part of what reduce makes, by all threads of a warp."""
    dev.reduce_scatter(team_of(team), dst, src, op_of("reducescatter", op), WARP)


def reducescatter_block(team, dst, src, op):
    """Set dst to this PE's part of what reduce makes, by all threads of a block."""
    dev.reduce_scatter(team_of(team), dst, src, op_of("reducescatter", op), BLOCK)


def fcollect(team, dst, src):
    """Join src of all PEs in dst, by one thread."""
    dev.fcollect(team_of(team), dst, src, THREAD)


def fcollect_warp(team, dst, src):
    """Join src of all PEs in dst, by all threads of a warp."""
    dev.fcollect(team_of(team), dst, src, WARP)


def fcollect_block(team, dst, src):
    """Join src of all PEs in dst, by all threads of a block."""
    dev.fcollect(team_of(team), dst, src, BLOCK)


def broadcast(team, dst, src, root=0):
    """Copy src of PE root of the team to dst of all, by one thread."""
    dev.broadcast(team_of(team), dst, src, root, THREAD)


def broadcast_warp(team, dst, src, root=0):
    """Copy src of PE root of the team to dst of all, by all threads of a warp."""
    dev.broadcast(team_of(team), dst, src, root, WARP)


def broadcast_block(team, dst, src, root=0):
    """Copy src of PE root of the team to dst of all, by all threads of a block."""
    dev.broadcast(team_of(team), dst, src, root, BLOCK)


def alltoall(team, dst, src):
    """Send part k of src to PE k of the team, by one thread."""
    dev.alltoall(team_of(team), dst, src, THREAD)


def alltoall_warp(team, dst, src):
    """Send part k of src to PE k of the team, by all threads of a warp."""
    dev.alltoall(team_of(team), dst, src, WARP)


def alltoall_block(team, dst, src):
    """Send part k of src to PE k of the team, by all threads of a block."""
    dev.alltoall(team_of(team), dst, src, BLOCK)
