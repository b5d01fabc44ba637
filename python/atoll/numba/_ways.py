"""Mailboxes and meetings in loops, with counters that stay in registers from `outbox`, `inbox`, `meeting` until `close`: Outbox,
Inbox and Meeting of atoll/device/mailbox.hpp and sync.hpp. They are values: each call returns the next one."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types
from numba.core.errors import TypingError

from . import _primitives as prim
from ._collectives import SYNC, SYNC_EPOCH, meet_at
from ._launch import Mailbox
from ._messages import (
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
from ._rma import item
from ._targets import (
    ACQUIRE_RELEASE,
    RELAXED,
    THREAD,
    Kind,
    array,
    helper,
    number,
    one_of,
    scope_of,
    vocabulary,
)
from ._waiting import POST, RECEIVE, Call, call_of, wait_pair

i64, u64 = types.int64, types.uint64


class Meeting(NamedTuple):
    """What meeting returns."""

    team: Any
    scope: Any
    tag: Any
    bound: Any
    epoch: Any


MADE_BY = {Outbox: "outbox", Inbox: "inbox", Meeting: "meeting"}


def opened(name: str, kind: Kind, *classes: Any) -> Any:
    """Which of these classes an argument is of."""
    found = getattr(kind, "instance_class", None)
    if found not in classes:
        wanted = " or ".join(f"dev.{MADE_BY[one]}" for one in classes)
        raise TypingError(f"atoll.numba.{name}: {kind} was given; it must be what {wanted} returned")
    return found


@vocabulary
def nth(boxes: Any, k: Any) -> Any:
    """Return the k-th of the mailboxes that dev.mailbox(room, count=…) made, k from 0 on. By any thread. Local. Atoll's own."""
    block = getattr(boxes, "types", [None])[0]
    if getattr(boxes, "instance_class", None) is not Mailbox or getattr(block, "ndim", 1) != 2:
        raise TypingError(
            f"atoll.numba.nth: {boxes} was given; it must be what dev.mailbox(room, count=...) returned"
        )
    number("nth", "k", k, i64)
    return lambda boxes, k: Mailbox(boxes.block[k], boxes.room)


@vocabulary
def outbox(team: Any, box: Any, pe: Any, scope: Any = THREAD, tag: Any = None, bound_ns: Any = None) -> Any:
    """Return this PE's end of the way to PE `pe` through a mailbox, for `out = dev.post_next(out, src)`, at last `dev.close(out)`.

    box is of dev.mailbox, symmetric. It keeps the way's counters in registers: nobody else posts that way meanwhile. The scope is
    that of all calls with it. Of each wait: `tag` is said should the wait exceed `bound_ns` nanoseconds (else ATOLL_WAIT_TIMEOUT).
    Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). By all threads of the scope. Local. Atoll's own.
    """
    which = scope_of("outbox", scope)
    return lambda team, box, pe, scope=THREAD, tag=None, bound_ns=None: open_outbox(
        call_of(POST, tag, bound_ns), team, box, pe, which
    )


@vocabulary
def post_next(out: Any, src: Any) -> Any:
    """Send src, contiguous, as the next message of an outbox; return the outbox as it is then, which takes its place.

    src is any memory of this PE, and may be written again afterwards. Waits while 8 messages are on their way. A message orders
    nothing but itself. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). By all threads of the scope. Local.
    Atoll's own.
    """
    opened("post_next", out, Outbox)
    each = item(array("post_next", "src", src))

    def impl(out: Any, src: Any) -> Any:
        source, nbytes = prim.address(src), src.size * each
        return send_message(out, own_part(source, nbytes, out.scope), source, nbytes)

    return impl


@vocabulary
def inbox(team: Any, box: Any, pe: Any, scope: Any = THREAD, tag: Any = None, bound_ns: Any = None) -> Any:
    """Return this PE's end of the way from PE `pe` through a mailbox, for `come = dev.receive_next(come, dst)`, at last `dev.close(come)`.

    box is of dev.mailbox, symmetric. It keeps the way's counters in registers: nobody else receives that way meanwhile. The scope
    is that of all calls with it. Of each wait: `tag` is said should the wait exceed `bound_ns` nanoseconds (else
    ATOLL_WAIT_TIMEOUT). Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). By all threads of the scope. Local.
    Atoll's own.
    """
    which = scope_of("inbox", scope)
    return lambda team, box, pe, scope=THREAD, tag=None, bound_ns=None: open_inbox(
        call_of(RECEIVE, tag, bound_ns), team, box, pe, which
    )


