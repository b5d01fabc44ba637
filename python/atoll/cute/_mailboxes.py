"""Mailboxes: messages in pairs of flagged words (atoll/device/mailbox.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.checks import CHECKS
from .._ptx import AT
from ._addresses import address, at_peer, check_place, refuse_pe
from ._dsl._copies import is_whole, size_in_bytes
from ._polling import Call, call_of, wait_pair, wait_pairs, wait_word
from ._primitives import SYSTEM, load, load_flagged, load_part, pairs_of, store, store_flagged, store_part
from ._threads import meet_threads, rank_of, share, size_of
from ._types import GE, THREAD, Scope, Team

DEPTH, ENTRY = AT["mailbox_depth"], AT["post_bytes"]
POSTED, SEEN_TAKEN, RECEIVED, TAKEN = (
    AT[f"post_{name}"] for name in ("posted", "seen_taken", "received", "taken")
)


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
    """Of an Outbox, the number of messages that the other PE has received, when last loaded. Of an Inbox, the
    address at which the other PE learns that number.
    """
    tag: Int32
    bound: Int64 | None
    """The limit of each wait, as in Call."""


class Outbox(End):
    """The sending end: outbox() of _loops.py."""

    def call(self) -> Call:
        return Call(AT["post"], self.tag, self.bound)


class Inbox(End):
    """The receiving end: inbox() of _loops.py."""

    def call(self) -> Call:
        return Call(AT["receive"], self.tag, self.bound)


def mailbox_of(name: str, box) -> Mailbox:
    if not isinstance(box, Mailbox):
        raise TypeError(
            f"atoll.cute.{name}: box is {type(box).__name__}; it must be the result of dev.mailbox"
        )
    return box


def box_slots(team, box, sender):
    """Return the address of a sender's slots."""
    return box.block + Int64(team.n_pes) * ENTRY + Int64(sender) * DEPTH * pairs_of(box.room) * 16


def slot_here(box):
    """Return the address of the slot of an Outbox's or Inbox's current message."""
    return box.slots + (box.number & (DEPTH - 1)) * box.slot_bytes


def flag_of(box):
    return Int32(box.number & 0xFFFFFFFF)


def open_outbox(name: str, team, box, pe, scope, tag, bound_ns) -> Outbox:
    box, call = mailbox_of(name, box), call_of(AT["post"], tag, bound_ns)
    refuse_pe(team, CHECKS["post"], pe)
    check_place(team, CHECKS["post"], box.block)
    mine = box.block + Int64(pe) * ENTRY
    slots = at_peer(team, box_slots(team, box, team.my_pe), pe)
    number, taken = load(Int64, mine + POSTED), load(Int64, mine + SEEN_TAKEN)
    return Outbox(team, scope, pe, mine, slots, pairs_of(box.room) * 16, number, taken, call.tag, call.bound)


def close_outbox(out: Outbox) -> None:
    """Store the counters, by every thread, so that each can read its own store."""
    store(Int64, out.mine + POSTED, out.number)
    store(Int64, out.mine + SEEN_TAKEN, out.taken)


def open_inbox(name: str, team, box, pe, scope, tag, bound_ns) -> Inbox:
    box, call = mailbox_of(name, box), call_of(AT["receive"], tag, bound_ns)
    refuse_pe(team, CHECKS["receive"], pe)
    check_place(team, CHECKS["receive"], box.block)
    mine = box.block + Int64(pe) * ENTRY
    taken = at_peer(team, box.block + Int64(team.my_pe) * ENTRY, pe) + TAKEN
    slots, number = box_slots(team, box, pe), load(Int64, mine + RECEIVED)
    return Inbox(team, scope, pe, mine, slots, pairs_of(box.room) * 16, number, taken, call.tag, call.bound)


def close_inbox(come: Inbox) -> None:
    store(Int64, come.mine + RECEIVED, come.number)


