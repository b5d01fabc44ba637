"""Reductions, evaluated in PE order: the same bits on all members and in all runs."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.ptx import AT
from ._addresses import at_peer, check_address
from ._collectives import both_of, meet_members
from ._exchange import end_exchange, most_bytes, next_epoch, part, send
from ._polling import call_of
from ._primitives import asm, from_bits, load_part, pairs_of, store_part, to_bits
from ._threads import meet_threads, rank_of, size_of
from ._types import FLOATS, FORMS, THREAD, ReduceOp, Scope, Team


def combine(kind, op: ReduceOp, a, b):
    """a op b; integers wrap around, and NaN propagates."""
    form, letter = FORMS[kind]
    floating = kind in FLOATS
    text = {
        ReduceOp.SUM: f"add.{form} $0, $1, $2;",
        ReduceOp.PROD: f"mul.{form} $0, $1, $2;" if floating else f"mul.lo.{form} $0, $1, $2;",
        ReduceOp.AND: f"and.b{kind.width} $0, $1, $2;",
        ReduceOp.OR: f"or.b{kind.width} $0, $1, $2;",
        ReduceOp.XOR: f"xor.b{kind.width} $0, $1, $2;",
    }.get(op)
    if text is None:
        nan = f"setp.nan.or.{form} p, $2, $2, p; " if floating else ""
        text = f"{{ .reg .pred p; setp.{'lt' if op is ReduceOp.MIN else 'gt'}.{form} p, $2, $1; {nan}selp.{form} $0, $2, $1, p; }}"
    return asm(text, f"={letter},{letter},{letter}", kind, [a, b])


@cute.jit
def fold_received(
    call: Constexpr, team: Team, kind: Constexpr, op: Constexpr, epoch: Int32, to: Int64, own: Int64,
    nbytes: Int64, whole: Constexpr, scope: Constexpr,
):  # fmt: skip
    """to = the fold over the members, in PE order, of their messages; `own` is this PE's part."""
    bits = kind.width
    pairs = Int32(pairs_of(nbytes))
    i = Int32(rank_of(scope))
    while i < pairs:
        low, high = kind(0), kind(0)
        for pe in cutlass.range(team.n_pes, unroll=1):
            data = Int64(0)
            if pe == team.my_pe:
                data = load_part(own, nbytes, Int64(i), whole)
            else:
                data = part(call, team, epoch, pe, i)
            first, second = from_bits(kind, data), from_bits(kind, data >> (bits & 63))
            if pe == 0:
                low, high = first, second
            else:
                low = combine(kind, op, low, first)
                if cutlass.const_expr(bits == 32):
                    high = combine(kind, op, high, second)
        folded = to_bits(kind, low)
        if cutlass.const_expr(bits == 32):
            folded = folded | (to_bits(kind, high) << 32)
        store_part(to, nbytes, Int64(i), folded, whole)
        i += Int32(size_of(scope))


def load_many(kind, many: int, at):
    """Load consecutive elements."""
    form, letter = FORMS[kind]
    names = ", ".join(f"${k}" for k in range(many))
    vector = f".v{many}.{form} {{{names}}}" if many > 1 else f".{form} {names}"
    return list(asm(f"ld{vector}, [${many}];", f"={letter}," * many + "l", (kind,) * many, [at]))


def store_many(kind, many: int, at, values) -> None:
    form, letter = FORMS[kind]
    names = ", ".join(f"${k + 1}" for k in range(many))
    text = f"st.v{many}.{form} [$0], {{{names}}};" if many > 1 else f"st.{form} [$0], {names};"
    asm(text, "l" + f",{letter}" * many, None, [at, *values])


@cute.jit
def fold_pulled(team: Team, kind: Constexpr, op: Constexpr, many: Constexpr, addresses: Constexpr):
    """Fold `many` elements at each of these addresses over all members; the loads are in flight together."""
    so_far = [load_many(kind, many, at_peer(team, at, Int32(0))) for at in addresses]
    for pe in cutlass.range(1, team.n_pes, unroll=1):
        come = [load_many(kind, many, at_peer(team, at, Int32(pe))) for at in addresses]
        so_far = [
            [combine(kind, op, one[k], other[k]) for k in range(many)]
            for one, other in zip(so_far, come, strict=True)
        ]
    return so_far


