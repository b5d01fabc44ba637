"""Barriers and collectives (atoll/device/sync.hpp, collectives.hpp).

One scope of each member calls them, with the same sizes, roots and operators. A team has one such call at a
time, in the same order on all members. On return dst holds the result for all threads of the scope. Small
ones go through the team's own slots and take any tensors, also in shared memory. For others dst must be
symmetric, and for reductions src too. Tensors are contiguous. Reductions are evaluated in PE order: the same
bits on all members and in all runs. `bound_ns` limits the wait for each member, in nanoseconds (0:
ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
"""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Int32, Int64

from .._ptx import AT
from ._core import (
    ACQUIRE_RELEASE,
    AND,
    FLOATS,
    FORMS,
    GE,
    MIN,
    OR,
    PROD,
    RELAXED,
    RELEASE,
    SUM,
    SYSTEM,
    THREAD,
    WORDS,
    XOR,
    Order,
    ReduceOp,
    Scope,
    Team,
    asm,
    complete_bulk,
    from_bits,
    global_memory,
    load,
    one_of,
    same,
    store,
    to_bits,
)
from ._messages import (
    dense,
    end_exchange,
    is_whole,
    load_part,
    most_bytes,
    next_epoch,
    pairs_of,
    part,
    send,
    store_part,
)  # fmt: skip
from ._reach import (
    Call,
    address,
    at_peer,
    call_of,
    check_pe,
    check_place,
    copy_bytes,
    fits,
    look_around,
    meet_threads,
    rank_of,
    size_in_bytes,
    size_of,
    team_of,
    words_at,
)
from ._waits import wait_word

SYNC_EPOCH, ARRIVED, COUNTS = AT["sync_epoch"], AT["arrived"], AT["counts"]


@cute.jit
def wait_relaxed(team: Team, at: Int64, value: Int64, call: cutlass.Constexpr, peer: Int32):
    """Wait until the word is at least `value`, without order."""
    since, looks = Int64(0), Int32(0)
    found = load(Int64, at, SYSTEM)
    while found < value:
        looks += 1
        if looks == 1024:
            looks = Int32(0)
            since = look_around(team, call, GE.value, peer, at, value, found, since)
        found = load(Int64, at, SYSTEM)


def tell(at, epoch, order: Order) -> None:
    store(Int64, at, epoch, SYSTEM if order is RELAXED else RELEASE)


def wait_for(call: Call, team, pe, epoch, order: Order) -> None:
    at = team.control + ARRIVED + Int64(pe) * 8
    if order is RELAXED:
        wait_relaxed(team, at, epoch, call, pe)
    else:
        wait_word(team, Int64, at, GE, epoch, call, pe)


@cute.jit
def meet_at(
    call: cutlass.Constexpr, team: Team, epoch: Int64, scope: cutlass.Constexpr, order: cutlass.Constexpr
):
    """Wait until all members have arrived at the sync of that number."""
    rank, step = Int32(rank_of(scope)), Int32(size_of(scope))
    mine = team.control + ARRIVED + Int64(team.my_pe) * 8
    if step >= team.n_pes:  # one thread for each member: its branch is entered once
        other = (rank < team.n_pes) & (rank != team.my_pe)
        there = mine
        if other:
            there = at_peer(team, mine, rank)
        meet_threads(team, scope)
        if other:
            tell(there, epoch, order)
            wait_for(call, team, rank, epoch, order)
    else:
        meet_threads(team, scope)
        for pe in cutlass.range(rank, team.n_pes, step, unroll=1):
            if pe != team.my_pe:
                tell(at_peer(team, mine, pe), epoch, order)
        for pe in cutlass.range(rank, team.n_pes, step, unroll=1):
            if pe != team.my_pe:
                wait_for(call, team, pe, epoch, order)
    meet_threads(team, scope)


def meet_members(call: Call, team, scope: Scope, order: Order) -> None:
    epoch = load(Int64, team.control + SYNC_EPOCH) + 1
    meet_at(call, team, epoch, scope, order)
    store(Int64, team.control + SYNC_EPOCH, epoch)  # by every thread, to read its own store later


def sync(team, scope: Scope = THREAD, order: Order = ACQUIRE_RELEASE, tag=0, bound_ns=0):
    call = call_of("sync", tag, bound_ns)
    meet_members(call, team_of("sync", team), one_of(Scope, "sync", scope), one_of(Order, "sync", order))


