"""Barriers and collectives (atoll/device/sync.hpp, collectives.hpp). api/kernels.toml has their contracts."""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.bodies import _collectives
from .._kernels.bodies._collectives import ARRIVED
from .._kernels.checks import CHECKS
from .._kernels.ptx import AT
from . import _primitives as prim
from ._addresses import address, at_peer, check_address, refuse_pe, words_at
from ._dsl._copies import copy_bytes, is_whole, size_in_bytes
from ._exchange import counts_at, end_exchange, most_bytes, next_epoch, part, send
from ._polling import Call, call_of, wait_relaxed, wait_word
from ._primitives import SYSTEM, as_it_is, load, pairs_of, store, store_part
from ._threads import meet_threads, rank_of, size_of
from ._types import ACQUIRE_RELEASE, GE, RELAXED, THREAD, Scope, Team


@dataclass(frozen=True)
class Meeting:
    """The result of meeting()."""

    team: Team
    scope: Constexpr
    epoch: Int64
    tag: Int32
    bound: Int64 | None


tell, wait_for = _collectives.arrivals(as_it_is, prim, Int64, wait_word, wait_relaxed, GE).values()


@cute.jit
def meet_at(call: Constexpr, team: Team, epoch: Int64, scope: Constexpr, relaxed: Constexpr):
    """Wait until all members have arrived at the sync of that number."""
    rank, step = Int32(rank_of(scope)), Int32(size_of(scope))
    mine = team.control + ARRIVED + Int64(team.my_pe) * 8
    if step >= team.n_pes:  # one thread for each member: its branch is entered once
        other = (rank < team.n_pes) & (rank != team.my_pe)
        there = mine
        if other:
            there = at_peer(team, mine, rank)
        meet_threads(team.control, scope)
        if other:
            tell(there, epoch, relaxed)
            wait_for(call, team.control, rank, epoch, relaxed)
    else:
        meet_threads(team.control, scope)
        for pe in cutlass.range(rank, team.n_pes, step, unroll=1):
            if pe != team.my_pe:
                tell(at_peer(team, mine, pe), epoch, relaxed)
        for pe in cutlass.range(rank, team.n_pes, step, unroll=1):
            if pe != team.my_pe:
                wait_for(call, team.control, pe, epoch, relaxed)
    meet_threads(team.control, scope)


OPERATIONS = _collectives.operations(
    as_it_is, as_it_is, prim, Int64, Call, call_of, meet_at, lambda order: order is RELAXED, Meeting,
    THREAD=THREAD, ACQUIRE_RELEASE=ACQUIRE_RELEASE, UNTAGGED=0, UNBOUNDED=0,
)  # fmt: skip
close_meeting, meet_members = OPERATIONS["close_meeting"], OPERATIONS["meet_members"]
globals().update(OPERATIONS)


@cute.jit
def copy_own(to: Int64, source: Int64, nbytes: Int64, aligned: Constexpr, least: Constexpr, scope: Constexpr):
    if to != source:
        copy_bytes(to, source, nbytes, aligned, least, scope)


@cute.jit
def put_to_all(team: Team, to: Int64, source: Int64, nbytes: Int64, least: Constexpr, scope: Constexpr):
    """Put to each member, beginning with the next one, so that not all store to one at once."""
    for k in cutlass.range(1, team.n_pes, unroll=1):
        copy_bytes(at_peer(team, to, (team.my_pe + k) % team.n_pes), source, nbytes, 1, least, scope)
    copy_own(to, source, nbytes, 1, least, scope)


