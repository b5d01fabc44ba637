"""Mailboxes and repeated syncs in loops, with counters in registers from `outbox`, `inbox`, `meeting` until
`close`.

They correspond to Outbox, Inbox and Meeting of atoll/device/mailbox.hpp and sync.hpp. They are values: each call returns the
next one, which replaces the old one, also in loops and branches of the kernel.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass, replace

from cutlass import Constexpr, Int32, Int64, Uint64

from . import _primitives as words
from ._addresses import address, team_of
from ._collectives import SYNC_EPOCH, meet_at
from ._copies import dense, is_whole, size_in_bytes
from ._mailboxes import (
    Inbox,
    Outbox,
    begin_in,
    begin_out,
    close_inbox,
    close_outbox,
    end_in,
    end_out,
    flag_of,
    has_come,
    open_inbox,
    open_outbox,
    own_part,
    receive_message,
    send_message,
    slot_here,
)
from ._polling import Call, call_of, wait_pair
from ._primitives import store_flagged
from ._types import ACQUIRE_RELEASE, THREAD, Order, Scope, Team, number, one_of


@dataclass(frozen=True)
class Meeting:
    """The result of meeting()."""

    team: Team
    scope: Constexpr
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
    return open_outbox("outbox", team, box, pe, scope, tag, bound_ns)


def post_next(out, src):
    _opened("post_next", out, Outbox)
    dense("post_next", "src", src)
    source, nbytes, whole = address(src), size_in_bytes(src), is_whole(src)
    return send_message(out, source, nbytes, whole, own_part(source, nbytes, whole, out.scope))


def inbox(team, box, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    return open_inbox("inbox", team, box, pe, scope, tag, bound_ns)


def receive_next(come, dst):
    _opened("receive_next", come, Inbox)
    dense("receive_next", "dst", dst)
    return receive_message(come, dst)


def begin(which):
    _opened("begin", which, Outbox, Inbox)
    return begin_out(which) if isinstance(which, Outbox) else begin_in(which)


def store(out, part, data):
    _opened("store", out, Outbox)
    at = slot_here(out) + Int64(part) * 16
    store_flagged(at, Int64(number("store", "data", data, Uint64)), flag_of(out))


def load(come, part):
    _opened("load", come, Inbox)
    at = slot_here(come) + Int64(part) * 16
    return Uint64(wait_pair(come.team, at, flag_of(come), come.call(), come.pe))


def end(which):
    _opened("end", which, Outbox, Inbox)
    return end_out(which) if isinstance(which, Outbox) else end_in(which)


def has_message(come):
    _opened("has_message", come, Inbox)
    return has_come(come) != 0


def meeting(team, scope: Scope = THREAD, tag=0, bound_ns=0):
    epoch = words.load(Int64, team_of("meeting", team).control + SYNC_EPOCH)
    call = call_of("meeting", tag, bound_ns)
    return Meeting(team, one_of(Scope, "meeting", scope), epoch, call.tag, call.bound)


def sync_next(met, order: Order = ACQUIRE_RELEASE):
    _opened("sync_next", met, Meeting)
    epoch = met.epoch + 1
    meet_at(met.call(), met.team, epoch, met.scope, one_of(Order, "sync_next", order))
    return replace(met, epoch=epoch)


def close(which):
    _opened("close", which, Outbox, Inbox, Meeting)
    if isinstance(which, Outbox):
        close_outbox(which)
    elif isinstance(which, Inbox):
        close_inbox(which)
    else:
        words.store(Int64, which.team.control + SYNC_EPOCH, which.epoch)
