"""Mailboxes and repeated syncs in loops, as in atoll/device/mailbox.hpp and sync.hpp. Counters are in registers
from `outbox`, `inbox`, `meeting` until `close`. Each call returns the next value.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass, replace

from cutlass import Constexpr, Int32, Int64, Uint64

from .._ptx import AT
from . import _mailboxes as mailboxes
from . import _primitives as prim
from ._addresses import address
from ._collectives import SYNC_EPOCH, meet_at
from ._dsl._copies import is_whole, size_in_bytes
from ._mailboxes import Inbox, Outbox
from ._polling import Call, call_of, wait_pair
from ._types import ACQUIRE_RELEASE, THREAD, Order, Scope, Team


@dataclass(frozen=True)
class Meeting:
    """The result of meeting()."""

    team: Team
    scope: Constexpr
    epoch: Int64
    tag: Int32
    bound: Int64 | None

    def call(self) -> Call:
        return Call(AT["sync"], self.tag, self.bound)


def outbox(team, box, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    return mailboxes.open_outbox("outbox", team, box, pe, scope, tag, bound_ns)


def post_next(out, src):
    source, nbytes, whole = address(src), size_in_bytes(src), is_whole(src)
    data = mailboxes.own_part(source, nbytes, whole, out.scope)
    return mailboxes.send_message(out, source, nbytes, whole, data)


def inbox(team, box, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    return mailboxes.open_inbox("inbox", team, box, pe, scope, tag, bound_ns)


def receive_next(come, dst):
    return mailboxes.receive_message(come, dst)


def begin(which):
    return mailboxes.begin_out(which) if isinstance(which, Outbox) else mailboxes.begin_in(which)


def store(out, part, data):
    prim.store_flagged(mailboxes.slot_here(out) + part * 16, Int64(data), mailboxes.flag_of(out))


def load(come, part):
    at = mailboxes.slot_here(come) + part * 16
    return Uint64(wait_pair(come.team, at, mailboxes.flag_of(come), come.call(), come.pe))


def end(which):
    return mailboxes.end_out(which) if isinstance(which, Outbox) else mailboxes.end_in(which)


def has_message(come):
    return mailboxes.has_come(come) != 0


def meeting(team, scope: Scope = THREAD, tag=0, bound_ns=0):
    epoch, call = prim.load(Int64, team.control + SYNC_EPOCH), call_of(AT["sync"], tag, bound_ns)
    return Meeting(team, scope, epoch, call.tag, call.bound)


def sync_next(met, order: Order = ACQUIRE_RELEASE):
    epoch = met.epoch + 1
    meet_at(met.call(), met.team, epoch, met.scope, order)
    return replace(met, epoch=epoch)


def close(which):
    if isinstance(which, Outbox):
        mailboxes.close_outbox(which)
    elif isinstance(which, Inbox):
        mailboxes.close_inbox(which)
    else:
        prim.store(Int64, which.team.control + SYNC_EPOCH, which.epoch)
