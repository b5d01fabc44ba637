"""Barriers and collectives (atoll/device/sync.hpp, collectives.hpp).

One scope of each member calls them, with the same sizes, roots and operators. A team has one such call at a
time, in the same order on all members. On return dst holds the result for all threads of the scope. Small
ones go through the team's own slots and take any arrays. For others dst must be symmetric, and for reductions
src too. Reductions are evaluated in PE order: the same bits on all members and in all runs. `bound_ns` limits
each of their waits, in nanoseconds (left out or 0: ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._layout import AT
from ._messages import (
    end_exchange,
    most_bytes,
    next_epoch,
    pairs_of,
    part,
    send,
)
from ._rma import item
from ._targets import (
    ACQUIRE_RELEASE,
    AND,
    GE,
    MAX,
    MIN,
    OR,
    PROD,
    RELAXED,
    SUM,
    THREAD,
    XOR,
    helper,
    one_of,
    same,
    scope_of,
    vocabulary,
)  # fmt: skip
from ._waiting import call_of, wait_relaxed, wait_word
from ._who import at_peer, check_place, implement_check

i64 = types.int64
SYNC_EPOCH, ARRIVED, COUNTS = AT["sync_epoch"], AT["arrived"], AT["counts"]
ROOT = AT["check broadcast"]
SYNC, BARRIER, BROADCAST = AT["sync"], AT["barrier"], AT["broadcast"]
FCOLLECT, COLLECT, ALLTOALL = AT["fcollect"], AT["collect"], AT["alltoall"]
REDUCE, REDUCE_SCATTER = AT["reduce"], AT["reduce_scatter"]


def check_large(team: Any, operation: Any, x: Any, nbytes: Any) -> Any:
    """check_place of an array that peers address, if messages of this size do not fit the team's slots."""


def _check_large(team: Any, operation: Any, x: Any, nbytes: Any) -> Any:
    if nbytes > most_bytes(team):
        check_place(team, operation, x)


implement_check(check_large, _check_large)


@helper
def tell(address: Any, epoch: Any, relaxed: Any) -> Any:
    if relaxed:
        prim.store_relaxed(i64, address, epoch)
    else:
        prim.store_release(i64, address, epoch)


@helper
def wait_for(call: Any, control: Any, pe: Any, epoch: Any, relaxed: Any) -> Any:
    word = control + ARRIVED + 8 * pe
    if relaxed:
        wait_relaxed(control, word, epoch, call, pe)
    else:
        wait_word(i64, control, word, GE, epoch, call, pe)


@helper
def meet_at(call: Any, team: Any, epoch: Any, scope: Any, relaxed: Any) -> Any:
    control = team.control
    rank, step = prim.rank(scope), prim.size(scope)
    mine = control + ARRIVED + 8 * team.my_pe
    if step >= team.n_pes:  # one thread for each member: its branch is entered once
        others = rank < team.n_pes and rank != team.my_pe
        there = at_peer(team, mine, rank) if others else mine
        prim.meet(control, scope)
        if others:
            tell(there, epoch, relaxed)
            wait_for(call, control, rank, epoch, relaxed)
    else:
        prim.meet(control, scope)
        pe = rank
        while pe < team.n_pes:
            if pe != team.my_pe:
                tell(at_peer(team, mine, pe), epoch, relaxed)
            pe += step
        pe = rank
        while pe < team.n_pes:
            if pe != team.my_pe:
                wait_for(call, control, pe, epoch, relaxed)
            pe += step
    prim.meet(control, scope)


@helper
def meet_members(call: Any, team: Any, scope: Any, relaxed: Any) -> Any:
    epoch = prim.load_own(i64, team.control + SYNC_EPOCH) + 1
    meet_at(call, team, epoch, scope, relaxed)
    prim.store_own(i64, team.control + SYNC_EPOCH, epoch)  # by every thread, to read its own store later


@vocabulary
def sync(
    team: Any, scope: Any = THREAD, order: Any = ACQUIRE_RELEASE, tag: Any = 0, bound_ns: Any = None
) -> Any:
    which, relaxed = scope_of("sync", scope), one_of("order", "sync", order) is RELAXED

    def impl(
        team: Any, scope: Any = THREAD, order: Any = ACQUIRE_RELEASE, tag: Any = 0, bound_ns: Any = None
    ) -> None:
        meet_members(call_of(SYNC, tag, bound_ns), team, which, relaxed)

    return impl


