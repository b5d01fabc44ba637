"""Barriers and collectives, called by one program of each PE at a time for a team.

With ATOLL_CHECK=all, large calls check that dst and src are symmetric, since they access them at other PEs.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels.ptx import AT
from . import _exchange as exchange
from ._addresses import check_address, check_pe, checks, reach
from ._moves import put_nbi
from ._polling import wait_word
from ._primitives import bytes_of, load, store, word_at
from ._threads import num_threads, thread
from ._types import ACQUIRE_RELEASE, GE, RELAXED

_ROOT = checks("broadcast")
_SYNC_EPOCH, _ARRIVED = tl.constexpr(AT["sync_epoch"]), tl.constexpr(AT["arrived"])
_AT_ONCE = tl.constexpr(64)  # members whose counts are loaded together
_SYNC, _BARRIER = tl.constexpr(AT["sync"]), tl.constexpr(AT["barrier"])
_BROADCAST, _FCOLLECT, _COLLECT, _ALLTOALL = (
    tl.constexpr(AT[name]) for name in ("broadcast", "fcollect", "collect", "alltoall")
)


@jit
def meet_members(team, operation: tl.constexpr, tag, bound, order: tl.constexpr = ACQUIRE_RELEASE):
    epoch = load(team.control + _SYNC_EPOCH, tl.int64) + 1
    arrived = team.control + _ARRIVED
    tl.debug_barrier()
    for first in range(0, team.n_pes, num_threads()):
        pe = first + thread()
        other = ((pe < team.n_pes) & (pe != team.my_pe)).to(tl.int32)
        to = reach(team, arrived + 8 * team.my_pe, tl.minimum(pe, team.n_pes - 1))
        store(to, epoch, tl.int64, ".relaxed.sys" if order == RELAXED else ".release.sys", other)
    for first in range(0, team.n_pes, num_threads()):
        pe = first + thread()
        other = ((pe < team.n_pes) & (pe != team.my_pe)).to(tl.int32)
        seen: tl.constexpr = "relaxed" if order == RELAXED else "acquire"
        wait_word(team, arrived + 8 * pe, tl.int64, GE, epoch, operation, pe, tag, seen, other, bound)
    tl.debug_barrier()
    store(team.control + _SYNC_EPOCH, epoch, tl.int64)


@jit
def sync(team, order: tl.constexpr = ACQUIRE_RELEASE, tag=0, bound_ns=0):
    meet_members(team, _SYNC, tag, bound_ns, order)


@jit
def barrier(team, tag=0, bound_ns=0):
    meet_members(team, _BARRIER, tag, bound_ns)


@jit
def broadcast(team, dst, src, n, root, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    check_pe(team, root, _ROOT)
    nbytes = bytes_of(src, n)
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
        check_address(team, dst, _BROADCAST)
        meet_members(team, _BROADCAST, tag, bound_ns)
        if team.my_pe == root:
            for k in range(team.n_pes):
                put_nbi(team, dst, src, n, (root + k) % team.n_pes, BLOCK)
        meet_members(team, _BROADCAST, tag, bound_ns)


@jit
def _gather(team, dst, src, n, BLOCK: tl.constexpr, operation: tl.constexpr, tag, bound):
    nbytes = bytes_of(src, n)
    if exchange.is_small(team, nbytes):
        epoch = exchange.begin(team)
        to, source = dst.to(tl.int64), src.to(tl.int64)
        exchange.send(team, epoch, nbytes, source, 0)
        exchange.take(team, epoch, nbytes, to, nbytes, operation, tag, bound)
        exchange.copy_own(nbytes, to + team.my_pe * nbytes, source)
        exchange.end(team, epoch)
    else:
        check_address(team, dst, operation)
        meet_members(team, operation, tag, bound)
        for k in range(team.n_pes):
            put_nbi(team, dst + team.my_pe * n, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
        meet_members(team, operation, tag, bound)


@jit
def fcollect(team, dst, src, n, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    _gather(team, dst, src, n, BLOCK, _FCOLLECT, tag, bound_ns)


@jit
def alltoall(team, dst, src, n, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    nbytes = bytes_of(src, n)
    if exchange.is_small(team, nbytes):
        epoch = exchange.begin(team)
        to, source, mine = dst.to(tl.int64), src.to(tl.int64), team.my_pe * nbytes
        exchange.send(team, epoch, nbytes, source, nbytes)
        exchange.take(team, epoch, nbytes, to, nbytes, _ALLTOALL, tag, bound_ns)
        exchange.copy_own(nbytes, to + mine, source + mine)
        exchange.end(team, epoch)
    else:
        check_address(team, dst, _ALLTOALL)
        meet_members(team, _ALLTOALL, tag, bound_ns)
        for k in range(team.n_pes):
            pe = (team.my_pe + k) % team.n_pes
            put_nbi(team, dst + team.my_pe * n, src + pe * n, n, pe, BLOCK)
        meet_members(team, _ALLTOALL, tag, bound_ns)


@jit
def collect(team, dst, src, n, BLOCK: tl.constexpr = 1024, tag=0, bound_ns=0):
    check_address(team, dst, _COLLECT)
    counts = word_at(exchange.counts_at(team))
    mine = counts + team.my_pe
    store(mine.to(tl.int64), n, tl.int64)
    _gather(team, counts, mine, 1, 1024, _COLLECT, tag, bound_ns)
    before = tl.full((), 0, tl.int64)
    arrived = tl.full((), 0, tl.int64)
    for first in range(0, team.n_pes, _AT_ONCE):
        members = first + tl.arange(0, _AT_ONCE)
        some = tl.load(counts + members, mask=members < team.n_pes, other=0, volatile=True)
        before += tl.sum(tl.where(members < team.my_pe, some, 0), 0)
        arrived += tl.sum(some, 0)
    meet_members(team, _COLLECT, tag, bound_ns)
    for k in range(team.n_pes):
        put_nbi(team, dst + before, src, n, (team.my_pe + k) % team.n_pes, BLOCK)
    meet_members(team, _COLLECT, tag, bound_ns)
    return arrived
