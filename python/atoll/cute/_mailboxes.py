"""Mailboxes: messages in pairs of flagged words (atoll/device/mailbox.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64, Uint64

from .._kernels.bodies import _mailboxes
from .._kernels.bodies._mailboxes import DEPTH, POST, RECEIVE, TAKEN
from . import _primitives as prim
from ._addresses import address, at_peer, check_address, refuse_pe
from ._collectives import close_meeting
from ._dsl._copies import is_whole, size_in_bytes
from ._polling import Call, call_of, wait_pair, wait_pairs, wait_word
from ._primitives import SYSTEM, as_it_is, load_flagged, load_part, pairs_of, store_flagged, store_part
from ._threads import meet_threads, rank_of, share, size_of
from ._types import GE, THREAD, Scope, Team


class Mailbox(NamedTuple):
    """The mailbox argument of post and receive; made by mailbox() of _host.py. Annotate kernels' arguments
    with it.
    """

    block: Int64
    room: Int64


@dataclass(frozen=True)
class End:
    """One end of a pair of PEs, with the pair's counters as values."""

    team: Team
    scope: Constexpr
    pe: Int32
    mine: Int64
    """The pair's counters in this PE's mailbox."""
    slots: Int64
    """The sender's slots at the receiver."""
    slot_bytes: Int64
    number: Int64
    """The number of messages sent, or received."""
    taken: Int64
    """In an Outbox, the number of messages that the other PE has received, when last loaded. In an Inbox, the
    address at which the other PE reads that number.
    """
    tag: Int32
    bound: Int64 | None
    """The limit of each wait: see Call."""


class Outbox(End):
    """The sending end: outbox()."""


class Inbox(End):
    """The receiving end: inbox()."""


def block_of(team, operation: int, box, pe):
    """Check the PE and the mailbox, and return the mailbox's address."""
    refuse_pe(team, operation, pe)
    check_address(team, operation, box.block)
    return box.block


ENDS = _mailboxes.ends(as_it_is, prim, Int64, Int32, Outbox, Inbox, at_peer, pairs_of, block_of)
box_slots, slot_here, open_outbox, close_outbox, open_inbox, close_inbox = ENDS.values()


def flag_here(box):
    return Int32(box.number & 0xFFFFFFFF)


@cute.jit
def _room(team: Team, mine: Int64, number: Int64, taken: Int64, pe: Int32, call: Constexpr):
    """Return the number of messages received, when last loaded, once there is a slot for this message."""
    if number > taken + DEPTH:
        taken = wait_word(Int64, team.control, mine + TAKEN, GE, number - DEPTH, call, pe, SYSTEM)
    return taken


def begin_out(out: Outbox) -> Outbox:
    """Return the Outbox with the next message's number, once its slot is free."""
    number = out.number + 1
    taken = _room(out.team, out.mine, number, out.taken, out.pe, Call(POST, out.tag, out.bound))
    return replace(out, number=number, taken=taken)


