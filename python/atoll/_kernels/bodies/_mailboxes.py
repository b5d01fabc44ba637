"""Mailboxes: messages in pairs of flagged words, one by one or in loops (atoll/device/mailbox.hpp).

In loops the counters are in registers from `outbox` or `inbox` until `close`. Each call returns the next value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ptx import AT
from . import by_name

DEPTH, ENTRY = AT["mailbox_depth"], AT["post_bytes"]
assert DEPTH & (DEPTH - 1) == 0
POSTED, SEEN_TAKEN = AT["post_posted"], AT["post_seen_taken"]
RECEIVED, TAKEN = AT["post_received"], AT["post_taken"]
POST, RECEIVE = AT["post"], AT["receive"]


def ends(
    helper: Any, prim: Any, i64: Any, number_of_pe: Any, Outbox: Any, Inbox: Any, at_peer: Any, pairs_of: Any,
    block_of: Any,
) -> dict[str, Callable[..., Any]]:  # fmt: skip
    """Return functions for the two ends of a pair of PEs.

    `block_of(team, operation, box, pe)` checks the PE and the mailbox, and returns the mailbox's address.
    """

    @helper
    def box_slots(team, block, room, sender):
        """Return the address of a sender's slots."""
        return block + i64(team.n_pes) * ENTRY + i64(sender) * DEPTH * pairs_of(room) * 16

    @helper
    def slot_here(box):
        """Return the address of the slot of an Outbox's or Inbox's current message."""
        return box.slots + (box.number & (DEPTH - 1)) * box.slot_bytes

    @helper
    def open_outbox(call, team, box, pe, scope):
        block = block_of(team, POST, box, pe)
        mine = block + i64(pe) * ENTRY
        slots = at_peer(team, box_slots(team, block, box.room, team.my_pe), pe)
        number, taken = prim.load_own(i64, mine + POSTED), prim.load_own(i64, mine + SEEN_TAKEN)
        size = i64(pairs_of(box.room) * 16)
        return Outbox(team, scope, number_of_pe(pe), mine, slots, size, number, taken, call.tag, call.bound)

    @helper
    def close_outbox(out):
        """Store the counters, by every thread, so that each can read its own store."""
        prim.store_own(i64, out.mine + POSTED, out.number)
        prim.store_own(i64, out.mine + SEEN_TAKEN, out.taken)

    @helper
    def open_inbox(call, team, box, pe, scope):
        block = block_of(team, RECEIVE, box, pe)
        mine = block + i64(pe) * ENTRY
        taken = at_peer(team, block + i64(team.my_pe) * ENTRY, pe) + TAKEN
        slots, number = box_slots(team, block, box.room, pe), prim.load_own(i64, mine + RECEIVED)
        size = i64(pairs_of(box.room) * 16)
        return Inbox(team, scope, number_of_pe(pe), mine, slots, size, number, taken, call.tag, call.bound)

    @helper
    def close_inbox(come):
        prim.store_own(i64, come.mine + RECEIVED, come.number)

    return by_name(box_slots, slot_here, open_outbox, close_outbox, open_inbox, close_inbox)


def operations(
    operation: Any, prim: Any, i64: Any, u64: Any, Call: Any, call_of: Any, ends: Any, flag_here: Any,
    receive_message: Any, has_come: Any, wait_pair: Any, THREAD: Any, UNTAGGED: Any,
    UNBOUNDED: Any,
) -> dict[str, Callable[..., Any]]:  # fmt: skip
    """Return the operations. `ends` has the functions above.

    UNTAGGED and UNBOUNDED are the defaults of a tag and of a bound. An outbox or inbox keeps them, so they are 0 or a
    value that takes no register.
    """
    open_outbox, open_inbox, close_inbox = ends["open_outbox"], ends["open_inbox"], ends["close_inbox"]
    slot_here = ends["slot_here"]

    @operation
    def receive(team, box, dst, pe, scope=THREAD, tag=0, bound_ns=UNBOUNDED):
        call = call_of(RECEIVE, tag, bound_ns)
        close_inbox(receive_message(open_inbox(call, team, box, pe, scope), dst))

    @operation
    def outbox(team, box, pe, scope=THREAD, tag=UNTAGGED, bound_ns=UNBOUNDED):
        return open_outbox(call_of(POST, tag, bound_ns), team, box, pe, scope)

    @operation
    def inbox(team, box, pe, scope=THREAD, tag=UNTAGGED, bound_ns=UNBOUNDED):
        return open_inbox(call_of(RECEIVE, tag, bound_ns), team, box, pe, scope)

    @operation
    def receive_next(come, dst):
        return receive_message(come, dst)

    @operation
    def has_message(come):
        return has_come(come)

    @operation
    def store(out, part, data):
        prim.store_flagged(slot_here(out) + i64(part) * 16, i64(data), flag_here(out))

    @operation
    def load(come, part):
        at, call = slot_here(come) + i64(part) * 16, Call(RECEIVE, come.tag, come.bound)
        return u64(wait_pair(come.team.control, at, flag_here(come), call, come.pe))

    return by_name(receive, outbox, inbox, receive_next, has_message, store, load)
