"""Flagged words: mailboxes, and the exchange that small collectives are made of (atoll/device/mailbox.hpp,
exchange.hpp). Bytes travel in pairs of words {data 4, flag 4}, 8 bytes of data a pair."""

from __future__ import annotations

from typing import Any

from numba.core import types

from . import _primitives as prim
from ._layout import AT
from ._rma import item
from ._targets import GE, THREAD, array, helper, scope_of, vocabulary
from ._waiting import POST, RECEIVE, flag_of, wait_pair, wait_pairs, wait_word
from ._who import at_peer

i64, u8, u32 = types.int64, types.uint8, types.uint32
SLOTS, EXCHANGE_EPOCH, AREA = AT["slots"], AT["exchange_epoch"], AT["slot_area_pairs"]
DEPTH, ENTRY = AT["mailbox_depth"], AT["post_bytes"]
POSTED, SEEN_TAKEN = AT["post_posted"], AT["post_seen_taken"]
assert DEPTH & (DEPTH - 1) == 0
RECEIVED, TAKEN = AT["post_received"], AT["post_taken"]


@helper
def pairs_of(nbytes: Any) -> Any:
    return 1 if nbytes == 0 else (nbytes + 7) >> 3


# ---- the exchange: every member sends every other a message


@helper
def most_bytes(team: Any) -> Any:
    """Of a message from member to member."""
    return 8 * prim.quotient(AREA, team.n_pes)


@helper
def next_epoch(team: Any) -> Any:
    return (i64(prim.load_own(u32, team.control + EXCHANGE_EPOCH)) + 1) & 0xFFFFFFFF


@helper
def end_exchange(team: Any, epoch: Any, scope: Any) -> Any:
    prim.meet(team.control, scope)
    prim.store_own(u32, team.control + EXCHANGE_EPOCH, u32(epoch))  # by every thread, each reads its own


@helper
def slot_from(team: Any, epoch: Any, pe: Any) -> Any:
    return team.control + SLOTS + ((epoch & 1) * AREA + pe * prim.quotient(AREA, team.n_pes)) * 16


@helper
def send(team: Any, epoch: Any, nbytes: Any, source: Any, block: Any, scope: Any) -> Any:
    """`nbytes` at source + pe * block to each other member. Pairs of all messages are dealt to the threads in turn."""
    refresh = (epoch & 0x3FFFFFFF) < 2 and epoch >= 2
    pairs = pairs_of(most_bytes(team)) if refresh else pairs_of(nbytes)
    mine = slot_from(team, epoch, team.my_pe)
    k = prim.rank(scope)
    while k < pairs * team.n_pes:
        pe = prim.quotient(k, pairs)
        i = k - pe * pairs
        if pe != team.my_pe:
            data = prim.load_part(source + pe * block, nbytes, i) if nbytes != 0 else i64(0)
            prim.store_flagged(at_peer(team, mine, pe) + 16 * i, data, epoch)
        k += prim.size(scope)


@helper
def part(operation: Any, team: Any, epoch: Any, pe: Any, i: Any) -> Any:
    """Bytes 8 * i … of the message from `pe`, once they have come."""
    return wait_pair(team.control, slot_from(team, epoch, pe) + 16 * i, epoch, operation, pe)


# ---- mailboxes


@helper
def entry(team: Any, block: Any, pe: Any) -> Any:
    """Counters of the pair (this PE, pe)."""
    return block + pe * ENTRY


@helper
def box_slot(team: Any, block: Any, room: Any, sender: Any, number: Any) -> Any:
    """Where message `number` of a sender stands."""
    return block + team.n_pes * ENTRY + (sender * DEPTH + (number & (DEPTH - 1))) * pairs_of(room) * 16


@helper
def send_flagged(to: Any, source: Any, nbytes: Any, pairs: Any, flag: Any, scope: Any) -> Any:
    """Two parts of a thread are on their way at once. Threads that have no part of a short message do as the last that
    has, up to the end of its warp, so that warps do not diverge."""
    rank, step = prim.rank(scope), prim.size(scope)
    if pairs <= step:
        if rank < (pairs + 31) & ~31:
            i = min(rank, pairs - 1)
            data = prim.load_part(source, nbytes, i)
            if rank < pairs:
                prim.store_flagged(to + 16 * i, data, flag)
    else:
        i = rank
        while i < pairs:
            second = min(i + step, pairs - 1)
            data, more = prim.load_part(source, nbytes, i), prim.load_part(source, nbytes, second)
            prim.store_flagged(to + 16 * i, data, flag)
            if i + step < pairs:
                prim.store_flagged(to + 16 * second, more, flag)
            i += 2 * step