@vocabulary
def barrier(team: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:
    which = scope_of("barrier", scope)

    def impl(team: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> None:
        prim.complete_bulk()
        meet_members(call_of(BARRIER, tag, bound_ns), team, which, False)

    return impl


@helper
def take(call: Any, team: Any, epoch: Any, nbytes: Any, to: Any, block: Any, scope: Any) -> Any:
    """Copy the message of each other member to `to + pe * block`."""
    pairs = pairs_of(nbytes)
    k = prim.rank(scope)
    while k < pairs * team.n_pes:
        pe = prim.quotient(k, pairs)
        i = k - pe * pairs
        if pe != team.my_pe:
            prim.store_part(to + pe * block, nbytes, i, part(call, team, epoch, pe, i))
        k += prim.size(scope)


@helper
def copy_own(to: Any, source: Any, nbytes: Any, scope: Any) -> Any:
    if to != source:
        prim.copy(to, source, nbytes, scope)


@helper
def put_to_all(team: Any, to: Any, source: Any, nbytes: Any, scope: Any) -> Any:
    """Put to each member, beginning with the next one, so that not all store to one at once."""
    for k in range(1, team.n_pes):
        prim.copy(at_peer(team, to, (team.my_pe + k) % team.n_pes), source, nbytes, scope)
    copy_own(to, source, nbytes, scope)


@vocabulary
def broadcast(
    team: Any, dst: Any, src: Any, root: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
) -> Any:
    each, which = item(same("broadcast", dst, src)), scope_of("broadcast", scope)

    def impl(
        team: Any, dst: Any, src: Any, root: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
    ) -> None:
        prim.check_pe(team.control, team.n_pes, ROOT, root)
        call = call_of(BROADCAST, tag, bound_ns)
        nbytes = src.size * each
        check_large(team, BROADCAST, dst, nbytes)
        to, source = prim.address(dst), prim.address(src)
        if nbytes > most_bytes(team):
            meet_members(call, team, which, False)
            if team.my_pe == root:
                put_to_all(team, to, source, nbytes, which)
            meet_members(call, team, which, False)
        else:
            epoch = next_epoch(team)
            send(team, epoch, nbytes if team.my_pe == root else 0, source, 0, which)
            pairs = pairs_of(nbytes)
            k = prim.rank(which)
            while k < pairs * team.n_pes:
                pe = prim.quotient(k, pairs)
                i = k - pe * pairs
                if pe != team.my_pe and (pe == root or i == 0):  # messages of the other members have no bytes
                    data = part(call, team, epoch, pe, i)
                    if pe == root:
                        prim.store_part(to, nbytes, i, data)
                k += prim.size(which)
            if team.my_pe == root:
                copy_own(to, source, nbytes, which)
            end_exchange(team, epoch, which)

    return impl


@helper
def gather(call: Any, team: Any, to: Any, source: Any, nbytes: Any, scope: Any) -> Any:
    if nbytes > most_bytes(team):
        meet_members(call, team, scope, False)
        put_to_all(team, to + team.my_pe * nbytes, source, nbytes, scope)
        meet_members(call, team, scope, False)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, 0, scope)
        take(call, team, epoch, nbytes, to, nbytes, scope)
        copy_own(to + team.my_pe * nbytes, source, nbytes, scope)
        end_exchange(team, epoch, scope)


@vocabulary
def fcollect(team: Any, dst: Any, src: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:
    each, which = item(same("fcollect", dst, src)), scope_of("fcollect", scope)

    def impl(team: Any, dst: Any, src: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> None:
        check_large(team, FCOLLECT, dst, src.size * each)
        gather(
            call_of(FCOLLECT, tag, bound_ns),
            team,
            prim.address(dst),
            prim.address(src),
            src.size * each,
            which,
        )

    return impl


@vocabulary
def collect(team: Any, dst: Any, src: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:
    each, which = item(same("collect", dst, src)), scope_of("collect", scope)

    def impl(team: Any, dst: Any, src: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:
        call, counts = call_of(COLLECT, tag, bound_ns), team.control + COUNTS
        check_place(team, COLLECT, dst)
        # gather() reads each member's count from that member's own entry.
        if prim.rank(which) == 0:
            prim.store_relaxed(i64, counts + 8 * team.my_pe, src.size)
        prim.meet(team.control, which)
        gather(call, team, counts, counts + 8 * team.my_pe, 8, which)
        before = i64(0)
        arrived = i64(0)
        for pe in range(team.n_pes):
            count = prim.load_relaxed(i64, counts + 8 * pe)
            if pe < team.my_pe:
                before += count
            arrived += count
        meet_members(call, team, which, False)
        put_to_all(team, prim.address(dst) + before * each, prim.address(src), src.size * each, which)
        meet_members(call, team, which, False)
        return arrived

    return impl


@vocabulary
def alltoall(team: Any, dst: Any, src: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> Any:
    each, which = item(same("alltoall", dst, src)), scope_of("alltoall", scope)

    def impl(team: Any, dst: Any, src: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None) -> None:
        call, nbytes = call_of(ALLTOALL, tag, bound_ns), src.size // team.n_pes * each
        check_large(team, ALLTOALL, dst, nbytes)
        to, source = prim.address(dst), prim.address(src)
        mine = team.my_pe * nbytes
        if nbytes > most_bytes(team):
            meet_members(call, team, which, False)
            for k in range(team.n_pes):
                pe = (team.my_pe + k) % team.n_pes
                prim.copy(at_peer(team, to + mine, pe), source + pe * nbytes, nbytes, which)
            meet_members(call, team, which, False)
        else:
            epoch = next_epoch(team)
            send(team, epoch, nbytes, source, nbytes, which)
            take(call, team, epoch, nbytes, to, nbytes, which)
            copy_own(to + mine, source + mine, nbytes, which)
            end_exchange(team, epoch, which)

    return impl


# ---- reductions


def _combine(kind: Any) -> dict[Any, Any]:
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
def combine(op: Any, a: Any, b: Any) -> Any:
    return _combine(a)[one_of("op", "reduce", op)]


def reduction_of(name: str, kind: Any, op: Any) -> Any:
    """Return the operator for elements of that kind, or raise a TypingError."""
    which = one_of("op", name, op)
    floating = isinstance(kind, types.Float) and kind.bitwidth >= 32
    if not isinstance(kind, types.Integer) and not (floating and which in (SUM, PROD, MIN, MAX)):
        raise TypingError(
            f"atoll.numba.{name}: {which} of {kind}; reductions take integers, and float32 and float64 for "
            "SUM PROD MIN MAX"
        )
    return which


def _reduction(name: str, dst: Any, src: Any, op: Any) -> tuple[Any, Any]:
    kind = same(name, dst, src)
    return kind, reduction_of(name, kind, op)


@helper
def combine_part(kind: Any, op: Any, each: Any, a: Any, b: Any) -> Any:
    """Combine eight bytes of a and b, elements of `each` bytes."""
    folded = i64(0)
    for k in range(8 // each):
        x, y = prim.from_bits(kind, a >> (k * 8 * each)), prim.from_bits(kind, b >> (k * 8 * each))
        folded |= prim.to_bits(kind, combine(op, x, y)) << (k * 8 * each)
    return folded


@helper
def fold_received(
    kind: Any,
    op: Any,
    each: Any,
    call: Any,
    team: Any,
    epoch: Any,
    to: Any,
    own: Any,
    nbytes: Any,
    scope: Any,
) -> Any:
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
def fold_pulled(kind: Any, op: Any, each: Any, team: Any, source: Any, i: Any) -> Any:
    """Fold element i over the members."""
    so_far = prim.load(kind, at_peer(team, source, 0) + i * each)
    pe = i64(1)
    while pe < team.n_pes:
        so_far = combine(op, so_far, prim.load(kind, at_peer(team, source, pe) + i * each))
        pe = prim.uncounted(pe + 1)
    return so_far


@helper
def fold_pulled_four(kind: Any, op: Any, each: Any, team: Any, source: Any, i: Any, step: Any) -> Any:
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
def next_member(team: Any, pe: Any) -> Any:
    return pe + 1 if pe + 1 < team.n_pes else 0


@vocabulary
def reduce(
    team: Any, dst: Any, src: Any, op: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
) -> Any:
    kind, operator = _reduction("reduce", dst, src, op)
    each, which = item(kind), scope_of("reduce", scope)

    def impl(
        team: Any, dst: Any, src: Any, op: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
    ) -> None:
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
def reduce_scatter(
    team: Any, dst: Any, src: Any, op: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
) -> Any:
    kind, operator = _reduction("reduce_scatter", dst, src, op)
    each, which = item(kind), scope_of("reduce_scatter", scope)

    def impl(
        team: Any, dst: Any, src: Any, op: Any, scope: Any = THREAD, tag: Any = 0, bound_ns: Any = None
    ) -> None:
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
