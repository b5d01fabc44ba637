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
    """The result of meeting()."""

    team: Any
    scope: Any
    tag: Any
    bound: Any
    epoch: Any


MADE_BY = {Outbox: "outbox", Inbox: "inbox", Meeting: "meeting"}


def opened(name: str, kind: Kind, *classes: Any) -> Any:
    """Return which of these classes an argument has."""
    found = getattr(kind, "instance_class", None)
    if found not in classes:
        wanted = " or ".join(f"dev.{MADE_BY[one]}" for one in classes)
        raise TypingError(f"atoll.numba.{name}: {kind} was given; it must be the result of {wanted}")
    return found


@vocabulary
def nth(boxes: Any, k: Any) -> Any:
    """Return the k-th of the mailboxes that dev.mailbox(room, count=…) made, k from 0 on.

    Called by any thread. Local. Atoll's own.
    """
    block = getattr(boxes, "types", [None])[0]
    if getattr(boxes, "instance_class", None) is not Mailbox or getattr(block, "ndim", 1) != 2:
        raise TypingError(
            f"atoll.numba.nth: {boxes} was given; it must be the result of dev.mailbox(room, count=...)"
        )
    number("nth", "k", k, i64)
    return lambda boxes, k: Mailbox(boxes.block[k], boxes.room)


@vocabulary
def outbox(team: Any, box: Any, pe: Any, scope: Any = THREAD, tag: Any = None, bound_ns: Any = None) -> Any:
    """Return an outbox, by which this PE posts to PE `pe`: `out = dev.post_next(out, src)`, and
    `dev.close(out)` at the end. `box` is of dev.mailbox, symmetric. It keeps the pair's counters in
    registers, so no other thread may post to that PE meanwhile. All calls with it use its scope.
    `bound_ns` limits each wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
    Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Called by all threads of the
    scope. Local. Atoll's own.
    """
    which = scope_of("outbox", scope)
    return lambda team, box, pe, scope=THREAD, tag=None, bound_ns=None: open_outbox(
        call_of(POST, tag, bound_ns), team, box, pe, which
    )


@vocabulary
def post_next(out: Any, src: Any) -> Any:
    """Send src, contiguous, as the next message of an outbox; return the outbox's new state. `src` is any
    memory of this PE, and may be written again afterwards. Waits while 8 messages are in flight. A message
    orders no other data. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Called by
    all threads of the scope. Local. Atoll's own.
    """
    opened("post_next", out, Outbox)
    each = item(array("post_next", "src", src))

    def impl(out: Any, src: Any) -> Any:
        source, nbytes = prim.address(src), src.size * each
        return send_message(out, own_part(source, nbytes, out.scope), source, nbytes)

    return impl


@vocabulary
def inbox(team: Any, box: Any, pe: Any, scope: Any = THREAD, tag: Any = None, bound_ns: Any = None) -> Any:
    """Return an inbox, by which this PE receives from PE `pe`: `come = dev.receive_next(come, dst)`, and
    `dev.close(come)` at the end. `box` is of dev.mailbox, symmetric. It keeps the pair's counters in
    registers, so no other thread may receive from that PE meanwhile. All calls with it use its scope.
    `bound_ns` limits each wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
    Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Called by all threads of the
    scope. Local. Atoll's own.
    """
    which = scope_of("inbox", scope)
    return lambda team, box, pe, scope=THREAD, tag=None, bound_ns=None: open_inbox(
        call_of(RECEIVE, tag, bound_ns), team, box, pe, which
    )


@vocabulary
def receive_next(come: Any, dst: Any) -> Any:
    """Wait for the next message of an inbox and copy it to dst; return the inbox's new state. `dst` is
    contiguous, any memory of this PE; every thread of the scope may read it afterwards. Errors:
    TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Called by all threads of the scope.
    Local. Atoll's own.
    """
    opened("receive_next", come, Inbox)
    each = item(array("receive_next", "dst", dst))
    return lambda come, dst: receive_message(come, prim.address(dst), dst.size * each)