def share_of(team, count):
    """Return which of `count` units this member folds: the first, and the one after the last."""
    each = (count + team.n_pes - 1) // team.n_pes
    begin = cutlass.min(type(count)(team.my_pe) * each, count)
    return begin, cutlass.min(begin + each, count)


@cute.jit
def _reduce_units(
    team: Team, kind: Constexpr, op: Constexpr, many: Constexpr, to: Int64, source: Int64, count: Int64,
    scope: Constexpr,
):  # fmt: skip
    """Fold this PE's share of `count` units of `many` elements, and store it at all members. Each thread folds
    two units at once.
    """
    unit = many * kind.width // 8
    begin, end = share_of(team, count)
    step = Int64(size_of(scope))
    i = begin + Int64(rank_of(scope))
    while i < end:
        other = i
        if i + step < end:
            other = i + step
        first, second = fold_pulled(team, kind, op, many, (source + i * unit, source + other * unit))
        for k in cutlass.range(1, team.n_pes + 1, unroll=1):
            there = at_peer(team, to, (team.my_pe + k) % team.n_pes)
            store_many(kind, many, there + i * unit, first)
            store_many(kind, many, there + other * unit, second)
        i += 2 * step


@cute.jit
def _reduce(
    team: Team, kind: Constexpr, op: Constexpr, to: Int64, source: Int64, count: Int64, whole: Constexpr,
    scope: Constexpr, call: Constexpr,
):  # fmt: skip
    item = kind.width // 8
    nbytes = count * item
    if nbytes <= most_bytes(team):
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, Int64(0), whole, scope)
        meet_threads(team.control, scope)  # dst may be src: write it only after all threads have sent
        fold_received(call, team, kind, op, epoch, to, source, nbytes, whole, scope)
        end_exchange(team, epoch, scope)
    else:
        check_address(team, call.operation, to)
        check_address(team, call.operation, source)
        meet_members(call, team, scope, False)
        many = 16 // item
        units = Int64(0)
        if (to | source) & 15 == 0:
            units = count // many
            _reduce_units(team, kind, op, many, to, source, units, scope)
        done = units * 16
        _reduce_units(team, kind, op, 1, to + done, source + done, count - units * many, scope)
        meet_members(call, team, scope, False)


@cute.jit
def _reduce_scatter(
    team: Team, kind: Constexpr, op: Constexpr, to: Int64, source: Int64, count: Int64, scope: Constexpr,
    call: Constexpr,
):  # fmt: skip
    item = kind.width // 8
    nbytes = count * item
    mine = source + Int64(team.my_pe) * nbytes
    if nbytes <= most_bytes(team):
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, nbytes, False, scope)
        fold_received(call, team, kind, op, epoch, to, mine, nbytes, False, scope)
        end_exchange(team, epoch, scope)
    else:
        check_address(team, call.operation, source)
        meet_members(call, team, scope, False)
        i = Int64(rank_of(scope))
        while i < count:
            store_many(kind, 1, to + i * item, fold_pulled(team, kind, op, 1, (mine + i * item,))[0])
            i += Int64(size_of(scope))
        meet_members(call, team, scope, False)


def reduce(team, dst, src, op, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, *_, whole = both_of(dst, src)
    call = call_of(AT["reduce"], tag, bound_ns)
    _reduce(team, src.element_type, op, to, source, Int64(cute.size(src)), whole, scope, call)


def reduce_scatter(team, dst, src, op, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, *_ = both_of(dst, src)
    call = call_of(AT["reduce_scatter"], tag, bound_ns)
    _reduce_scatter(team, src.element_type, op, to, source, Int64(cute.size(dst)), scope, call)
