"""Reductions, evaluated in PE order: the same bits on all members and in all runs."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels.ptx import AT
from . import _exchange as exchange
from ._addresses import at_pe, check_address
from ._collectives import meet_members
from ._primitives import bytes_of, load_part, pairs_of, store_part
from ._threads import num_threads, thread
from ._types import AND, MAX, MIN, OR, PROD, SUM

_REDUCE, _REDUCE_SCATTER = tl.constexpr(AT["reduce"]), tl.constexpr(AT["reduce_scatter"])


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
def fold_to_all(team, dst, src, first, last, op: tl.constexpr, BLOCK: tl.constexpr):
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
    tl.debug_barrier()  # dst may be src: write it only after all threads have sent
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
    nbytes = bytes_of(src, n)
    if exchange.is_small(team, nbytes):
        source = src.to(tl.int64)
        _reduce_small(team, dst, source, source, nbytes, 0, op, _REDUCE, tag, bound_ns)
    else:
        check_address(team, dst, _REDUCE)
        check_address(team, src, _REDUCE)
        meet_members(team, _REDUCE, tag, bound_ns)
        part = tl.cdiv(n, team.n_pes)
        first = team.my_pe * part
        last = tl.minimum(first + part, n)
        fold_to_all(team, dst, src, first, last, op, BLOCK)
        meet_members(team, _REDUCE, tag, bound_ns)


@jit
def reduce_scatter(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    nbytes = bytes_of(src, n)
    if exchange.is_small(team, nbytes):
        source = src.to(tl.int64)
        own = source + team.my_pe * nbytes
        _reduce_small(team, dst, source, own, nbytes, nbytes, op, _REDUCE_SCATTER, tag, bound_ns)
    else:
        check_address(team, src, _REDUCE_SCATTER)
        meet_members(team, _REDUCE_SCATTER, tag, bound_ns)
        for begin in range(0, n, BLOCK):
            at = begin + tl.arange(0, BLOCK)
            tl.store(dst + at, _fold(team, src + team.my_pe * n + at, at < n, op), mask=at < n)
        meet_members(team, _REDUCE_SCATTER, tag, bound_ns)
