"""Mailboxes and repeated syncs in loops, with counters in registers from `outbox`, `inbox`, `meeting` until
`close`.

As Outbox, Inbox and Meeting of atoll/device/mailbox.hpp and sync.hpp. They are values: each call returns the
next one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._collectives import SYNC, SYNC_EPOCH, meet_at
from ._host import Mailbox
from ._mailboxes import (
    Inbox,
    Outbox,
    begin_in,
    begin_out,
    close_inbox,
    close_outbox,
    end_in,
    end_out,
    has_come,
    open_inbox,
    open_outbox,
    own_part,
    receive_message,
    send_message,
    slot_here,
)
from ._polling import POST, RECEIVE, Call, call_of, wait_pair
from ._registration import helper, vocabulary
from ._types import ACQUIRE_RELEASE, RELAXED, THREAD, Kind, array, item, number, one_of, scope_of

i64, u64 = types.int64, types.uint64


class Meeting(NamedTuple):
    """The result of meeting()."""

    team: Any
    scope: Any
    tag: Any
    bound: Any
    epoch: Any


MADE_BY = {Outbox: "outbox", Inbox: "inbox", Meeting: "meeting"}


def opened(name: str, kind: Kind, *classes):
    """Return which of these classes an argument has."""
    found = getattr(kind, "instance_class", None)
    if found not in classes:
        wanted = " or ".join(f"dev.{MADE_BY[one]}" for one in classes)
        raise TypingError(f"atoll.numba.{name}: {kind} was given; it must be the result of {wanted}")
    return found


@vocabulary
def nth(boxes, k):
    block = getattr(boxes, "types", [None])[0]
    if getattr(boxes, "instance_class", None) is not Mailbox or getattr(block, "ndim", 1) != 2:
        raise TypingError(
            f"atoll.numba.nth: {boxes} was given; it must be the result of dev.mailbox(room, count=...)"
        )
    number("nth", "k", k, i64)
    return lambda boxes, k: Mailbox(boxes.block[k], boxes.room)


@vocabulary
def outbox(team, box, pe, scope=THREAD, tag=None, bound_ns=None):
    which = scope_of("outbox", scope)
    return lambda team, box, pe, scope=THREAD, tag=None, bound_ns=None: open_outbox(
        call_of(POST, tag, bound_ns), team, box, pe, which
    )


@vocabulary
def post_next(out, src):
    opened("post_next", out, Outbox)
    each = item(array("post_next", "src", src))

    def impl(out, src):
        source, nbytes = prim.address(src), src.size * each
        return send_message(out, own_part(source, nbytes, out.scope), source, nbytes)

    return impl


@vocabulary
def inbox(team, box, pe, scope=THREAD, tag=None, bound_ns=None):
    which = scope_of("inbox", scope)
    return lambda team, box, pe, scope=THREAD, tag=None, bound_ns=None: open_inbox(
        call_of(RECEIVE, tag, bound_ns), team, box, pe, which
    )


@vocabulary
def receive_next(come, dst):
    opened("receive_next", come, Inbox)
    each = item(array("receive_next", "dst", dst))
    return lambda come, dst: receive_message(come, prim.address(dst), dst.size * each)


@vocabulary
def begin(which):
    kind = opened("begin", which, Outbox, Inbox)
    return (lambda which: begin_out(which)) if kind is Outbox else (lambda which: begin_in(which))


@vocabulary
def store(out, part, data):
    opened("store", out, Outbox)
    number("store", "data", data, types.uint64)

    def impl(out, part, data):
        prim.store_flagged(slot_here(out) + 16 * i64(part), i64(data), out.number & 0xFFFFFFFF)

    return impl


@vocabulary
def load(come, part):
    opened("load", come, Inbox)

    def impl(come, part):
        at = slot_here(come) + 16 * i64(part)
        return u64(
            wait_pair(
                come.team.control, at, come.number & 0xFFFFFFFF, Call(RECEIVE, come.tag, come.bound), come.pe
            )
        )

    return impl


@vocabulary
def end(which):
    kind = opened("end", which, Outbox, Inbox)
    return (lambda which: end_out(which)) if kind is Outbox else (lambda which: end_in(which))


@vocabulary
def has_message(come):
    opened("has_message", come, Inbox)
    return lambda come: has_come(come)


@helper
def open_meeting(call, team, scope):
    return Meeting(team, scope, call.tag, call.bound, prim.load_own(i64, team.control + SYNC_EPOCH))


@vocabulary
def meeting(team, scope=THREAD, tag=None, bound_ns=None):
    which = scope_of("meeting", scope)
    return lambda team, scope=THREAD, tag=None, bound_ns=None: open_meeting(
        call_of(SYNC, tag, bound_ns), team, which
    )


@vocabulary
def sync_next(met, order=ACQUIRE_RELEASE):
    opened("sync_next", met, Meeting)
    relaxed = one_of("order", "sync_next", order) is RELAXED

    def impl(met, order=ACQUIRE_RELEASE):
        meet_at(Call(SYNC, met.tag, met.bound), met.team, met.epoch + 1, met.scope, relaxed)
        return Meeting(met.team, met.scope, met.tag, met.bound, met.epoch + 1)

    return impl


@vocabulary
def close(which):
    kind = opened("close", which, Outbox, Inbox, Meeting)
    if kind is Outbox:
        return lambda which: close_outbox(which)
    if kind is Inbox:
        return lambda which: close_inbox(which)
    return lambda which: prim.store_own(i64, which.team.control + SYNC_EPOCH, which.epoch)