@cute.jit
def _room(team: Team, mine: Int64, number: Int64, taken: Int64, pe: Int32, call: Constexpr):
    """Return the number of messages received, when last loaded, once there is a slot for this message."""
    if number > taken + DEPTH:
        taken = wait_word(team, Int64, mine + TAKEN, GE, number - DEPTH, call, pe, SYSTEM)
    return taken


def begin_out(out: Outbox) -> Outbox:
    """Return the Outbox with the next message's number, once its slot is free."""
    number = out.number + 1
    taken = _room(out.team, out.mine, number, out.taken, out.pe, out.call())
    return replace(out, number=number, taken=taken)


@cute.jit
def _look_at_taken(mine: Int64, number: Int64, taken: Int64):
    if number & (DEPTH // 2 - 1) == 0:  # for the next message, which need not wait for this load
        taken = load(Int64, mine + TAKEN, SYSTEM)
    return taken


def end_out(out: Outbox) -> Outbox:
    taken = _look_at_taken(out.mine, out.number, out.taken)
    meet_threads(out.team, out.scope)
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
    """Load this thread's part of a message that has at most as many parts as there are threads.

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
    _send_parts(to, source, nbytes, whole, data, flag_of(out), out.scope)
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
            data = wait_pair(team, come + i * 16, flag, call, pe)
            if rank < pairs:
                store_part(to, nbytes, i, data, whole)
    else:
        i = rank
        while i < pairs:
            other = cutlass.min(i + step, pairs - 1)
            places = (come + Int64(i) * 16, come + Int64(other) * 16)
            first, second = wait_pairs(team, places, flag, call, pe)
            store_part(to, nbytes, Int64(i), first, whole)
            if i + step < pairs:
                store_part(to, nbytes, Int64(other), second, whole)
            i += 2 * step


def begin_in(come: Inbox) -> Inbox:
    """Return the Inbox with the next message's number."""
    return replace(come, number=come.number + 1)


@cute.jit
def _tell_taken(taken: Int64, number: Int64, scope: Constexpr):
    if (number & (DEPTH // 2 - 1) == 0) & (rank_of(scope) == 0):
        store(Int64, taken, number, SYSTEM)  # all have read: a load whose value was used is complete


def end_in(come: Inbox) -> Inbox:
    meet_threads(come.team, come.scope)
    _tell_taken(come.taken, come.number, come.scope)
    return come


def receive_message(come: Inbox, dst) -> Inbox:
    """Receive the next message of an Inbox."""
    come = begin_in(come)
    _receive_parts(
        come.team, slot_here(come), address(dst), size_in_bytes(dst), is_whole(dst), flag_of(come), come.pe, come.call(),
        come.scope,
    )  # fmt: skip
    return end_in(come)


@cute.jit
def _looks_come(at: Int64, flag: Int32, scope: Constexpr):
    here = Int32(0)
    if rank_of(scope) == 0:
        _, here = load_flagged(at, flag)
    return here


def has_come(come: Inbox):
    """Return to all threads of the scope whether the next message has begun to arrive, 1 or 0."""
    coming = begin_in(come)
    return share(come.team, come.scope, _looks_come(slot_here(coming), flag_of(coming), come.scope))


@cute.jit
def _receive_if(come: Constexpr, dst: cute.Tensor, here: Int32):
    if here != 0:
        close_inbox(receive_message(come, dst))


def post(team, box, src, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    source, nbytes, whole = address(src), size_in_bytes(src), is_whole(src)
    data = own_part(source, nbytes, whole, scope)
    out = open_outbox("post", team, box, pe, scope, tag, bound_ns)
    close_outbox(send_message(out, source, nbytes, whole, data))


def receive(team, box, dst, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    close_inbox(receive_message(open_inbox("receive", team, box, pe, scope, tag, bound_ns), dst))


def try_receive(team, box, dst, pe, scope: Scope = THREAD, tag=0, bound_ns=0):
    come = open_inbox("try_receive", team, box, pe, scope, tag, bound_ns)
    here = has_come(come)
    _receive_if(come, dst, here)
    return here != 0