def barrier(team, scope: Scope = THREAD, tag=0, bound_ns=0):
    call = call_of("barrier", tag, bound_ns)
    complete_bulk()
    meet_members(call, team_of("barrier", team), one_of(Scope, "barrier", scope), ACQUIRE_RELEASE)


@cute.jit
def copy_own(
    to: Int64,
    source: Int64,
    nbytes: Int64,
    aligned: cutlass.Constexpr,
    least: cutlass.Constexpr,
    scope: cutlass.Constexpr,
):
    if to != source:
        copy_bytes(to, source, nbytes, aligned, least, scope)


@cute.jit
def put_to_all(
    team: Team, to: Int64, source: Int64, nbytes: Int64, least: cutlass.Constexpr, scope: cutlass.Constexpr
):
    """Put to each member, beginning with the next one, so that not all store to one at once."""
    for k in cutlass.range(1, team.n_pes, unroll=1):
        copy_bytes(at_peer(team, to, (team.my_pe + k) % team.n_pes), source, nbytes, 1, least, scope)
    copy_own(to, source, nbytes, 1, least, scope)


@cute.jit
def _broadcast(
    team: Team,
    to: Int64,
    source: Int64,
    nbytes: Int64,
    root: Int32,
    least: cutlass.Constexpr,
    whole: cutlass.Constexpr,
    scope: cutlass.Constexpr,
    call: cutlass.Constexpr,
):
    if nbytes > most_bytes(team):
        check_place(team, call.operation, to)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
        if team.my_pe == root:
            put_to_all(team, to, source, nbytes, least, scope)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
    else:
        epoch = next_epoch(team)
        sent = Int64(0)
        if team.my_pe == root:
            sent = nbytes
        send(team, epoch, sent, source, Int64(0), False, scope)
        pairs = Int32(pairs_of(nbytes))
        k = Int32(rank_of(scope))
        while k < pairs * team.n_pes:
            pe = k // pairs
            i = k - pe * pairs
            if (pe != team.my_pe) & ((pe == root) | (i == 0)):
                data = part(call, team, epoch, pe, i)
                if pe == root:
                    store_part(to, nbytes, Int64(i), data, whole)
            k += Int32(size_of(scope))
        if team.my_pe == root:
            copy_own(to, source, nbytes, 1, least, scope)
        end_exchange(team, epoch, scope)


@cute.jit
def take(
    call: cutlass.Constexpr,
    team: Team,
    epoch: Int32,
    nbytes: Int64,
    to: Int64,
    block: Int64,
    whole: cutlass.Constexpr,
    scope: cutlass.Constexpr,
):
    """Copy the message of each other member to `to + pe * block`."""
    pairs = Int32(pairs_of(nbytes))
    k = Int32(rank_of(scope))
    while k < pairs * team.n_pes:
        pe = k // pairs
        i = k - pe * pairs
        if pe != team.my_pe:
            data = part(call, team, epoch, pe, i)
            store_part(to + Int64(pe) * block, nbytes, Int64(i), data, whole)
        k += Int32(size_of(scope))


@cute.jit
def gather(
    call: cutlass.Constexpr,
    team: Team,
    to: Int64,
    source: Int64,
    nbytes: Int64,
    least: cutlass.Constexpr,
    whole: cutlass.Constexpr,
    scope: cutlass.Constexpr,
):
    own = to + Int64(team.my_pe) * nbytes
    if nbytes > most_bytes(team):
        check_place(team, call.operation, to)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
        put_to_all(team, own, source, nbytes, least, scope)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, Int64(0), whole, scope)
        take(call, team, epoch, nbytes, to, nbytes, whole, scope)
        copy_own(own, source, nbytes, 1, least, scope)
        end_exchange(team, epoch, scope)


@cute.jit
def _collect(
    team: Team,
    to: Int64,
    source: Int64,
    count: Int64,
    item: cutlass.Constexpr,
    least: cutlass.Constexpr,
    scope: cutlass.Constexpr,
    call: cutlass.Constexpr,
):
    check_place(team, call.operation, to)
    counts = team.control + COUNTS
    mine = counts + Int64(team.my_pe) * 8  # a member's count is read from its own entry
    if rank_of(scope) == 0:
        store(Int64, mine, count, SYSTEM)
    meet_threads(team, scope)
    gather(call, team, counts, mine, Int64(8), 8, True, scope)
    before, arrived = Int64(0), Int64(0)
    for pe in cutlass.range(team.n_pes, unroll=1):
        one = load(Int64, counts + Int64(pe) * 8, SYSTEM)
        if pe < team.my_pe:
            before += one
        arrived += one
    meet_members(call, team, scope, ACQUIRE_RELEASE)
    put_to_all(team, to + before * item, source, count * item, least, scope)
    meet_members(call, team, scope, ACQUIRE_RELEASE)
    return arrived