@helper
def receive_flagged(team: Any, come: Any, to: Any, nbytes: Any, flag: Any, pe: Any, scope: Any) -> Any:
    rank, step = prim.rank(scope), prim.size(scope)
    pairs = pairs_of(nbytes)
    if pairs <= step:
        if rank < (pairs + 31) & ~31:
            i = min(rank, pairs - 1)
            data = wait_pair(team.control, come + 16 * i, flag, RECEIVE, pe)
            if rank < pairs:
                prim.store_part(to, nbytes, i, data)
    else:
        i = rank
        while i < pairs:
            second = min(i + step, pairs - 1)
            data, more = wait_pairs(team.control, come + 16 * i, come + 16 * second, flag, RECEIVE, pe)
            prim.store_part(to, nbytes, i, data)
            if i + step < pairs:
                prim.store_part(to, nbytes, second, more)
            i += 2 * step


@helper
def post_bytes(team: Any, block: Any, room: Any, source: Any, nbytes: Any, pe: Any, scope: Any) -> Any:
    mine = entry(team, block, pe)
    number = prim.load_own(i64, mine + POSTED) + 1
    taken = prim.load_own(i64, mine + SEEN_TAKEN)
    if number > taken + DEPTH:
        taken = wait_word(i64, team.control, mine + TAKEN, GE, number - DEPTH, POST, pe, 0)
    refresh = (number & 0x3FFFFFFF) < DEPTH and number >= DEPTH
    pairs = pairs_of(room) if refresh else pairs_of(nbytes)
    to = at_peer(team, box_slot(team, block, room, team.my_pe, number), pe)
    send_flagged(to, source, nbytes, pairs, number & 0xFFFFFFFF, scope)
    if number & (DEPTH // 2 - 1) == 0:  # looked at by the next message, which so does not wait for this load
        taken = prim.load_taken(mine + TAKEN)
    prim.meet(team.control, scope)
    prim.store_own(i64, mine + POSTED, number)  # by every thread, so that each reads its own
    prim.store_own(i64, mine + SEEN_TAKEN, taken)


@helper
def receive_bytes(team: Any, block: Any, room: Any, to: Any, nbytes: Any, pe: Any, scope: Any) -> Any:
    mine = entry(team, block, pe)
    number = prim.load_own(i64, mine + RECEIVED) + 1
    receive_flagged(team, box_slot(team, block, room, pe, number), to, nbytes, number & 0xFFFFFFFF, pe, scope)
    prim.meet(team.control, scope)
    if number & (DEPTH // 2 - 1) == 0 and prim.rank(scope) == 0:
        # All have read: on a GPU a load whose value was looked at is over.
        prim.tell_taken(at_peer(team, entry(team, block, team.my_pe), pe) + TAKEN, number)
    prim.store_own(i64, mine + RECEIVED, number)


@vocabulary
def post(team: Any, box: Any, src: Any, pe: Any, scope: Any = THREAD) -> Any:
    """Send src to PE `pe` through the mailbox (dev.mailbox); src may be written again afterwards.

    Waits only while 8 messages are on their way. No fence: a message orders nothing but itself. Of one mailbox and
    pair one scope posts and one receives at a time, in order, and both pass the same size, `room` bytes at most.
    """
    each, which = item(array("post", "src", src)), scope_of("post", scope)

    def impl(team: Any, box: Any, src: Any, pe: Any, scope: Any = THREAD) -> None:
        prim.check_pe(team.control, team.n_pes, POST, pe)
        post_bytes(team, prim.address(box.block), box.room, prim.address(src), src.size * each, pe, which)

    return impl


@vocabulary
def receive(team: Any, box: Any, dst: Any, pe: Any, scope: Any = THREAD) -> Any:
    """dst = the next message of PE `pe`; every thread of the scope may read it afterwards."""
    each, which = item(array("receive", "dst", dst)), scope_of("receive", scope)

    def impl(team: Any, box: Any, dst: Any, pe: Any, scope: Any = THREAD) -> None:
        prim.check_pe(team.control, team.n_pes, RECEIVE, pe)
        receive_bytes(team, prim.address(box.block), box.room, prim.address(dst), dst.size * each, pe, which)

    return impl


@vocabulary
def try_receive(team: Any, box: Any, dst: Any, pe: Any, scope: Any = THREAD) -> Any:
    """receive and return True if the message has begun to come; else return False at once."""
    each, which = item(array("try_receive", "dst", dst)), scope_of("try_receive", scope)

    def impl(team: Any, box: Any, dst: Any, pe: Any, scope: Any = THREAD) -> Any:
        prim.check_pe(team.control, team.n_pes, RECEIVE, pe)
        block = prim.address(box.block)
        here = i64(0)
        if prim.rank(which) == 0:
            number = prim.load_own(i64, entry(team, block, pe) + RECEIVED) + 1
            first, second = prim.load_pair(box_slot(team, block, box.room, pe, number))
            flag = number & 0xFFFFFFFF
            if flag_of(first) == flag and flag_of(second) == flag:
                here = i64(1)
        if prim.share(team.control, which, here) == 0:
            return False
        receive_bytes(team, block, box.room, prim.address(dst), dst.size * each, pe, which)
        return True

    return impl
