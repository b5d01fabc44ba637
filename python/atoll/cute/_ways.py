"""Mailboxes and repeated syncs in loops, with counters in registers from `outbox`, `inbox`, `meeting` until
`close`.

As Outbox, Inbox and Meeting of atoll/device/mailbox.hpp and sync.hpp. They are values: each call returns the
next one, which replaces the old one, also in loops and branches of the kernel.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass, replace

import cutlass
from cutlass import Int32, Int64, Uint64

from . import _core
from ._collectives import SYNC_EPOCH, meet_at
from ._core import (
    ACQUIRE_RELEASE,
    THREAD,
    Order,
    Scope,
    Team,
    number,
    one_of,
)
from ._messages import (
    Inbox,
    Outbox,
    begin_in,
    begin_out,
    close_inbox,
    close_outbox,
    dense,
    end_in,
    end_out,
    flag_of,
    has_come,
    is_whole,
    open_inbox,
    open_outbox,
    own_part,
    receive_message,
    send_message,
    slot_here,
    store_flagged,
)
from ._reach import (
    Call,
    address,
    call_of,
    size_in_bytes,
    team_of,
)
from ._waits import wait_pair


@dataclass(frozen=True)
class Meeting:
    """The result of meeting()."""

    team: Team
    scope: cutlass.Constexpr
    epoch: Int64
    tag: Int32
    bound: Int64 | None

    def call(self) -> Call:
        return Call("sync", self.tag, self.bound)


MADE_BY = {Outbox: "outbox", Inbox: "inbox", Meeting: "meeting"}


def _opened(name: str, given, *classes) -> None:
    if not isinstance(given, classes):
        wanted = " or ".join(f"dev.{MADE_BY[one]}" for one in classes)
        raise TypeError(
            f"atoll.cute.{name}: {type(given).__name__} was given; it must be the result of {wanted}"
        )


def outbox(team, box, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    """Return an outbox, by which this PE posts to PE `pe`: `out = dev.post_next(out, src)`, and
    `dev.close(out)` at the end. `box` is of dev.mailbox, symmetric. It keeps the pair's counters in
    registers, so no other thread may post to that PE meanwhile. All calls with it use its scope.
    `bound_ns` limits each wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
    Errors: TypeError when compiled; KernelError when the wait ends. Called by all threads of the scope.
    Local. Atoll's own.
    """
    return open_outbox("outbox", team, box, pe, scope, tag, bound_ns)


def post_next(out, src):
    """Send src, contiguous, as the next message of an outbox; return the outbox's new state. `src` is any
    memory of this PE, and may be written again afterwards. Waits while 8 messages are in flight. A message
    orders no other data. Errors: TypeError when compiled; KernelError when a wait ends. Called by all
    threads of the scope. Local. Atoll's own.
    """
    _opened("post_next", out, Outbox)
    dense("post_next", "src", src)
    source, nbytes, whole = address(src), size_in_bytes(src), is_whole(src)
    return send_message(out, source, nbytes, whole, own_part(source, nbytes, whole, out.scope))


def inbox(team, box, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    """Return an inbox, by which this PE receives from PE `pe`: `come = dev.receive_next(come, dst)`, and
    `dev.close(come)` at the end. `box` is of dev.mailbox, symmetric. It keeps the pair's counters in
    registers, so no other thread may receive from that PE meanwhile. All calls with it use its scope.
    `bound_ns` limits each wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains `tag`.
    Errors: TypeError when compiled; KernelError when the wait ends. Called by all threads of the scope.
    Local. Atoll's own.
    """
    return open_inbox("inbox", team, box, pe, scope, tag, bound_ns)


def receive_next(come, dst):
    """Wait for the next message of an inbox and copy it to dst; return the inbox's new state. `dst` is
    contiguous, any memory of this PE; every thread of the scope may read it afterwards. Errors: TypeError
    when compiled; KernelError when a wait ends. Called by all threads of the scope. Local. Atoll's own.
    """
    _opened("receive_next", come, Inbox)
    dense("receive_next", "dst", dst)
    return receive_message(come, dst)


def begin(which):
    """Begin the next message of an outbox or inbox, whose parts of 8 bytes go from or to registers; return
    its new state.

    One thread calls `store` or `load` for each part; then `end`. All messages of such a mailbox have the same
    number of parts. An outbox waits here while 8 messages are in flight.
    """
    _opened("begin", which, Outbox, Inbox)
    return begin_out(which) if isinstance(which, Outbox) else begin_in(which)


def store(out, part, data):
    """Send part number `part` (from 0) of the message that was begun: `data`, an integer of 8 bytes.

    Called by one thread. Local. Atoll's own.
    """
    _opened("store", out, Outbox)
    at = slot_here(out) + Int64(part) * 16
    store_flagged(at, Int64(number("store", "data", data, Uint64)), flag_of(out))


def load(come, part):
    """Return part number `part` of the message that was begun, a Uint64, once it has arrived."""
    _opened("load", come, Inbox)
    at = slot_here(come) + Int64(part) * 16
    return Uint64(wait_pair(come.team, at, flag_of(come), come.call(), come.pe))


def end(which):
    """End the message, by all threads of the scope, which meet; return the new state of `which`."""
    _opened("end", which, Outbox, Inbox)
    return end_out(which) if isinstance(which, Outbox) else end_in(which)


def has_message(come):
    """Return whether the next message of an inbox has begun to arrive, to all threads of the scope.

    If so, receive_next waits only for the rest of it. Called by all threads of the scope. Local. Atoll's own.
    """
    _opened("has_message", come, Inbox)
    return has_come(come) != 0


def meeting(team, scope: Scope = THREAD, tag=0, bound_ns=0):
    """Return the state of repeated syncs: `met = dev.sync_next(met)` in place of dev.sync, and
    `dev.close(met)` at the end.

    It keeps the team's counter in registers, so no other thread may use the team for sync or collectives
    meanwhile. `bound_ns` limits each wait, in nanoseconds (0: ATOLL_WAIT_TIMEOUT); the error then contains
    `tag`. Errors: TypeError when compiled; KernelError when the wait ends. Called by all threads of the
    scope. Local. Atoll's own.
    """
    epoch = _core.load(Int64, team_of("meeting", team).control + SYNC_EPOCH)
    call = call_of("meeting", tag, bound_ns)
    return Meeting(team, one_of(Scope, "meeting", scope), epoch, call.tag, call.bound)


def sync_next(met, order: Order = ACQUIRE_RELEASE):
    """Wait until all members of the team have arrived; return the meeting's new state.

    As sync: what each scope wrote and saw before is visible to every scope afterwards; order=RELAXED orders
    no data. Collective over the team. Errors: TypeError when compiled; KernelError when a wait ends. Called
    by all threads of the scope. Atoll's own.
    """
    _opened("sync_next", met, Meeting)
    epoch = met.epoch + 1
    meet_at(met.call(), met.team, epoch, met.scope, one_of(Order, "sync_next", order))
    return replace(met, epoch=epoch)


def close(which):
    """End an outbox, an inbox or a meeting: its counters are stored to memory, and other threads may use the
    pair or the team.

    Called by all threads of the scope. Local. Atoll's own.
    """
    _opened("close", which, Outbox, Inbox, Meeting)
    if isinstance(which, Outbox):
        close_outbox(which)
    elif isinstance(which, Inbox):
        close_inbox(which)
    else:
        _core.store(Int64, which.team.control + SYNC_EPOCH, which.epoch)