@cute.jit
def _alltoall(
    team: Team,
    to: Int64,
    source: Int64,
    nbytes: Int64,
    least: cutlass.Constexpr,
    scope: cutlass.Constexpr,
    call: cutlass.Constexpr,
):
    mine = Int64(team.my_pe) * nbytes
    if nbytes > most_bytes(team):
        check_place(team, call.operation, to)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
        for k in cutlass.range(team.n_pes, unroll=1):
            pe = (team.my_pe + k) % team.n_pes
            copy_bytes(at_peer(team, to + mine, pe), source + Int64(pe) * nbytes, nbytes, 1, least, scope)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, nbytes, False, scope)
        take(call, team, epoch, nbytes, to, nbytes, False, scope)
        copy_own(to + mine, source + mine, nbytes, 1, least, scope)
        end_exchange(team, epoch, scope)


def _both(name: str, team, dst, src, scope):
    """Return the addresses of both tensors, the size of src in bytes, the unit that divides it, and whether
    src is whole.

    Whole: 8-byte units at multiples of 8.
    """
    team_of(name, team)
    kind = same(name, dst, src)
    dense(name, "dst", dst)
    dense(name, "src", src)
    one_of(Scope, name, scope)
    if name in ("broadcast", "reduce", "alltoall", "fcollect"):
        fits(name, dst, src)
    item = kind.width // 8
    whole = is_whole(src) and words_at(dst) % 8 == 0
    return address(dst), address(src), size_in_bytes(src), item, min(item & -item, 8), whole


