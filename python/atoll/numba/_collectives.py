"""Barriers and collectives (atoll/device/sync.hpp, collectives.hpp). api/kernels.toml has their contracts."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types

from .._kernels.bodies import _collectives
from .._kernels.bodies._collectives import ARRIVED
from .._kernels.checks import CHECKS
from .._kernels.ptx import AT
from . import _primitives as prim
from ._addresses import at_peer, bytes_of, check_address, implement_check, item_of, pairs_of
from ._dsl._registration import helper, operation, vocabulary
from ._exchange import counts_at, end_exchange, most_bytes, next_epoch, part, send
from ._polling import Call, call_of, wait_relaxed, wait_word
from ._types import ACQUIRE_RELEASE, GE, RELAXED, THREAD, constant

i64 = types.int64
ROOT = CHECKS["broadcast"]
BROADCAST, FCOLLECT, COLLECT, ALLTOALL = AT["broadcast"], AT["fcollect"], AT["collect"], AT["alltoall"]
REDUCE, REDUCE_SCATTER = AT["reduce"], AT["reduce_scatter"]


class Meeting(NamedTuple):
    """The result of meeting()."""

    team: Any
    scope: Any
    epoch: Any
    tag: Any
    bound: Any


def check_large(team, operation, x, nbytes):
    """check_address of an array that peers address, if messages of this size do not fit the team's slots."""


def _check_large(team, operation, x, nbytes):
    if nbytes > most_bytes(team):
        check_address(team, operation, x)


implement_check(check_large, _check_large)


tell, wait_for = _collectives.arrivals(helper, prim, i64, wait_word, wait_relaxed, GE).values()


@helper
def meet_at(call, team, epoch, scope, relaxed):
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


@vocabulary
def is_relaxed(order):
    found = constant(order) is RELAXED
    return lambda order: found


OPERATIONS = _collectives.operations(
    operation, helper, prim, i64, Call, call_of, meet_at, is_relaxed, Meeting, THREAD=THREAD,
    ACQUIRE_RELEASE=ACQUIRE_RELEASE, UNTAGGED=None, UNBOUNDED=None,
)  # fmt: skip
close_meeting, meet_members = OPERATIONS["close_meeting"], OPERATIONS["meet_members"]
globals().update(OPERATIONS)


@helper
def take(call, team, epoch, nbytes, to, block, scope):
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
def copy_own(to, source, nbytes, scope):
    if to != source:
        prim.copy(to, source, nbytes, scope)


@helper
def put_to_all(team, to, source, nbytes, scope):
    """Put to each member, beginning with the next one, so that not all store to one at once."""
    for k in range(1, team.n_pes):
        prim.copy(at_peer(team, to, (team.my_pe + k) % team.n_pes), source, nbytes, scope)
    copy_own(to, source, nbytes, scope)


@operation
def broadcast(team, dst, src, root, scope=THREAD, tag=0, bound_ns=None):
    broadcast_bytes(call_of(BROADCAST, tag, bound_ns), team, dst, src, bytes_of(src), root, scope)


@helper
def broadcast_bytes(call, team, dst, src, nbytes, root, scope):
    """Broadcast the first bytes of src."""
    prim.check_pe(team.control, team.n_pes, ROOT, root)
    check_large(team, BROADCAST, dst, nbytes)
    to, source = prim.address(dst), prim.address(src)
    if nbytes > most_bytes(team):
        meet_members(call, team, scope, False)
        if team.my_pe == root:
            put_to_all(team, to, source, nbytes, scope)
        meet_members(call, team, scope, False)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes if team.my_pe == root else 0, source, 0, scope)
        pairs = pairs_of(nbytes)
        k = prim.rank(scope)
        while k < pairs * team.n_pes:
            pe = prim.quotient(k, pairs)
            i = k - pe * pairs
            if pe != team.my_pe and (pe == root or i == 0):  # messages of the other members have no bytes
                data = part(call, team, epoch, pe, i)
                if pe == root:
                    prim.store_part(to, nbytes, i, data)
            k += prim.size(scope)
        if team.my_pe == root:
            copy_own(to, source, nbytes, scope)
        end_exchange(team, epoch, scope)


@helper
def gather(call, team, to, source, nbytes, scope):
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


@operation
def fcollect(team, dst, src, scope=THREAD, tag=0, bound_ns=None):
    check_large(team, FCOLLECT, dst, bytes_of(src))
    call = call_of(FCOLLECT, tag, bound_ns)
    gather(call, team, prim.address(dst), prim.address(src), bytes_of(src), scope)


@operation
def collect(team, dst, src, scope=THREAD, tag=0, bound_ns=None):
    call, counts = call_of(COLLECT, tag, bound_ns), counts_at(team)
    check_address(team, COLLECT, dst)
    # gather() reads each member's count from that member's own entry.
    if prim.rank(scope) == 0:
        prim.store_relaxed(i64, counts + 8 * team.my_pe, src.size)
    prim.meet(team.control, scope)
    gather(call, team, counts, counts + 8 * team.my_pe, 8, scope)
    before = i64(0)
    arrived = i64(0)
    for pe in range(team.n_pes):
        count = prim.load_relaxed(i64, counts + 8 * pe)
        if pe < team.my_pe:
            before += count
        arrived += count
    meet_members(call, team, scope, False)
    put_to_all(team, prim.address(dst) + before * item_of(dst), prim.address(src), bytes_of(src), scope)
    meet_members(call, team, scope, False)
    return arrived


@operation
def alltoall(team, dst, src, scope=THREAD, tag=0, bound_ns=None):
    call, nbytes = call_of(ALLTOALL, tag, bound_ns), src.size // team.n_pes * item_of(src)
    check_large(team, ALLTOALL, dst, nbytes)
    to, source = prim.address(dst), prim.address(src)
    mine = team.my_pe * nbytes
    if nbytes > most_bytes(team):
        meet_members(call, team, scope, False)
        for k in range(team.n_pes):
            pe = (team.my_pe + k) % team.n_pes
            prim.copy(at_peer(team, to + mine, pe), source + pe * nbytes, nbytes, scope)
        meet_members(call, team, scope, False)
    else:
        epoch = next_epoch(team)
        send(team, epoch, nbytes, source, nbytes, scope)
        take(call, team, epoch, nbytes, to, nbytes, scope)
        copy_own(to + mine, source + mine, nbytes, scope)
        end_exchange(team, epoch, scope)
