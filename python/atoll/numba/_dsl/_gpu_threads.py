"""The primitives on GPUs for the threads of a scope: their numbers, barriers and shared values."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ..._kernels.ptx import AT, NO_VALUES
from .. import _primitives as p
from .._types import BLOCK, GRID, THREAD, WARP, constant
from ._cpu import I64
from ._gpu import builds, compiled, compiles, does, emits, i64, statement, u32, value
from ._registration import numba_cuda

if numba_cuda is not None:
    from numba.cuda import nvvmutils


def register(builder, name: str):
    return nvvmutils.call_sreg(builder, name) if isinstance(builder, ir.IRBuilder) else builder.special(name)


def in_all(builder, what: str):
    """Return the number of threads of the block (ntid), or of blocks of the grid (nctaid)."""
    x, y, z = (register(builder, f"{what}.{axis}") for axis in "xyz")
    return builder.mul(builder.mul(x, y), z)


def number_in(builder, which: str, many: str):
    """Return a thread's number in its block (tid, ntid), or a block's in the grid (ctaid, nctaid)."""
    x, y, z = (register(builder, f"{which}.{axis}") for axis in "xyz")
    width, height = (register(builder, f"{many}.{axis}") for axis in "xy")
    return builder.add(x, builder.mul(width, builder.add(y, builder.mul(height, z))))


def wide(builder, number):
    return builder.zext(number, I64)


def rank_of(builder, scope):
    if scope == THREAD:
        return ir.Constant(I64, 0)
    if scope == WARP:
        return wide(builder, register(builder, "laneid"))
    thread = wide(builder, number_in(builder, "tid", "ntid"))
    if scope == BLOCK:
        return thread
    block = wide(builder, number_in(builder, "ctaid", "nctaid"))
    return builder.add(builder.mul(block, wide(builder, in_all(builder, "ntid"))), thread)


def size_of(builder, scope):
    if scope in (THREAD, WARP):
        return ir.Constant(I64, 1 if scope == THREAD else 32)
    threads = wide(builder, in_all(builder, "ntid"))
    return threads if scope == BLOCK else builder.mul(threads, wide(builder, in_all(builder, "nctaid")))


def numbers(stub, make):
    emits(stub)(lambda scope: (i64(scope), lambda context, builder, values: make(builder, constant(scope))))


numbers(p.rank, rank_of)
numbers(p.size, size_of)
emits(p.thread)(lambda: (i64(), lambda context, builder, values: rank_of(builder, GRID)))
emits(p.threads)(lambda: (i64(), lambda context, builder, values: size_of(builder, GRID)))


def block(): ...


def blocks(): ...


emits(block)(
    lambda: (i64(), lambda context, builder, values: wide(builder, number_in(builder, "ctaid", "nctaid")))
)
emits(blocks)(lambda: (i64(), lambda context, builder, values: wide(builder, in_all(builder, "nctaid"))))


def add_in_gpu(address, value): ...


def load_in_gpu(address): ...


emits(add_in_gpu)(lambda *_: value("atom.add.acq_rel.gpu.global.u32 $0, [$1], $2;", "=r,l,r", u32, i64, u32))
emits(load_in_gpu)(lambda *_: value("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l", u32, i64))
emits(p.uncounted)(lambda number: value("mov.b64 $0, $1;", "=l,l", i64, i64))


def sync_block(): ...


def sync_warp(): ...


def of_first_lane(value): ...


def by_names_of(cuda):
    """Return the implementations of these stubs, by the names of the compiler's own module."""

    def block():
        cuda.syncthreads()
        return 0

    def warp():
        cuda.syncwarp()
        return 0

    def lane(value):
        return cuda.shfl_sync(np.uint32(0xFFFFFFFF), value, 0)

    return {sync_block: block, sync_warp: warp, of_first_lane: lane}


if numba_cuda is not None:
    for stub, function in by_names_of(numba_cuda).items():
        compiles(stub)(function)


def shared_word():
    """The address of a word of the block's shared memory, within that memory; a kernel has one such word."""


@builds(shared_word, i64())
def _(context, builder, values):
    if not isinstance(builder, ir.IRBuilder):
        return builder.shared_word("atoll_shared_word")
    word = builder.module.globals.get("atoll_shared_word")
    if word is None:
        word = ir.GlobalVariable(builder.module, I64, "atoll_shared_word", addrspace=3)
        word.initializer, word.linkage, word.align = ir.Constant(I64, ir.Undefined), "internal", 8
    return builder.ptrtoint(word, I64)


def store_shared(address, value): ...


def load_shared(address): ...


emits(store_shared)(lambda *_: statement("st.shared.u64 [$0], $1;", "l,l", i64, i64))
emits(load_shared)(lambda *_: value("ld.shared.u64 $0, [$1];", "=l,l", i64, i64))
GRID_ARRIVED, GRID_WORD, GRID_SYNC = AT["grid_arrived"], AT["grid_word"], AT["grid_sync"]
HALF = 0x80000000


@compiled
def meet_grid(control):
    """Wait for all blocks. They add 2^31 in all, whatever their number, so the top bit flips when all have
    arrived.
    """
    sync_block()
    if p.rank(BLOCK) == 0:
        word = control + GRID_ARRIVED
        mine = np.uint32(HALF - (blocks() - 1)) if block() == 0 else np.uint32(1)
        before = add_in_gpu(word, mine)
        since = np.int64(0)
        polls = 0
        while ((load_in_gpu(word) ^ before) & np.uint32(HALF)) == 0:
            polls += 1
            if polls == 1024:
                polls = 0
                since = p.check_job(control, GRID_SYNC, NO_VALUES, -1, 0, word, 0, 0, since)
    sync_block()
    return 0


@does(p.meet)
def _(control, scope):
    if constant(scope) == THREAD:
        return lambda control, scope: 0
    if constant(scope) == GRID:
        return lambda control, scope: meet_grid(control)
    in_block = constant(scope) == BLOCK

    def meet(control, scope):
        if in_block:
            sync_block()
        else:
            sync_warp()
        return 0

    return meet


@does(p.share)
def _(control, scope, value):
    which = constant(scope)

    def of_warp(control, scope, value):
        result = of_first_lane(np.int64(value))
        sync_warp()  # a shuffle does not order memory
        return result

    def of_block(control, scope, value):
        if p.rank(BLOCK) == 0:
            store_shared(shared_word(), value)
        sync_block()
        result = load_shared(shared_word())
        sync_block()
        return result

    def of_grid(control, scope, value):
        if block() == 0 and p.rank(BLOCK) == 0:
            p.store_relaxed(i64, control + GRID_WORD, value)
        meet_grid(control)
        result = p.load_relaxed(i64, control + GRID_WORD)
        meet_grid(control)
        return result

    if which == THREAD:
        return lambda control, scope, value: np.int64(value)
    by_scope: dict[Any, Any] = {WARP: of_warp, BLOCK: of_block, GRID: of_grid}
    return by_scope[which]