def broadcast(team, dst, src, root, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, nbytes, _, least, whole = _both("broadcast", team, dst, src, scope)
    call = call_of("broadcast", tag, bound_ns)
    check_pe(team, "broadcast", root)
    _broadcast(team, to, source, nbytes, Int32(root), least, whole, scope, call)


def fcollect(team, dst, src, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, nbytes, _, least, whole = _both("fcollect", team, dst, src, scope)
    gather(call_of("fcollect", tag, bound_ns), team, to, source, nbytes, least, whole, scope)


def collect(team, dst, src, count, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, _, item, least, _ = _both("collect", team, dst, src, scope)
    global_memory("collect", "dst", dst)
    call = call_of("collect", tag, bound_ns)
    return _collect(team, to, source, Int64(count), item, least, scope, call)


def alltoall(team, dst, src, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, nbytes, item, least, _ = _both("alltoall", team, dst, src, scope)
    call = call_of("alltoall", tag, bound_ns)
    _alltoall(team, to, source, nbytes // item // team.n_pes * item, least, scope, call)


# ---- reductions


def combine(kind, op: ReduceOp, a, b):
    """a op b; integers wrap around, and NaN propagates."""
    form, letter = FORMS[kind]
    floating = kind in FLOATS
    text = {
        SUM: f"add.{form} $0, $1, $2;",
        PROD: f"mul.{form} $0, $1, $2;" if floating else f"mul.lo.{form} $0, $1, $2;",
        AND: f"and.b{kind.width} $0, $1, $2;",
        OR: f"or.b{kind.width} $0, $1, $2;",
        XOR: f"xor.b{kind.width} $0, $1, $2;",
    }.get(op)
    if text is None:
        nan = f"setp.nan.or.{form} p, $2, $2, p; " if floating else ""
        text = f"{{ .reg .pred p; setp.{'lt' if op is MIN else 'gt'}.{form} p, $2, $1; {nan}selp.{form} $0, $2, $1, p; }}"
    return asm(text, f"={letter},{letter},{letter}", kind, [a, b])


@cute.jit
def fold_received(
    call: cutlass.Constexpr,
    team: Team,
    kind: cutlass.Constexpr,
    op: cutlass.Constexpr,
    epoch: Int32,
    to: Int64,
    own: Int64,
    nbytes: Int64,
    whole: cutlass.Constexpr,
    scope: cutlass.Constexpr,
):
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
def fold_pulled(
    team: Team,
    kind: cutlass.Constexpr,
    op: cutlass.Constexpr,
    many: cutlass.Constexpr,
    places: cutlass.Constexpr,
):
    """Fold `many` elements at each of these addresses over all members; the loads are in flight together."""
    so_far = [load_many(kind, many, at_peer(team, at, Int32(0))) for at in places]
    for pe in cutlass.range(1, team.n_pes, unroll=1):
        come = [load_many(kind, many, at_peer(team, at, Int32(pe))) for at in places]
        so_far = [
            [combine(kind, op, one[k], other[k]) for k in range(many)]
            for one, other in zip(so_far, come, strict=True)
        ]
    return so_far


@cute.jit
def _reduce_units(
    team: Team,
    kind: cutlass.Constexpr,
    op: cutlass.Constexpr,
    many: cutlass.Constexpr,
    to: Int64,
    source: Int64,
    count: Int64,
    scope: cutlass.Constexpr,
):
    """Fold this PE's share of `count` units of that many elements, two at once in a thread, and store it at
    all members.
    """
    unit = many * kind.width // 8
    each = (count + team.n_pes - 1) // team.n_pes
    begin = cutlass.min(Int64(team.my_pe) * each, count)
    end = cutlass.min(begin + each, count)
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
    team: Team,
    kind: cutlass.Constexpr,
    op: cutlass.Constexpr,
    to: Int64,
    source: Int64,
    count: Int64,
    whole: cutlass.Constexpr,
    scope: cutlass.Constexpr,
    call: cutlass.Constexpr,
):
    item = kind.width // 8
    nbytes = count * item
    if nbytes <= most_bytes(team):
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, Int64(0), whole, scope)
        meet_threads(team, scope)  # dst may be src, which all threads have sent now
        fold_received(call, team, kind, op, epoch, to, source, nbytes, whole, scope)
        end_exchange(team, epoch, scope)
    else:
        check_place(team, call.operation, to)
        check_place(team, call.operation, source)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
        many = 16 // item
        units = Int64(0)
        if (to | source) & 15 == 0:
            units = count // many
            _reduce_units(team, kind, op, many, to, source, units, scope)
        done = units * 16
        _reduce_units(team, kind, op, 1, to + done, source + done, count - units * many, scope)
        meet_members(call, team, scope, ACQUIRE_RELEASE)


@cute.jit
def _reduce_scatter(
    team: Team,
    kind: cutlass.Constexpr,
    op: cutlass.Constexpr,
    to: Int64,
    source: Int64,
    count: Int64,
    scope: cutlass.Constexpr,
    call: cutlass.Constexpr,
):
    item = kind.width // 8
    nbytes = count * item
    mine = source + Int64(team.my_pe) * nbytes
    if nbytes <= most_bytes(team):
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, nbytes, False, scope)
        fold_received(call, team, kind, op, epoch, to, mine, nbytes, False, scope)
        end_exchange(team, epoch, scope)
    else:
        check_place(team, call.operation, source)
        meet_members(call, team, scope, ACQUIRE_RELEASE)
        i = Int64(rank_of(scope))
        while i < count:
            store_many(kind, 1, to + i * item, fold_pulled(team, kind, op, 1, (mine + i * item,))[0])
            i += Int64(size_of(scope))
        meet_members(call, team, scope, ACQUIRE_RELEASE)


def reducible(name: str, kind, op) -> None:
    """Refuse an operator that elements of that kind do not have; the TypeError lists the kinds that have it."""
    allowed = WORDS if op in (AND, OR, XOR) else WORDS + FLOATS
    if kind not in allowed:
        listed = ", ".join(one.__name__ for one in allowed)
        raise TypeError(f"atoll.cute.{name}: {op.name} of {kind.__name__}; it takes {listed}")


def _reduction(name: str, team, dst, src, op, scope):
    kind = same(name, dst, src)
    reducible(name, kind, one_of(ReduceOp, name, op))
    return kind, _both(name, team, dst, src, scope)[-1]


def reduce(team, dst, src, op, scope: Scope = THREAD, tag=0, bound_ns=0):
    kind, whole = _reduction("reduce", team, dst, src, op, scope)
    call = call_of("reduce", tag, bound_ns)
    _reduce(team, kind, op, address(dst), address(src), Int64(cute.size(src)), whole, scope, call)


def reduce_scatter(team, dst, src, op, scope: Scope = THREAD, tag=0, bound_ns=0):
    kind, _ = _reduction("reduce_scatter", team, dst, src, op, scope)
    call = call_of("reduce_scatter", tag, bound_ns)
    _reduce_scatter(team, kind, op, address(dst), address(src), Int64(cute.size(dst)), scope, call)