@vocabulary
def receive_next(come: Any, dst: Any) -> Any:
    """Wait for the next message of an inbox and copy it to dst; return the inbox as it is then, which takes its place.

    dst is contiguous, any memory of this PE; every thread of the scope may read it afterwards. Errors: TypingError when compiled;
    Timeout, PeDied (GPUs: KernelError). By all threads of the scope. Local. Atoll's own.
    """
    opened("receive_next", come, Inbox)
    each = item(array("receive_next", "dst", dst))
    return lambda come, dst: receive_message(come, prim.address(dst), dst.size * each)


@vocabulary
def begin(which: Any) -> Any:
    """Begin the next message of an outbox or inbox, by parts of 8 bytes, for threads that have them, or want them, in registers:
    begin, `store` or `load` of each part by one thread, `end`. Return what takes the place of `which`.

    All messages of such a mailbox have as many parts. An outbox waits here while 8 messages are on their way.
    """
    kind = opened("begin", which, Outbox, Inbox)
    return (lambda which: begin_out(which)) if kind is Outbox else (lambda which: begin_in(which))


@vocabulary
def store(out: Any, part: Any, data: Any) -> Any:
    """Send part number `part` (from 0) of the message that was begun: `data`, an integer of 8 bytes. By one thread. Local. Atoll's own."""
    opened("store", out, Outbox)
    number("store", "data", data, types.uint64)

    def impl(out: Any, part: Any, data: Any) -> None:
        prim.store_flagged(slot_here(out) + 16 * i64(part), i64(data), out.number & 0xFFFFFFFF)

    return impl


@vocabulary
def load(come: Any, part: Any) -> Any:
    """Return part number `part` of the message that was begun, an integer of 8 bytes, once it has come."""
    opened("load", come, Inbox)

    def impl(come: Any, part: Any) -> Any:
        at = slot_here(come) + 16 * i64(part)
        return u64(
            wait_pair(
                come.team.control, at, come.number & 0xFFFFFFFF, Call(RECEIVE, come.tag, come.bound), come.pe
            )
        )

    return impl


@vocabulary
def end(which: Any) -> Any:
    """End the message: by all threads of the scope, which need not meet: their parts are in registers. Return what takes the place
    of `which`."""
    kind = opened("end", which, Outbox, Inbox)
    return (lambda which: end_out(which)) if kind is Outbox else (lambda which: end_in(which))


@vocabulary
def has_message(come: Any) -> Any:
    """Return whether the next message of an inbox has begun to come, to all threads of the scope.

    If so, receive_next waits for no more than the rest of it. By all threads of the scope. Local. Atoll's own.
    """
    opened("has_message", come, Inbox)
    return lambda come: has_come(come)


@helper
def open_meeting(call: Any, team: Any, scope: Any) -> Any:
    return Meeting(team, scope, call.tag, call.bound, prim.load_own(i64, team.control + SYNC_EPOCH))


@vocabulary
def meeting(team: Any, scope: Any = THREAD, tag: Any = None, bound_ns: Any = None) -> Any:
    """Return what `met = dev.sync_next(met)` takes, in place of dev.sync, and at last `dev.close(met)`.

    It keeps the team's counter in registers: nobody else uses the team for meetings or collectives meanwhile. Of each wait: `tag`
    is said should the wait exceed `bound_ns` nanoseconds (else ATOLL_WAIT_TIMEOUT). Errors: TypingError when compiled; Timeout,
    PeDied (GPUs: KernelError). By all threads of the scope. Local. Atoll's own.
    """
    which = scope_of("meeting", scope)
    return lambda team, scope=THREAD, tag=None, bound_ns=None: open_meeting(
        call_of(SYNC, tag, bound_ns), team, which
    )


@vocabulary
def sync_next(met: Any, order: Any = ACQUIRE_RELEASE) -> Any:
    """Wait until all members of the team have arrived; return the meeting as it is then, which takes its place.

    As sync: what each scope wrote and saw before is visible to every scope afterwards; order=RELAXED orders no data. Collective
    over the team. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). By all threads of the scope. Atoll's own.
    """
    opened("sync_next", met, Meeting)
    relaxed = one_of("order", "sync_next", order) is RELAXED

    def impl(met: Any, order: Any = ACQUIRE_RELEASE) -> Any:
        meet_at(Call(SYNC, met.tag, met.bound), met.team, met.epoch + 1, met.scope, relaxed)
        return Meeting(met.team, met.scope, met.tag, met.bound, met.epoch + 1)

    return impl


@vocabulary
def close(which: Any) -> Any:
    """End an outbox, an inbox or a meeting: its counters go back to memory, and others may use the way, or the team.

    By all threads of the scope. Local. Atoll's own.
    """
    kind = opened("close", which, Outbox, Inbox, Meeting)
    if kind is Outbox:
        return lambda which: close_outbox(which)
    if kind is Inbox:
        return lambda which: close_inbox(which)
    return lambda which: prim.store_own(i64, which.team.control + SYNC_EPOCH, which.epoch)
