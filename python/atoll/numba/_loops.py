"""Mailboxes and repeated syncs in loops, as in atoll/device/mailbox.hpp and sync.hpp. Counters are in registers
from `outbox`, `inbox`, `meeting` until `close`. Each call returns the next value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types
from numba.core.errors import TypingError

from . import _mailboxes as mailboxes
from . import _primitives as prim
from ._addresses import bytes_of
from ._collectives import SYNC, SYNC_EPOCH, is_relaxed, meet_at
from ._dsl._registration import operation, vocabulary
from ._host import Mailbox
from ._mailboxes import Inbox, Outbox
from ._polling import POST, RECEIVE, Call, call_of, wait_pair
from ._types import ACQUIRE_RELEASE, THREAD

i64, u64 = types.int64, types.uint64


class Meeting(NamedTuple):
    """The result of meeting()."""

    team: Any
    scope: Any
    tag: Any
    bound: Any
    epoch: Any


@vocabulary
def nth(boxes, k):
    block = getattr(boxes, "types", [None])[0]
    if getattr(boxes, "instance_class", None) is not Mailbox or getattr(block, "ndim", 1) != 2:
        raise TypingError(
            f"atoll.numba.nth: {boxes} was given; it must be the result of dev.mailbox(room, count=...)"
        )
    return lambda boxes, k: Mailbox(boxes.block[k], boxes.room)


@operation
def outbox(team, box, pe, scope=THREAD, tag=None, bound_ns=None):
    return mailboxes.open_outbox(call_of(POST, tag, bound_ns), team, box, pe, scope)


@operation
def post_next(out, src):
    source, nbytes = prim.address(src), bytes_of(src)
    return mailboxes.send_message(out, mailboxes.own_part(source, nbytes, out.scope), source, nbytes)


@operation
def inbox(team, box, pe, scope=THREAD, tag=None, bound_ns=None):
    return mailboxes.open_inbox(call_of(RECEIVE, tag, bound_ns), team, box, pe, scope)


@operation
def receive_next(come, dst):
    return mailboxes.receive_message(come, prim.address(dst), bytes_of(dst))


@vocabulary
def begin(which):
    function = mailboxes.begin_out if which.instance_class is Outbox else mailboxes.begin_in
    return lambda which: function(which)


@operation
def store(out, part, data):
    prim.store_flagged(mailboxes.slot_here(out) + 16 * i64(part), i64(data), out.number & 0xFFFFFFFF)


@operation
def load(come, part):
    at, call = mailboxes.slot_here(come) + 16 * i64(part), Call(RECEIVE, come.tag, come.bound)
    return u64(wait_pair(come.team.control, at, come.number & 0xFFFFFFFF, call, come.pe))


@vocabulary
def end(which):
    function = mailboxes.end_out if which.instance_class is Outbox else mailboxes.end_in
    return lambda which: function(which)


@operation
def has_message(come):
    return mailboxes.has_come(come)


@operation
def meeting(team, scope=THREAD, tag=None, bound_ns=None):
    call = call_of(SYNC, tag, bound_ns)
    return Meeting(team, scope, call.tag, call.bound, prim.load_own(i64, team.control + SYNC_EPOCH))


@operation
def sync_next(met, order=ACQUIRE_RELEASE):
    call = Call(SYNC, met.tag, met.bound)
    meet_at(call, met.team, met.epoch + 1, met.scope, is_relaxed(order))
    return Meeting(met.team, met.scope, met.tag, met.bound, met.epoch + 1)


@vocabulary
def close(which):
    if which.instance_class is Outbox:
        return lambda which: mailboxes.close_outbox(which)
    if which.instance_class is Inbox:
        return lambda which: mailboxes.close_inbox(which)
    return lambda which: prim.store_own(i64, which.team.control + SYNC_EPOCH, which.epoch)
