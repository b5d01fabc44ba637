"""Barriers and collectives, called by one program of each PE at a time for a team.

With ATOLL_CHECK=all, large calls check that dst and src are symmetric, since they access them at other PEs.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._ptx import AT
from . import _exchange as exchange
from ._core import (
    ACQUIRE_RELEASE,
    AND,
    GE,
    MAX,
    MIN,
    MOST_PES,
    OR,
    PROD,
    RELAXED,
    SUM,
    at_int64,
    at_pe,
    check_pe,
    check_place,
    checks,
    reach,
    word_at,
)
from ._kinds import ORDER, alike, constant, foldable
from ._moves import copy_tile, put_nbi
from ._words import load, load_part, num_threads, pairs_of, store, store_part, thread, wait_word

_ROOT = checks("broadcast")
_SYNC_EPOCH, _ARRIVED = tl.constexpr(AT["sync_epoch"]), tl.constexpr(AT["arrived"])
_COUNTS = tl.constexpr(AT["counts"])
_SYNC, _BARRIER = tl.constexpr(AT["sync"]), tl.constexpr(AT["barrier"])
_BROADCAST, _FCOLLECT, _COLLECT, _ALLTOALL = (
    tl.constexpr(AT[name]) for name in ("broadcast", "fcollect", "collect", "alltoall")
)
_REDUCE, _REDUCE_SCATTER, _TILE_REDUCE, _TILE_ALLGATHER = (
    tl.constexpr(AT[name]) for name in ("reduce", "reduce_scatter", "tile_reduce", "tile_allgather")
)


@jit
def _meet(team, operation: tl.constexpr, tag, bound, order: tl.constexpr = ACQUIRE_RELEASE):
    epoch = load(team.control + _SYNC_EPOCH, tl.int64) + 1
    arrived = team.control + _ARRIVED
    tl.debug_barrier()
    for first in range(0, team.n_pes, num_threads()):
        pe = first + thread()
        other = ((pe < team.n_pes) & (pe != team.my_pe)).to(tl.int32)
        to = reach(team, arrived + 8 * team.my_pe, tl.minimum(pe, team.n_pes - 1))
        if order == RELAXED:
            store(to, epoch, tl.int64, ".relaxed.sys", other)
        else:
            store(to, epoch, tl.int64, ".release.sys", other)
    for first in range(0, team.n_pes, num_threads()):
        pe = first + thread()
        other = ((pe < team.n_pes) & (pe != team.my_pe)).to(tl.int32)
        if order == RELAXED:
            wait_word(
                team, arrived + 8 * pe, tl.int64, GE, epoch, operation, pe, tag, "relaxed", other, bound
            )
        else:
            wait_word(
                team, arrived + 8 * pe, tl.int64, GE, epoch, operation, pe, tag, "acquire", other, bound
            )
    tl.debug_barrier()
    store(team.control + _SYNC_EPOCH, epoch, tl.int64)


@jit
def sync(team, order: tl.constexpr = ACQUIRE_RELEASE, tag=0, bound_ns=0):
    constant("sync", "order", order, ORDER)
    _meet(team, _SYNC, tag, bound_ns, order)


@jit
def barrier(team, tag=0, bound_ns=0):
    _meet(team, _BARRIER, tag, bound_ns)


@jit
def _bytes(x, n):
    return at_int64(n) * (x.dtype.element_ty.primitive_bitwidth // 8)


@jit
def broadcast(team, dst, src, n, root, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    alike("broadcast", dst, src)
    check_pe(team, root, _ROOT)
    nbytes = _bytes(src, n)
    if exchange.is_small(team, nbytes):
        epoch = exchange.begin(team)
        if team.my_pe == root:
            exchange.send(team, epoch, nbytes, src.to(tl.int64), 0)
            exchange.take_from(team, epoch, nbytes * 0, dst.to(tl.int64), root, _BROADCAST, tag, bound_ns)
            exchange.copy_own(nbytes, dst.to(tl.int64), src.to(tl.int64))
        else:
            exchange.send(team, epoch, nbytes * 0, src.to(tl.int64), 0)
            exchange.take_from(team, epoch, nbytes, dst.to(tl.int64), root, _BROADCAST, tag, bound_ns)
        exchange.end(team, epoch)
    else:
        check_place(team, dst, _BROADCAST)
        _meet(team, _BROADCAST, tag, bound_ns)
        if team.my_pe == root:
            for k in range(team.n_pes):
                put_nbi(team, dst, src, n, (root + k) % team.n_pes, BLOCK)
        _meet(team, _BROADCAST, tag, bound_ns)


@jit
def _gather(team, dst, src, n, BLOCK: tl.constexpr, operation: tl.constexpr, tag, bound):
    nbytes = _bytes(src, n)
    if exchange.is_small(team, nbytes):
        epoch = exchange.begin(team)
        to, source = dst.to(tl.int64), src.to(tl.int64)
        exchange.send(team, epoch, nbytes, source, 0)
        exchange.take(team, epoch, nbytes, to, nbytes, operation, tag, bound)
        exchange.copy_own(nbytes, to + team.my_pe * nbytes, source)
        exchange.end(team, epoch)
    else:
        check_place(team, dst, operation)
        _meet(team, operation, tag, bound)
        for k in range(team.n_pes):
            put_nbi(team, dst + team.my_pe * n, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
        _meet(team, operation, tag, bound)


@jit
def fcollect(team, dst, src, n, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    alike("fcollect", dst, src)
    _gather(team, dst, src, n, BLOCK, _FCOLLECT, tag, bound_ns)


@jit
def alltoall(team, dst, src, n, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    alike("alltoall", dst, src)
    nbytes = _bytes(src, n)
    if exchange.is_small(team, nbytes):
        epoch = exchange.begin(team)
        to, source, mine = dst.to(tl.int64), src.to(tl.int64), team.my_pe * nbytes
        exchange.send(team, epoch, nbytes, source, nbytes)
        exchange.take(team, epoch, nbytes, to, nbytes, _ALLTOALL, tag, bound_ns)
        exchange.copy_own(nbytes, to + mine, source + mine)
        exchange.end(team, epoch)
    else:
        check_place(team, dst, _ALLTOALL)
        _meet(team, _ALLTOALL, tag, bound_ns)
        for k in range(team.n_pes):
            pe = (team.my_pe + k) % team.n_pes
            put_nbi(team, dst + team.my_pe * n, src + pe * n, n, pe, BLOCK)
        _meet(team, _ALLTOALL, tag, bound_ns)


@jit
def collect(team, dst, src, n, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    alike("collect", dst, src)
    check_place(team, dst, _COLLECT)
    counts = word_at(team.control + _COUNTS)
    mine = counts + team.my_pe
    store(mine.to(tl.int64), n, tl.int64)
    _gather(team, counts, mine, 1, 1024, _COLLECT, tag, bound_ns)
    members = tl.arange(0, MOST_PES)
    all_counts = tl.load(counts + members, mask=members < team.n_pes, other=0, volatile=True)
    before = tl.sum(tl.where(members < team.my_pe, all_counts, 0), 0)
    _meet(team, _COLLECT, tag, bound_ns)
    for k in range(team.n_pes):
        put_nbi(team, dst + before, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
    _meet(team, _COLLECT, tag, bound_ns)
    return tl.sum(all_counts, 0)


@jit
def _combine(a, b, op: tl.constexpr):
    """a op b; NaN propagates."""
    if op == SUM:
        result = a + b
    elif op == PROD:
        result = a * b
    elif op == MIN:
        result = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif op == MAX:
        result = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif op == AND:
        result = a & b
    elif op == OR:
        result = a | b
    else:
        result = a ^ b
    return result


@jit
def _fold(team, src, mask, op: tl.constexpr):
    """Fold the elements at a block of pointers over the members, in PE order; 16-bit floats in float32."""
    kind: tl.constexpr = src.dtype.element_ty
    wide: tl.constexpr = tl.float32 if kind == tl.float16 or kind == tl.bfloat16 else kind
    so_far = tl.load(at_pe(team, src, 0), mask=mask, volatile=True).to(wide)
    for pe in range(1, team.n_pes):
        so_far = _combine(so_far, tl.load(at_pe(team, src, pe), mask=mask, volatile=True).to(wide), op)
    return so_far.to(kind)


@jit
def _fold_to_all(team, dst, src, first, last, op: tl.constexpr, BLOCK: tl.constexpr):
    """Set elements first … last - 1 of every member's dst to the fold of src."""
    for begin in range(first, last, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = _fold(team, src + at, at < last, op)
        for k in range(1, team.n_pes + 1):
            tl.store(at_pe(team, dst + at, (team.my_pe + k) % team.n_pes), value, mask=at < last)


@jit
def _elements(data, kind: tl.constexpr):
    """Return eight bytes as elements, wide enough to sum."""
    size: tl.constexpr = kind.primitive_bitwidth
    whole: tl.constexpr = tl.core.get_int_dtype(size, True)
    wide: tl.constexpr = tl.float32 if kind == tl.float16 or kind == tl.bfloat16 else kind
    found = ()
    for k in tl.static_range(64 // size):
        found = found + ((data >> (k * size)).to(whole).to(kind, bitcast=True).to(wide),)
    return found


@jit
def _combine_all(a, b, op: tl.constexpr):
    result = ()
    for k in tl.static_range(len(a)):
        result = result + (_combine(a[k], b[k], op),)
    return result


@jit
def _eight_bytes(values, kind: tl.constexpr):
    size: tl.constexpr = kind.primitive_bitwidth
    whole: tl.constexpr = tl.core.get_int_dtype(size, False)
    data = tl.full((), 0, tl.int64)
    for k in tl.static_range(64 // size):
        data = data | (values[k].to(kind).to(whole, bitcast=True).to(tl.int64) << (k * size))
    return data


@jit
def _part_of(team, epoch, pe, own, nbytes, i, operation: tl.constexpr, tag, bound):
    data = tl.full((), 0, tl.int64)
    if pe == team.my_pe:
        data = load_part(own, nbytes, i)
    else:
        data = exchange.part(team, epoch, pe, i, operation, tag, bound)
    return data


@jit
def _reduce_small(team, dst, src, own, nbytes, block, op: tl.constexpr, operation: tl.constexpr, tag, bound):
    """Set dst to the fold of each member's part for this one, whose own part is at `own`."""
    kind: tl.constexpr = dst.dtype.element_ty
    epoch = exchange.begin(team)
    exchange.send(team, epoch, nbytes, src, block)
    tl.debug_barrier()  # dst may be src, which all threads have sent now
    i = thread()
    while i < pairs_of(nbytes):
        so_far = _elements(_part_of(team, epoch, 0, own, nbytes, i, operation, tag, bound), kind)
        for pe in range(1, team.n_pes):
            come = _part_of(team, epoch, pe, own, nbytes, i, operation, tag, bound)
            so_far = _combine_all(so_far, _elements(come, kind), op)
        store_part(dst.to(tl.int64), nbytes, i, _eight_bytes(so_far, kind))
        i += num_threads()
    exchange.end(team, epoch)


@jit
def reduce(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    foldable("reduce", dst, src, op)
    nbytes = _bytes(src, n)
    if exchange.is_small(team, nbytes):
        source = src.to(tl.int64)
        _reduce_small(team, dst, source, source, nbytes, 0, op, _REDUCE, tag, bound_ns)
    else:
        check_place(team, dst, _REDUCE)
        check_place(team, src, _REDUCE)
        _meet(team, _REDUCE, tag, bound_ns)
        part = tl.cdiv(n, team.n_pes)
        first = team.my_pe * part
        last = tl.minimum(first + part, n)
        _fold_to_all(team, dst, src, first, last, op, BLOCK)
        _meet(team, _REDUCE, tag, bound_ns)


@jit
def reduce_scatter(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    foldable("reduce_scatter", dst, src, op)
    nbytes = _bytes(src, n)
    if exchange.is_small(team, nbytes):
        source = src.to(tl.int64)
        own = source + team.my_pe * nbytes
        _reduce_small(team, dst, source, own, nbytes, nbytes, op, _REDUCE_SCATTER, tag, bound_ns)
    else:
        check_place(team, src, _REDUCE_SCATTER)
        _meet(team, _REDUCE_SCATTER, tag, bound_ns)
        for begin in range(0, n, BLOCK):
            at = begin + tl.arange(0, BLOCK)
            tl.store(dst + at, _fold(team, src + team.my_pe * n + at, at < n, op), mask=at < n)
        _meet(team, _REDUCE_SCATTER, tag, bound_ns)


@jit
def tile_reduce(
    team, dst, src, dst_pitch, src_pitch, rows, cols, op: tl.constexpr, COLS: tl.constexpr = 1024,
    tag=0, bound_ns=0,
):  # fmt: skip
    foldable("tile_reduce", dst, src, op)
    check_place(team, dst, _TILE_REDUCE)
    check_place(team, src, _TILE_REDUCE)
    _meet(team, _TILE_REDUCE, tag, bound_ns)
    for row in range(team.my_pe, rows, team.n_pes):
        to, come = dst + row.to(tl.int64) * dst_pitch, src + row.to(tl.int64) * src_pitch
        _fold_to_all(team, to, come, 0, cols, op, COLS)
    _meet(team, _TILE_REDUCE, tag, bound_ns)


@jit
def tile_allgather(
    team, dst, src, dst_pitch, src_pitch, rows, cols, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64,
    tag=0, bound_ns=0,
):  # fmt: skip
    alike("tile_allgather", dst, src)
    check_place(team, dst, _TILE_ALLGATHER)
    _meet(team, _TILE_ALLGATHER, tag, bound_ns)
    mine = dst + (team.my_pe + tl.full((), 0, tl.int64)) * rows * dst_pitch
    for k in range(team.n_pes):
        to = at_pe(team, mine, (team.my_pe + k) % team.n_pes)
        copy_tile(to, src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    _meet(team, _TILE_ALLGATHER, tag, bound_ns)