@cute.jit
def _broadcast(
    team: Team, to: Int64, source: Int64, nbytes: Int64, root: Int32, least: Constexpr, whole: Constexpr,
    scope: Constexpr, call: Constexpr,
):  # fmt: skip
    if nbytes > most_bytes(team):
        check_address(team, call.operation, to)
        meet_members(call, team, scope, False)
        if team.my_pe == root:
            put_to_all(team, to, source, nbytes, least, scope)
        meet_members(call, team, scope, False)
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
    call: Constexpr, team: Team, epoch: Int32, nbytes: Int64, to: Int64, block: Int64, whole: Constexpr,
    scope: Constexpr,
):  # fmt: skip
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
    call: Constexpr, team: Team, to: Int64, source: Int64, nbytes: Int64, least: Constexpr, whole: Constexpr,
    scope: Constexpr,
):  # fmt: skip
    own = to + Int64(team.my_pe) * nbytes
    if nbytes > most_bytes(team):
        check_address(team, call.operation, to)
        meet_members(call, team, scope, False)
        put_to_all(team, own, source, nbytes, least, scope)
        meet_members(call, team, scope, False)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, Int64(0), whole, scope)
        take(call, team, epoch, nbytes, to, nbytes, whole, scope)
        copy_own(own, source, nbytes, 1, least, scope)
        end_exchange(team, epoch, scope)


@cute.jit
def _collect(
    team: Team, to: Int64, source: Int64, count: Int64, item: Constexpr, least: Constexpr, scope: Constexpr,
    call: Constexpr,
):  # fmt: skip
    check_address(team, call.operation, to)
    counts = counts_at(team)
    mine = counts + Int64(team.my_pe) * 8  # a member's count is read from its own entry
    if rank_of(scope) == 0:
        store(Int64, mine, count, SYSTEM)
    meet_threads(team.control, scope)
    gather(call, team, counts, mine, Int64(8), 8, True, scope)
    before, arrived = Int64(0), Int64(0)
    for pe in cutlass.range(team.n_pes, unroll=1):
        one = load(Int64, counts + Int64(pe) * 8, SYSTEM)
        if pe < team.my_pe:
            before += one
        arrived += one
    meet_members(call, team, scope, False)
    put_to_all(team, to + before * item, source, count * item, least, scope)
    meet_members(call, team, scope, False)
    return arrived


@cute.jit
def _alltoall(
    team: Team, to: Int64, source: Int64, nbytes: Int64, least: Constexpr, scope: Constexpr, call: Constexpr
):
    mine = Int64(team.my_pe) * nbytes
    if nbytes > most_bytes(team):
        check_address(team, call.operation, to)
        meet_members(call, team, scope, False)
        for k in cutlass.range(team.n_pes, unroll=1):
            pe = (team.my_pe + k) % team.n_pes
            copy_bytes(at_peer(team, to + mine, pe), source + Int64(pe) * nbytes, nbytes, 1, least, scope)
        meet_members(call, team, scope, False)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, nbytes, False, scope)
        take(call, team, epoch, nbytes, to, nbytes, False, scope)
        copy_own(to + mine, source + mine, nbytes, 1, least, scope)
        end_exchange(team, epoch, scope)


def both_of(dst, src):
    """Return the addresses of both tensors, the size of src in bytes, the unit that divides it, and whether
    src is whole.

    Whole: 8-byte units at multiples of 8.
    """
    item = src.element_type.width // 8
    whole = is_whole(src) and words_at(dst) % 8 == 0
    return address(dst), address(src), size_in_bytes(src), item, min(item & -item, 8), whole


def broadcast(team, dst, src, root, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, nbytes, _, least, whole = both_of(dst, src)
    call = call_of(AT["broadcast"], tag, bound_ns)
    refuse_pe(team, CHECKS["broadcast"], root)
    _broadcast(team, to, source, nbytes, root, least, whole, scope, call)


def fcollect(team, dst, src, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, nbytes, _, least, whole = both_of(dst, src)
    gather(call_of(AT["fcollect"], tag, bound_ns), team, to, source, nbytes, least, whole, scope)


def collect(team, dst, src, count, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, _, item, least, _ = both_of(dst, src)
    call = call_of(AT["collect"], tag, bound_ns)
    return _collect(team, to, source, Int64(count), item, least, scope, call)


def alltoall(team, dst, src, scope: Scope = THREAD, tag=0, bound_ns=0):
    to, source, nbytes, item, least, _ = both_of(dst, src)
    call = call_of(AT["alltoall"], tag, bound_ns)
    _alltoall(team, to, source, nbytes // item // team.n_pes * item, least, scope, call)
