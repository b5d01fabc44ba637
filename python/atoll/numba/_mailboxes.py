"""Mailboxes: messages in pairs of flagged words (atoll/device/mailbox.hpp)."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.core import types
from numba.core.errors import TypingError

from .._kernels.bodies import _mailboxes
from .._kernels.bodies._mailboxes import DEPTH, POST, RECEIVE, TAKEN
from . import _primitives as prim
from ._addresses import at_peer, bytes_of, check_address, pairs_of
from ._collectives import close_meeting
from ._dsl._registration import TARGETS, helper, implement, operation, vocabulary
from ._host import Mailbox
from ._polling import Call, call_of, flag_of, wait_pair, wait_pairs, wait_word
from ._types import GE, THREAD

i64 = types.int64
for on_gpu in TARGETS[1:]:  # on GPUs the check would cost each message a comparison
    implement(on_gpu, prim.check_room)(lambda control, nbytes, room: lambda control, nbytes, room: 0)


class End(NamedTuple):
    """One end of a pair of PEs, with the pair's counters as values."""

    team: Any
    scope: Any
    pe: Any
    mine: Any
    """The pair's counters in this PE's mailbox."""
    slots: Any
    """The sender's slots at the receiver."""
    slot_bytes: Any
    number: Any
    """The number of messages sent, or received."""
    taken: Any
    """In an Outbox, the number of messages that the other PE has received, when last loaded. In an Inbox, the
    address at which the other PE reads that number.
    """
    tag: Any
    bound: Any
    """The limit of each wait: see Call."""


class Outbox(End):
    """The sending end: outbox()."""


class Inbox(End):
    """The receiving end: inbox()."""


@helper
def block_of(team, operation, box, pe):
    """Check the PE and the mailbox, and return the mailbox's address."""
    prim.check_pe(team.control, team.n_pes, operation, pe)
    check_address(team, operation, box.block)
    return prim.address(box.block)


ENDS = _mailboxes.ends(helper, prim, i64, i64, Outbox, Inbox, at_peer, pairs_of, block_of)
box_slots, slot_here, open_outbox, close_outbox, open_inbox, close_inbox = ENDS.values()


@helper
def flag_here(box):
    return box.number & 0xFFFFFFFF


@helper
def refresh(to, pairs, room_pairs, flag, scope):
    """Renew the flags of words that short messages do not write, long before old flags recur."""
    k = pairs + prim.rank(scope)
    while k < room_pairs:
        prim.store_flagged(to + 16 * k, i64(0), flag)
        k += prim.size(scope)


@helper
def are_whole(address, nbytes):
    """Return whether all parts of a message are aligned words of 8 bytes: one check for a thread with many
    parts.
    """
    return (address | nbytes) & 7 == 0


@helper
def send_parts(to, source, nbytes, pairs, flag, scope):
    """Send a thread's parts, two in flight at a time."""
    step = prim.size(scope)
    i = prim.rank(scope)
    while i < pairs:
        second = min(i + step, pairs - 1)
        data, more = prim.load_part(source, nbytes, i), prim.load_part(source, nbytes, second)
        prim.store_flagged(to + 16 * i, data, flag)
        if i + step < pairs:
            prim.store_flagged(to + 16 * second, more, flag)
        i += 2 * step


@helper
def own_part(source, nbytes, scope):
    """Load this thread's part of a message with at most one part per thread.

    Threads without a part load the last one, up to the end of its warp, so that warps do not diverge.
    """
    pairs, rank = pairs_of(nbytes), prim.rank(scope)
    if pairs <= prim.size(scope) and rank < (pairs + 31) & ~31:
        return prim.load_part(source, nbytes, min(rank, pairs - 1))
    return i64(0)


@helper
def with_counters(out, number, taken):
    """Return the Outbox with these counters."""
    return Outbox(
        out.team, out.scope, out.pe, out.mine, out.slots, out.slot_bytes, number, taken, out.tag, out.bound
    )


@helper
def begin_out(out):
    """Return the Outbox with the next message's number, once its slot is free."""
    number, taken = out.number + 1, out.taken
    if number > taken + DEPTH:
        call, control = Call(POST, out.tag, out.bound), out.team.control
        taken = wait_word(i64, control, out.mine + TAKEN, GE, number - DEPTH, call, out.pe)
    return with_counters(out, number, taken)


