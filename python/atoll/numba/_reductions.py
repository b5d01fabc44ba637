"""Reductions, evaluated in PE order: the same bits on all members and in all runs."""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._addresses import at_peer
from ._collectives import REDUCE, REDUCE_SCATTER, check_large, i64, meet_members
from ._exchange import end_exchange, most_bytes, next_epoch, part, send
from ._mailboxes import pairs_of
from ._polling import call_of
from ._registration import helper, vocabulary
from ._types import AND, MAX, MIN, OR, PROD, SUM, THREAD, XOR, item, one_of, same, scope_of


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
    return _combine(a)[one_of("op", "reduce", op)]


def reduction_of(name: str, kind, op):
    """Return the operator for elements of that kind, or raise a TypingError."""
    which = one_of("op", name, op)
    floating = isinstance(kind, types.Float) and kind.bitwidth >= 32
    if not isinstance(kind, types.Integer) and not (floating and which in (SUM, PROD, MIN, MAX)):
        raise TypingError(
            f"atoll.numba.{name}: {which} of {kind}; reductions take integers, and float32 and float64 for "
            "SUM PROD MIN MAX"
        )
    return which


def _reduction(name: str, dst, src, op):
    kind = same(name, dst, src)
    return kind, reduction_of(name, kind, op)


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
def fold_pulled(kind, op, each, team, source, i):
    """Fold element i over the members."""
    so_far = prim.load(kind, at_peer(team, source, 0) + i * each)
    pe = i64(1)
    while pe < team.n_pes:
        so_far = combine(op, so_far, prim.load(kind, at_peer(team, source, pe) + i * each))
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
def next_member(team, pe):
    return pe + 1 if pe + 1 < team.n_pes else 0


@vocabulary
def reduce(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
    kind, operator = _reduction("reduce", dst, src, op)
    each, which = item(kind), scope_of("reduce", scope)

    def impl(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
        call, count = call_of(REDUCE, tag, bound_ns), src.size
        nbytes = count * each
        check_large(team, REDUCE, dst, nbytes)
        check_large(team, REDUCE, src, nbytes)
        to, source = prim.address(dst), prim.address(src)
        if nbytes <= most_bytes(team):
            epoch = next_epoch(team)
            send(team, epoch, nbytes, source, 0, which)
            prim.meet(team.control, which)  # dst may be src, which all threads have sent now
            fold_received(kind, operator, each, call, team, epoch, to, source, nbytes, which)
            end_exchange(team, epoch, which)
        else:
            meet_members(call, team, which, False)
            each_part = (count + team.n_pes - 1) // team.n_pes
            begin = min(team.my_pe * each_part, count)
            end = min(begin + each_part, count)
            i, step = begin + prim.rank(which), prim.size(which)
            while i + 3 * step < end:
                a, b, c, d = fold_pulled_four(kind, operator, each, team, source, i, step)
                pe, left = next_member(team, team.my_pe), team.n_pes
                while left > 0:
                    at = at_peer(team, to, pe) + i * each
                    prim.store(kind, at, a)
                    prim.store(kind, at + step * each, b)
                    prim.store(kind, at + 2 * step * each, c)
                    prim.store(kind, at + 3 * step * each, d)
                    pe, left = next_member(team, pe), prim.uncounted(left - 1)
                i += 4 * step
            while i < end:
                value = fold_pulled(kind, operator, each, team, source, i)
                pe, left = next_member(team, team.my_pe), team.n_pes
                while left > 0:
                    prim.store(kind, at_peer(team, to, pe) + i * each, value)
                    pe, left = next_member(team, pe), prim.uncounted(left - 1)
                i += step
            meet_members(call, team, which, False)

    return impl


@vocabulary
def reduce_scatter(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
    kind, operator = _reduction("reduce_scatter", dst, src, op)
    each, which = item(kind), scope_of("reduce_scatter", scope)

    def impl(team, dst, src, op, scope=THREAD, tag=0, bound_ns=None):
        call, count = call_of(REDUCE_SCATTER, tag, bound_ns), dst.size
        nbytes = count * each
        check_large(team, REDUCE_SCATTER, src, nbytes)
        to, source = prim.address(dst), prim.address(src)
        begin = team.my_pe * count
        if nbytes <= most_bytes(team):
            epoch = next_epoch(team)
            send(team, epoch, nbytes, source, nbytes, which)
            fold_received(kind, operator, each, call, team, epoch, to, source + begin * each, nbytes, which)
            end_exchange(team, epoch, which)
        else:
            meet_members(call, team, which, False)
            i, step = prim.rank(which), prim.size(which)
            while i + 3 * step < count:
                a, b, c, d = fold_pulled_four(kind, operator, each, team, source, begin + i, step)
                prim.store(kind, to + i * each, a)
                prim.store(kind, to + (i + step) * each, b)
                prim.store(kind, to + (i + 2 * step) * each, c)
                prim.store(kind, to + (i + 3 * step) * each, d)
                i += 4 * step
            while i < count:
                prim.store(kind, to + i * each, fold_pulled(kind, operator, each, team, source, begin + i))
                i += step
            meet_members(call, team, which, False)

    return impl