@cute.jit
def _poll_taken(mine: Int64, number: Int64, taken: Int64):
    if number & (DEPTH // 2 - 1) == 0:  # for the next message, which need not wait for this load
        taken = prim.load(Int64, mine + TAKEN, SYSTEM)
    return taken


def end_out(out: Outbox) -> Outbox:
    taken = _poll_taken(out.mine, out.number, out.taken)
    meet_threads(out.team.control, out.scope)
    return replace(out, taken=taken)


@cute.jit
def _refresh(to: Int64, pairs: Int32, slot_bytes: Int64, number: Int64, scope: Constexpr):
    """Renew the flags of words that short messages do not write, long before old flags recur."""
    if (number & 0x3FFFFFFF < DEPTH) & (number >= DEPTH):
        first, end, step = pairs + Int32(rank_of(scope)), Int32(slot_bytes >> 4), Int32(size_of(scope))
        for i in cutlass.range(first, end, step, unroll=1):
            store_flagged(to + Int64(i) * 16, Int64(0), Int32(number & 0xFFFFFFFF))


@cute.jit
def own_part(source: Int64, nbytes: Int64, whole: Constexpr, scope: Constexpr):
    """Load this thread's part of a message with at most one part per thread.

    Threads without a part load the last one, up to the end of their warp, so that warps do not diverge.
    """
    pairs, rank = Int32(pairs_of(nbytes)), Int32(rank_of(scope))
    data = Int64(0)
    if (pairs <= Int32(size_of(scope))) & (rank < ((pairs + 31) & ~31)):
        data = load_part(source, nbytes, Int64(cutlass.min(rank, pairs - 1)), whole)
    return data


@cute.jit
def _send_parts(
    to: Int64, source: Int64, nbytes: Int64, whole: Constexpr, data: Int64, flag: Int32, scope: Constexpr
):
    """Send a thread's parts, two in flight at a time."""
    pairs, rank, step = Int32(pairs_of(nbytes)), Int32(rank_of(scope)), Int32(size_of(scope))
    if pairs <= step:
        if rank < pairs:
            store_flagged(to + Int64(rank) * 16, data, flag)
    else:
        i = rank
        while i < pairs:
            other = cutlass.min(i + step, pairs - 1)
            first = load_part(source, nbytes, Int64(i), whole)
            second = load_part(source, nbytes, Int64(other), whole)
            store_flagged(to + Int64(i) * 16, first, flag)
            if i + step < pairs:
                store_flagged(to + Int64(other) * 16, second, flag)
            i += 2 * step


def send_message(out: Outbox, source, nbytes, whole: bool, data) -> Outbox:
    """Send the next message of an Outbox; `data` is own_part's result.

    The number of parts does not depend on the message's number, so they are loaded before or beside the
    counters.
    """
    out = begin_out(out)
    to = slot_here(out)
    _send_parts(to, source, nbytes, whole, data, flag_here(out), out.scope)
    _refresh(to, Int32(pairs_of(nbytes)), out.slot_bytes, out.number, out.scope)
    return end_out(out)


@cute.jit
def _receive_parts(
    team: Team, come: Int64, to: Int64, nbytes: Int64, whole: Constexpr, flag: Int32, pe: Int32, call: Constexpr,
    scope: Constexpr,
):  # fmt: skip
    pairs, rank, step = Int32(pairs_of(nbytes)), Int32(rank_of(scope)), Int32(size_of(scope))
    if pairs <= step:
        if rank < ((pairs + 31) & ~31):
            i = Int64(cutlass.min(rank, pairs - 1))
            data = wait_pair(team.control, come + i * 16, flag, call, pe)
            if rank < pairs:
                store_part(to, nbytes, i, data, whole)
    else:
        i = rank
        while i < pairs:
            other = cutlass.min(i + step, pairs - 1)
            addresses = (come + Int64(i) * 16, come + Int64(other) * 16)
            first, second = wait_pairs(team.control, addresses, flag, call, pe)
            store_part(to, nbytes, Int64(i), first, whole)
            if i + step < pairs:
                store_part(to, nbytes, Int64(other), second, whole)
            i += 2 * step


def begin_in(come: Inbox) -> Inbox:
    """Return the Inbox with the next message's number."""
    return replace(come, number=come.number + 1)


@cute.jit
def _notify_taken(taken: Int64, number: Int64, scope: Constexpr):
    if (number & (DEPTH // 2 - 1) == 0) & (rank_of(scope) == 0):
        prim.store(Int64, taken, number, SYSTEM)  # all have read: a load whose value was used is complete


def end_in(come: Inbox) -> Inbox:
    meet_threads(come.team.control, come.scope)
    _notify_taken(come.taken, come.number, come.scope)
    return come


def receive_message(come: Inbox, dst) -> Inbox:
    """Receive the next message of an Inbox."""
    come = begin_in(come)
    at, to, nbytes = slot_here(come), address(dst), size_in_bytes(dst)
    call, flag = Call(RECEIVE, come.tag, come.bound), flag_here(come)
    _receive_parts(come.team, at, to, nbytes, is_whole(dst), flag, come.pe, call, come.scope)
    return end_in(come)


@cute.jit
def _polls_come(at: Int64, flag: Int32, scope: Constexpr):
    here = Int32(0)
    if rank_of(scope) == 0:
        _, here = load_flagged(at, flag)
    return here


def has_come(come: Inbox):
    """Return to all threads of the scope whether the next message has begun to arrive."""
    coming = begin_in(come)
    here = _polls_come(slot_here(coming), flag_here(coming), come.scope)
    return share(come.team.control, come.scope, here) != 0


@cute.jit
def _receive_if(come: Constexpr, dst: cute.Tensor, here):
    if here:
        close_inbox(receive_message(come, dst))


globals().update(
    _mailboxes.operations(
        as_it_is, prim, Int64, Uint64, Call, call_of, ENDS, flag_here, receive_message, has_come, wait_pair,
        THREAD=THREAD, UNTAGGED=0, UNBOUNDED=0,
    )
)  # fmt: skip


def post(team, box, src, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    source, nbytes, whole = address(src), size_in_bytes(src), is_whole(src)
    data = own_part(source, nbytes, whole, scope)
    out = open_outbox(call_of(POST, tag, bound_ns), team, box, pe, scope)
    close_outbox(send_message(out, source, nbytes, whole, data))


def try_receive(team, box, dst, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    come = open_inbox(call_of(RECEIVE, tag, bound_ns), team, box, pe, scope)
    here = has_come(come)
    _receive_if(come, dst, here)
    return here


# ---- in loops
def post_next(out, src):
    source, nbytes, whole = address(src), size_in_bytes(src), is_whole(src)
    return send_message(out, source, nbytes, whole, own_part(source, nbytes, whole, out.scope))


def begin(which):
    return begin_out(which) if isinstance(which, Outbox) else begin_in(which)


def end(which):
    return end_out(which) if isinstance(which, Outbox) else end_in(which)


def close(which):
    {Outbox: close_outbox, Inbox: close_inbox}.get(type(which), close_meeting)(which)