@helper
def end_out(out):
    taken = out.taken
    if out.number & (DEPTH // 2 - 1) == 0:  # for the next message, which need not wait for this load
        taken = prim.load_taken(out.mine + TAKEN)
    return with_counters(out, out.number, taken)


@helper
def send_message(out, data, source, nbytes):
    """Send the next message of an Outbox; `data` is own_part's result.

    `data` does not depend on the message's number, so it is loaded before or beside the counters.
    """
    prim.check_room(out.team.control, nbytes, out.slot_bytes >> 1)
    out = begin_out(out)
    to, flag = slot_here(out), flag_here(out)
    pairs, rank = pairs_of(nbytes), prim.rank(out.scope)
    if pairs <= prim.size(out.scope):
        if rank < pairs:
            prim.store_flagged(to + 16 * rank, data, flag)
    else:
        send_parts(to, source, nbytes, pairs, flag, out.scope)
    if (out.number & 0x3FFFFFFF) < DEPTH and out.number >= DEPTH:
        refresh(to, pairs, out.slot_bytes >> 4, flag, out.scope)
    out = end_out(out)
    prim.meet(out.team.control, out.scope)
    return out


@helper
def receive_parts(call, team, come, to, nbytes, flag, pe, scope):
    rank, step = prim.rank(scope), prim.size(scope)
    pairs = pairs_of(nbytes)
    if pairs <= step:
        if rank < (pairs + 31) & ~31:
            i = min(rank, pairs - 1)
            data = wait_pair(team.control, come + 16 * i, flag, call, pe)
            if rank < pairs:
                prim.store_part(to, nbytes, i, data)
    else:
        i = rank
        whole = are_whole(to, nbytes)
        while i < pairs:
            second = min(i + step, pairs - 1)
            data, more = wait_pairs(team.control, come + 16 * i, come + 16 * second, flag, call, pe)
            if whole:  # at the end the last part is stored twice
                prim.store(i64, to + 8 * i, data)
                prim.store(i64, to + 8 * second, more)
            else:
                prim.store_part(to, nbytes, i, data)
                if i + step < pairs:
                    prim.store_part(to, nbytes, second, more)
            i += 2 * step


@helper
def begin_in(box):
    """Return the Inbox with the next message's number."""
    number = box.number + 1
    return Inbox(
        box.team,
        box.scope,
        box.pe,
        box.mine,
        box.slots,
        box.slot_bytes,
        number,
        box.taken,
        box.tag,
        box.bound,
    )


@helper
def tells(box):
    """Return whether the receiver acknowledges this message to the sender."""
    return box.number & (DEPTH // 2 - 1) == 0


@helper
def tell(box):
    """Tell the sender, after a barrier, when all threads have read: on a GPU a load whose value was used is
    complete.
    """
    if prim.rank(box.scope) == 0:
        prim.notify_taken(box.taken, box.number)


@helper
def end_in(box):
    if tells(box):
        prim.meet(box.team.control, box.scope)
        tell(box)
    return box


@helper
def receive_message(box, dst):
    """Receive the next message of an Inbox."""
    to, nbytes = prim.address(dst), bytes_of(dst)
    prim.check_room(box.team.control, nbytes, box.slot_bytes >> 1)
    box = begin_in(box)
    call, come = Call(RECEIVE, box.tag, box.bound), slot_here(box)
    receive_parts(call, box.team, come, to, nbytes, flag_here(box), box.pe, box.scope)
    prim.meet(box.team.control, box.scope)
    if tells(box):
        tell(box)
    return box


@helper
def has_come(box):
    here = i64(0)
    if prim.rank(box.scope) == 0:
        coming = begin_in(box)
        first, second = prim.load_pair(slot_here(coming))
        flag = flag_here(coming)
        if flag_of(first) == flag and flag_of(second) == flag:
            here = i64(1)
    return prim.share(box.team.control, box.scope, here) != 0


globals().update(
    _mailboxes.operations(
        operation, prim, i64, types.uint64, Call, call_of, ENDS, flag_here, receive_message, has_come, wait_pair,
        THREAD=THREAD, UNTAGGED=None, UNBOUNDED=None,
    )
)  # fmt: skip


@operation
def post(team, box, src, pe, scope=THREAD, tag=0, bound_ns=None):
    source, nbytes = prim.address(src), bytes_of(src)
    data, call = own_part(source, nbytes, scope), call_of(POST, tag, bound_ns)
    close_outbox(send_message(open_outbox(call, team, box, pe, scope), data, source, nbytes))


@operation
def try_receive(team, box, dst, pe, scope=THREAD, tag=0, bound_ns=None):
    opened = open_inbox(call_of(RECEIVE, tag, bound_ns), team, box, pe, scope)
    if not has_come(opened):
        return False
    close_inbox(receive_message(opened, dst))
    return True


# ---- in loops
@vocabulary
def nth(boxes, k):
    block = getattr(boxes, "types", [None])[0]
    if getattr(boxes, "instance_class", None) is not Mailbox or getattr(block, "ndim", 1) != 2:
        raise TypingError(
            f"atoll.numba.nth: {boxes} was given; it must be the result of dev.mailbox(room, count=...)"
        )
    return lambda boxes, k: Mailbox(boxes.block[k], boxes.room)


@operation
def post_next(out, src):
    source, nbytes = prim.address(src), bytes_of(src)
    return send_message(out, own_part(source, nbytes, out.scope), source, nbytes)


@vocabulary
def begin(which):
    function = begin_out if which.instance_class is Outbox else begin_in
    return lambda which: function(which)


@vocabulary
def end(which):
    function = end_out if which.instance_class is Outbox else end_in
    return lambda which: function(which)


@vocabulary
def close(which):
    function = {Outbox: close_outbox, Inbox: close_inbox}.get(which.instance_class, close_meeting)
    return lambda which: function(which)
