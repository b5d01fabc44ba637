"""Reductions, evaluated in PE order: the same bits on all members and in all runs."""

from __future__ import annotations

from . import _primitives as prim
from ._addresses import at_peer, item_of, kind_of, pairs_of
from ._collectives import REDUCE, REDUCE_SCATTER, check_large, i64, meet_members
from ._dsl._registration import helper, operation, vocabulary
from ._exchange import end_exchange, most_bytes, next_epoch, part, send
from ._polling import call_of
from ._types import AND, MAX, MIN, OR, PROD, SUM, THREAD, XOR, one_of


def _combine(kind):
    """a op b; integers wrap around, and NaN propagates."""
    return {
        SUM: lambda op, a, b: kind(a + b),
        PROD: lambda op, a, b: kind(a * b),
        MIN: lambda op, a, b: b if b < a or b != b else a,
        MAX: lambda op, a, b: b if a < b or b != b else a,
        AND: lambda op, a, b: kind(a & b),
        OR: lambda op, a, b: kind(a | b),
        XOR: lambda op, a, b: kind(a ^ b),
    }


@vocabulary
def combine(op, a, b):
    return _combine(a)[one_of("op", "op", op)]


@helper
def combine_part(kind, op, each, a, b):
    """Combine eight bytes of a and b, elements of `each` bytes."""
    folded = i64(0)
    for k in range(8 // each):
        x, y = prim.from_bits(kind, a >> (k * 8 * each)), prim.from_bits(kind, b >> (k * 8 * each))
        folded |= prim.to_bits(kind, combine(op, x, y)) << (k * 8 * each)
    return folded


@helper
def fold_received(kind, op, each, call, team, epoch, to, own, nbytes, scope):
    """to = the fold over the members, in PE order, of their messages; `own` is this PE's part."""
    end = pairs_of(nbytes)
    i = prim.rank(scope)
    while i < end:
        folded = i64(0)
        for pe in range(team.n_pes):
            data = prim.load_part(own, nbytes, i) if pe == team.my_pe else part(call, team, epoch, pe, i)
            folded = data if pe == 0 else combine_part(kind, op, each, folded, data)
        prim.store_part(to, nbytes, i, folded)
        i += prim.size(scope)


@helper
def fold_at(kind, op, team, at):
    """Fold the element at an address over the members."""
    so_far = prim.load(kind, at_peer(team, at, 0))
    pe = i64(1)
    while pe < team.n_pes:
        so_far = combine(op, so_far, prim.load(kind, at_peer(team, at, pe)))
        pe = prim.uncounted(pe + 1)
    return so_far


@helper
def fold_pulled_four(kind, op, each, team, source, i, step):
    """Fold elements i, i + step, i + 2 * step, i + 3 * step, whose loads are in flight together."""
    stride = step * each
    at = at_peer(team, source, 0) + i * each
    a, b = prim.load(kind, at), prim.load(kind, at + stride)
    c, d = prim.load(kind, at + 2 * stride), prim.load(kind, at + 3 * stride)
    pe = i64(1)
    while pe < team.n_pes:
        at = at_peer(team, source, pe) + i * each
        e, f = prim.load(kind, at), prim.load(kind, at + stride)
        g, h = prim.load(kind, at + 2 * stride), prim.load(kind, at + 3 * stride)
        a, b, c, d = combine(op, a, e), combine(op, b, f), combine(op, c, g), combine(op, d, h)
        pe = prim.uncounted(pe + 1)
    return a, b, c, d


@helper
def store_four(kind, each, to, i, step, a, b, c, d):
    """Store elements i, i + step, i + 2 * step, i + 3 * step."""
    at, stride = to + i * each, step * each
    prim.store(kind, at, a)
    prim.store(kind, at + stride, b)
    prim.store(kind, at + 2 * stride, c)
    prim.store(kind, at + 3 * stride, d)


@helper
def next_member(team, pe):
    return pe + 1 if pe + 1 < team.n_pes else 0


@operation
def reduce(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
    reduce_elements(call_of(REDUCE, tag, bound_ns), team, dst, src, op, src.size, scope)


@helper
def reduce_elements(call, team, dst, src, op, count, scope):
    """Reduce the first elements of src."""
    kind, each = kind_of(src), item_of(src)
    nbytes = count * each
    check_large(team, REDUCE, dst, nbytes)
    check_large(team, REDUCE, src, nbytes)
    to, source = prim.address(dst), prim.address(src)
    if nbytes <= most_bytes(team):
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, 0, scope)
        prim.meet(team.control, scope)  # dst may be src: write it only after all threads have sent
        fold_received(kind, op, each, call, team, epoch, to, source, nbytes, scope)
        end_exchange(team, epoch, scope)
    else:
        meet_members(call, team, scope, False)
        each_part = (count + team.n_pes - 1) // team.n_pes
        begin = min(team.my_pe * each_part, count)
        end = min(begin + each_part, count)
        i, step = begin + prim.rank(scope), prim.size(scope)
        while i + 3 * step < end:
            a, b, c, d = fold_pulled_four(kind, op, each, team, source, i, step)
            pe, left = next_member(team, team.my_pe), team.n_pes
            while left > 0:
                store_four(kind, each, at_peer(team, to, pe), i, step, a, b, c, d)
                pe, left = next_member(team, pe), prim.uncounted(left - 1)
            i += 4 * step
        while i < end:
            value = fold_at(kind, op, team, source + i * each)
            pe, left = next_member(team, team.my_pe), team.n_pes
            while left > 0:
                prim.store(kind, at_peer(team, to, pe) + i * each, value)
                pe, left = next_member(team, pe), prim.uncounted(left - 1)
            i += step
        meet_members(call, team, scope, False)


@operation
def reduce_scatter(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
    call, count = call_of(REDUCE_SCATTER, tag, bound_ns), dst.size
    kind, each = kind_of(src), item_of(src)
    nbytes = count * each
    check_large(team, REDUCE_SCATTER, src, nbytes)
    to, source = prim.address(dst), prim.address(src)
    begin = team.my_pe * count
    if nbytes <= most_bytes(team):
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, nbytes, scope)
        fold_received(kind, op, each, call, team, epoch, to, source + begin * each, nbytes, scope)
        end_exchange(team, epoch, scope)
    else:
        meet_members(call, team, scope, False)
        i, step = prim.rank(scope), prim.size(scope)
        while i + 3 * step < count:
            a, b, c, d = fold_pulled_four(kind, op, each, team, source, begin + i, step)
            store_four(kind, each, to, i, step, a, b, c, d)
            i += 4 * step
        while i < count:
            prim.store(kind, to + i * each, fold_at(kind, op, team, source + (begin + i) * each))
            i += step
        meet_members(call, team, scope, False)
