"""Barriers of a team's members, one by one or in loops (atoll/device/sync.hpp).

In loops the team's counter is in a register from `meeting` until `close`. Each call returns the next value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ptx import AT
from . import by_name

SYNC_EPOCH, ARRIVED = AT["sync_epoch"], AT["arrived"]
SYNC, BARRIER = AT["sync"], AT["barrier"]


def arrivals(
    helper: Any, prim: Any, i64: Any, wait_word: Any, wait_relaxed: Any, GE: Any
) -> dict[str, Callable[..., Any]]:
    """Return how a member tells another one that it has arrived, and waits for it."""

    @helper
    def tell(address, epoch, relaxed):
        if relaxed:
            prim.store_relaxed(i64, address, epoch)
        else:
            prim.store_release(i64, address, epoch)

    @helper
    def wait_for(call, control, pe, epoch, relaxed):
        word = control + ARRIVED + i64(pe) * 8
        if relaxed:
            wait_relaxed(control, word, epoch, call, pe)
        else:
            wait_word(i64, control, word, GE, epoch, call, pe)

    return by_name(tell, wait_for)


def operations(
    operation: Any, helper: Any, prim: Any, i64: Any, Call: Any, call_of: Any, meet_at: Any, is_relaxed: Any,
    Meeting: Any, THREAD: Any, ACQUIRE_RELEASE: Any, UNTAGGED: Any, UNBOUNDED: Any,
) -> dict[str, Callable[..., Any]]:  # fmt: skip
    """Return the operations, and the function `meet_members`, by which collectives meet.

    UNTAGGED is the default of a meeting's tag: 0, or a value that takes no register.
    """

    @helper
    def close_meeting(met):
        """Store the counter, by every thread, so that its later loads see its own store."""
        prim.store_own(i64, met.team.control + SYNC_EPOCH, met.epoch)

    @helper
    def meet_members(call, team, scope, relaxed):
        epoch = prim.load_own(i64, team.control + SYNC_EPOCH) + 1
        meet_at(call, team, epoch, scope, relaxed)
        prim.store_own(i64, team.control + SYNC_EPOCH, epoch)

    @operation
    def sync(team, scope=THREAD, order=ACQUIRE_RELEASE, tag=0, bound_ns=UNBOUNDED):
        meet_members(call_of(SYNC, tag, bound_ns), team, scope, is_relaxed(order))

    @operation
    def barrier(team, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        prim.complete_bulk()
        meet_members(call_of(BARRIER, tag, bound_ns), team, scope, False)

    @operation
    def meeting(team, scope=THREAD, tag=UNTAGGED, bound_ns=UNBOUNDED):
        call = call_of(SYNC, tag, bound_ns)
        return Meeting(team, scope, prim.load_own(i64, team.control + SYNC_EPOCH), call.tag, call.bound)

    @operation
    def sync_next(met, order=ACQUIRE_RELEASE):
        epoch = met.epoch + 1
        meet_at(Call(SYNC, met.tag, met.bound), met.team, epoch, met.scope, is_relaxed(order))
        return Meeting(met.team, met.scope, epoch, met.tag, met.bound)

    return by_name(close_meeting, meet_members, sync, barrier, meeting, sync_next)