@vocabulary
def begin(which: Any) -> Any:
    """Begin the next message of an outbox or inbox, whose parts of 8 bytes go from or to registers; return
    its new state.

    One thread calls `store` or `load` for each part; then `end`. All messages of such a mailbox have the same
    number of parts. An outbox waits here while 8 messages are in flight.
    """
    kind = opened("begin", which, Outbox, Inbox)
    return (lambda which: begin_out(which)) if kind is Outbox else (lambda which: begin_in(which))


@vocabulary
def store(out: Any, part: Any, data: Any) -> Any:
    """Send part number `part` (from 0) of the message that was begun: `data`, an integer of 8 bytes.

    Called by one thread. Local. Atoll's own.
    """
    opened("store", out, Outbox)
    number("store", "data", data, types.uint64)

    def impl(out: Any, part: Any, data: Any) -> None:
        prim.store_flagged(slot_here(out) + 16 * i64(part), i64(data), out.number & 0xFFFFFFFF)

    return impl


@vocabulary
def load(come: Any, part: Any) -> Any:
    """Return part number `part` of the message that was begun, an integer of 8 bytes, once it has arrived."""
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
    """End the message; return the new state of `which`. Called by all threads of the scope.

    The threads need not meet before: their parts are in registers.
    """
    kind = opened("end", which, Outbox, Inbox)
    return (lambda which: end_out(which)) if kind is Outbox else (lambda which: end_in(which))


@vocabulary
def has_message(come: Any) -> Any:
    """Return whether the next message of an inbox has begun to arrive, to all threads of the scope.

    If so, receive_next waits only for the rest of it. Called by all threads of the scope. Local. Atoll's own.
    """
    opened("has_message", come, Inbox)
    return lambda come: has_come(come)


@helper
def open_meeting(call: Any, team: Any, scope: Any) -> Any:
    return Meeting(team, scope, call.tag, call.bound, prim.load_own(i64, team.control + SYNC_EPOCH))


@vocabulary
def meeting(team: Any, scope: Any = THREAD, tag: Any = None, bound_ns: Any = None) -> Any:
    """Return the state of repeated syncs: `met = dev.sync_next(met)` in place of dev.sync, and
    `dev.close(met)` at the end.

    It keeps the team's counter in registers, so no other thread may use the team for sync or collectives
    meanwhile. `bound_ns` limits each wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains
    `tag`. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError). Called by all threads of
    the scope. Local. Atoll's own.
    """
    which = scope_of("meeting", scope)
    return lambda team, scope=THREAD, tag=None, bound_ns=None: open_meeting(
        call_of(SYNC, tag, bound_ns), team, which
    )


@vocabulary
def sync_next(met: Any, order: Any = ACQUIRE_RELEASE) -> Any:
    """Wait until all members of the team have arrived; return the meeting's new state.

    As sync: what each scope wrote and saw before is visible to every scope afterwards; order=RELAXED orders
    no data. Collective over the team. Errors: TypingError when compiled; Timeout, PeDied (GPUs: KernelError).
    Called by all threads of the scope. Atoll's own.
    """
    opened("sync_next", met, Meeting)
    relaxed = one_of("order", "sync_next", order) is RELAXED

    def impl(met: Any, order: Any = ACQUIRE_RELEASE) -> Any:
        meet_at(Call(SYNC, met.tag, met.bound), met.team, met.epoch + 1, met.scope, relaxed)
        return Meeting(met.team, met.scope, met.tag, met.bound, met.epoch + 1)

    return impl


@vocabulary
def close(which: Any) -> Any:
    """End an outbox, an inbox or a meeting: its counters are stored to memory, and other threads may use the
    pair or the team.

    Called by all threads of the scope. Local. Atoll's own.
    """
    kind = opened("close", which, Outbox, Inbox, Meeting)
    if kind is Outbox:
        return lambda which: close_outbox(which)
    if kind is Inbox:
        return lambda which: close_inbox(which)
    return lambda which: prim.store_own(i64, which.team.control + SYNC_EPOCH, which.epoch)
