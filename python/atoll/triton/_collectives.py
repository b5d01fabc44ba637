"""Meeting, and collectives over it; called by one program of each PE at a time for a team."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._ptx import AT
from ._core import AND, GE, MAX, MIN, MOST_PES, OR, PROD, SUM, at_pe, check_pe, checks, look_around, word_at
from ._moves import copy_tile, put_nbi

_ROOT = checks("root")
_SYNC_EPOCH, _ARRIVED = tl.constexpr(AT["sync_epoch"]), tl.constexpr(AT["arrived"])
_COUNTS, _SYNC = tl.constexpr(AT["counts"]), tl.constexpr(AT["sync"])


@jit
def sync(team):
    """All members have arrived; what each program wrote and saw before is visible to every one after it.

    Called by one program of each PE, or by the same ones one after another (one at a time for a team).
    """
    epoch = tl.load(word_at(team.control + _SYNC_EPOCH), volatile=True) + 1
    arrived = word_at(team.control + _ARRIVED)
    members = tl.arange(0, MOST_PES)
    others = (members < team.n_pes) & (members != team.my_pe)
    tl.debug_barrier()
    words = at_pe(team, arrived + team.my_pe + members * 0, tl.where(others, members, team.my_pe))
    tl.atomic_xchg(words, epoch + tl.zeros_like(members), mask=others, sem="release", scope="sys")
    late = 1
    looks = 0
    since = tl.full((), 0, tl.int64)
    while late != 0:
        found = tl.atomic_add(
            arrived + members, tl.zeros_like(members).to(tl.int64), mask=others, sem="acquire", scope="sys"
        )
        waiting = others & (found < epoch)
        late = tl.sum(waiting.to(tl.int32), 0)
        looks += 1
        if looks % 1024 == 0:
            which = tl.max(tl.where(waiting, members, -1), 0)
            address = team.control + _ARRIVED + 8 * which
            seen = tl.load(word_at(address), volatile=True)
            since = look_around(team, _SYNC, GE, which, 0, address, epoch, seen, since)
    tl.debug_barrier()
    tl.store(word_at(team.control + _SYNC_EPOCH), epoch)
    tl.debug_barrier()


@jit
def barrier(team):
    """quiet, then sync: here what orders the one completes the other."""
    sync(team)


@jit
def broadcast(team, dst, src, n, root, BLOCK: tl.constexpr = 1024):
    """n elements of dst of every member = src of `root`; dst is symmetric."""
    check_pe(team, root, _ROOT)
    sync(team)
    if team.my_pe == root:
        for k in range(team.n_pes):
            put_nbi(team, dst, src, n, (root + k) % team.n_pes, BLOCK)
    sync(team)


@jit
def fcollect(team, dst, src, n, BLOCK: tl.constexpr = 1024):
    """dst = src of member 0, 1, …; n elements of each; dst is symmetric."""
    sync(team)
    for k in range(team.n_pes):
        put_nbi(team, dst + team.my_pe * n, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
    sync(team)


@jit
def alltoall(team, dst, src, n, BLOCK: tl.constexpr = 1024):
    """Block j of my src becomes block my_pe of member j's dst; n elements a block; dst is symmetric."""
    sync(team)
    for k in range(team.n_pes):
        pe = (team.my_pe + k) % team.n_pes
        put_nbi(team, dst + team.my_pe * n, src + pe * n, n, pe, BLOCK)
    sync(team)


@jit
def collect(team, dst, src, n, BLOCK: tl.constexpr = 1024):
    """fcollect with an n that differs between members. Returns how many elements arrived (int64)."""
    counts = word_at(team.control + _COUNTS)
    members = tl.arange(0, MOST_PES)
    inside = members < team.n_pes
    sync(team)
    to = at_pe(team, counts + team.my_pe + members * 0, tl.where(inside, members, team.my_pe))
    tl.store(to, n + tl.zeros_like(members).to(tl.int64), mask=inside)
    sync(team)
    all_counts = tl.load(counts + members, mask=inside, other=0, volatile=True)
    before = tl.sum(tl.where(members < team.my_pe, all_counts, 0), 0)
    for k in range(team.n_pes):
        put_nbi(team, dst + before, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
    sync(team)
    return tl.sum(all_counts, 0)


@jit
def _combine(a, b, op: tl.constexpr):
    """a op b; a NaN is passed on."""
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
    """What stands at a block of pointers, over the members in PE order; 16-bit floats in float32."""
    kind: tl.constexpr = src.dtype.element_ty
    wide: tl.constexpr = tl.float32 if kind == tl.float16 or kind == tl.bfloat16 else kind
    so_far = tl.load(at_pe(team, src, 0), mask=mask, volatile=True).to(wide)
    for pe in range(1, team.n_pes):
        so_far = _combine(so_far, tl.load(at_pe(team, src, pe), mask=mask, volatile=True).to(wide), op)
    return so_far.to(kind)


@jit
def _fold_to_all(team, dst, src, first, last, op: tl.constexpr, BLOCK: tl.constexpr):
    """Elements first … last - 1 of every member's dst = the fold of src."""
    for begin in range(first, last, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = _fold(team, src + at, at < last, op)
        for k in range(1, team.n_pes + 1):
            tl.store(at_pe(team, dst + at, (team.my_pe + k) % team.n_pes), value, mask=at < last)


@jit
def reduce(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024):
    """dst = src of member 0 op src of member 1 op …, n elements (SUM PROD MIN MAX AND OR XOR); dst may be src.

    Both are symmetric. Each member folds its part, in PE order, and stores it at all: the same bits everywhere.
    """
    sync(team)
    part = tl.cdiv(n, team.n_pes)
    first = team.my_pe * part
    last = tl.minimum(first + part, n)
    _fold_to_all(team, dst, src, first, last, op, BLOCK)
    sync(team)


@jit
def reduce_scatter(team, dst, src, n, op: tl.constexpr, BLOCK: tl.constexpr = 1024):
    """dst = block my_pe of the reduction of the symmetric src, which has n_pes blocks of n elements, apart from dst."""
    sync(team)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.store(dst + at, _fold(team, src + team.my_pe * n + at, at < n, op), mask=at < n)
    sync(team)


@jit
def tile_reduce(
    team, dst, src, dst_pitch, src_pitch, rows, cols, op: tl.constexpr, COLS: tl.constexpr = 1024
):
    """A tile of dst of every member = those of src, folded in PE order. Both are symmetric; dst may be src."""
    sync(team)
    for row in range(team.my_pe, rows, team.n_pes):
        to, come = dst + row.to(tl.int64) * dst_pitch, src + row.to(tl.int64) * src_pitch
        _fold_to_all(team, to, come, 0, cols, op, COLS)
    sync(team)


@jit
def tile_allgather(
    team, dst, src, dst_pitch, src_pitch, rows, cols, ROWS: tl.constexpr = 16, COLS: tl.constexpr = 64
):
    """Rows pe * rows … of dst of every member = the tile src of member pe. dst is symmetric."""
    sync(team)
    mine = dst + (team.my_pe + tl.full((), 0, tl.int64)) * rows * dst_pitch
    for k in range(team.n_pes):
        to = at_pe(team, mine, (team.my_pe + k) % team.n_pes)
        copy_tile(to, src, dst_pitch, src_pitch, rows, cols, ROWS, COLS)
    sync(team)
