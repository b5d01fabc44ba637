"""The threads of a scope: their numbers, barriers and shared values."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass.cute as cute
from cutlass import Int32, Int64

from .._kernels import ptx
from .._kernels.ptx import AT, NO_VALUES
from ._polling import Call, check_job
from ._primitives import SYSTEM, asm, load, store, threads_along
from ._types import BLOCK, GRID, THREAD, WARP, Scope


def rank(scope: Scope = GRID):
    return rank_of(scope)


def size(scope: Scope = GRID):
    return size_of(scope)


def meet(team, scope: Scope = BLOCK):
    meet_threads(team.control, scope)


# ---- the threads of a scope
def rank_of(scope: Scope):
    if scope is THREAD:
        return Int32(0)
    if scope is WARP:
        return cute.arch.lane_idx()
    x, y, z = cute.arch.thread_idx()
    in_block = x + threads_along("x") * (y + threads_along("y") * z)
    return in_block if scope is BLOCK else block_number() * size_of(BLOCK) + in_block


def size_of(scope: Scope):
    if scope is THREAD:
        return Int32(1)
    if scope is WARP:
        return Int32(32)
    in_block = threads_along("x") * threads_along("y") * threads_along("z")
    return in_block if scope is BLOCK else blocks() * in_block


def blocks():
    x, y, z = cute.arch.grid_dim()
    return x * y * z


def block_number():
    (x, y, z), (gx, gy, _) = cute.arch.block_idx(), cute.arch.grid_dim()
    return x + gx * (y + gy * z)


def meet_threads(control: Int64, scope: Scope) -> None:
    """The barrier of this PE's threads in the scope."""
    if scope is WARP:
        cute.arch.sync_warp()
    elif scope is BLOCK:
        cute.arch.sync_threads()
    elif scope is GRID:
        meet_grid(control)


HALF = -0x80000000


@cute.jit
def meet_grid(control: Int64):
    """Wait for all blocks. They add 2^31 in all, whatever their number, so the top bit flips when all have
    arrived.
    """
    cute.arch.sync_threads()
    if rank_of(BLOCK) == 0:
        at = control + AT["grid_arrived"]
        mine = Int32(1)
        if block_number() == 0:
            mine = Int32(HALF) - (blocks() - 1)
        before = asm("atom.add.acq_rel.gpu.global.u32 $0, [$1], $2;", "=r,l,r", Int32, [at, mine])
        since = Int64(0)
        polls = Int32(0)
        turned = Int32(0)
        while turned == 0:
            now = asm("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", Int32, [at])
            turned = (now ^ before) & Int32(HALF)
            polls += 1
            if polls == ptx.POLLS:
                polls = Int32(0)
                call = Call(AT["grid_sync"], Int32(0), None)
                since = check_job(control, call, NO_VALUES, Int32(-1), at, Int64(0), Int64(0), since)
    cute.arch.sync_threads()


@cute.jit
def share_over_grid(control: Int64, value: Int32):
    at = control + AT["grid_word"]
    if rank_of(GRID) == 0:
        store(Int32, at, value, SYSTEM)
    meet_grid(control)
    result = load(Int32, at, SYSTEM)
    meet_grid(control)
    return result


def share(control: Int64, scope: Scope, value):
    """Return rank 0's Int32 to all threads of the scope, ordered after what rank 0 saw: a shuffle does not
    order memory.
    """
    if scope is WARP:
        return asm(
            "shfl.sync.idx.b32 $0, $1, 0, 31, 0xffffffff; bar.warp.sync 0xffffffff;", "=r,r", Int32, [value]
        )
    if scope is BLOCK:
        return asm(ptx.share_in_block(), "=r,r,r", Int32, [value, rank_of(BLOCK)])
    return share_over_grid(control, value) if scope is GRID else value


def unknown(number):
    """Return the number unchanged, hidden from the compiler.

    CuTe DSL 4.8.1 knows that a thread's number is below 1024 and that a block has no more threads. From `i +
    3 * threads < 4096`, where i began as a thread's number, it made an endless loop.
    """
    width, letter = (64, "l") if isinstance(number, Int64) else (32, "r")
    return asm(f"mov.b{width} $0, $1;", f"={letter},{letter}", type(number), [number])


def rank_and_size(scope: Scope, kind):
    """Return this thread's number in the scope and the scope's size, for loops whose step is the latter."""
    rank, size = kind(rank_of(scope)), kind(size_of(scope))
    return (rank, size) if scope is THREAD else (unknown(rank), unknown(size))
