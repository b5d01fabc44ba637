"""Flagged words: mailboxes, and the exchange that small collectives are made of (atoll/device/mailbox.hpp, exchange.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import cutlass
import cutlass.cute as cute
from cutlass import Int32, Int64

from .. import _ptx
from .._ptx import AT
from ._core import (
    GE,
    SYSTEM,
    THREAD,
    Scope,
    Team,
    address,
    asm,
    at_peer,
    check_pe,
    is_dense,
    load,
    meet_threads,
    one_of,
    rank_of,
    same,
    share,
    size_in_bytes,
    size_of,
    store,
)  # fmt: skip
from ._waits import wait_pair, wait_word

DEPTH, ENTRY = AT["mailbox_depth"], AT["post_bytes"]
POSTED, SEEN_TAKEN, RECEIVED, TAKEN = (
    AT[f"post_{name}"] for name in ("posted", "seen_taken", "received", "taken")
)


class Mailbox(NamedTuple):
    """What post and receive take; made by mailbox(). Annotate kernels' arguments with it."""

    block: Int64
    room: Int64


def mailbox(block, room: int) -> Mailbox:
    """Return a kernel's mailbox: `block` is a symmetric uint8 array of zeros in GPU memory, mailbox_bytes(n_pes, room) long.
    It must be kept as long as the mailbox is used. On the host."""
    at = block.data_ptr() if hasattr(block, "data_ptr") else block.__cuda_array_interface__["data"][0]
    return Mailbox(Int64(at), Int64(room))


def mailbox_bytes(n_pes: int, room: int) -> int:
    """How many bytes a mailbox for messages of at most `room` bytes takes on each of n_pes PEs."""
    return n_pes * (ENTRY + DEPTH * max(1, (room + 7) // 8) * 16)


def load_part(source, nbytes, i):
    return asm(_ptx.load_part(), "=&l,l,l,l", Int64, [source, nbytes, Int64(i)])


def store_part(to, nbytes, i, data) -> None:
    asm(_ptx.store_part(), "l,l,l,l", None, [to, nbytes, Int64(i), data])


def store_flagged(at, data, flag) -> None:
    asm(_ptx.store_flagged(), "l,l,r", None, [at, data, flag])


@cute.jit
def pairs_of(nbytes: Int64):
    pairs = (nbytes + 7) >> 3
    if pairs == 0:
        pairs = Int64(1)
    return pairs


@cute.jit
def box_slot(team: Team, box: Mailbox, sender: Int32, number: Int64):
    """Where message `number` of a sender stands."""
    slot = Int64(sender) * DEPTH + (number & (DEPTH - 1))
    return box.block + Int64(team.n_pes) * ENTRY + slot * pairs_of(box.room) * 16


@cute.jit
def send_flagged(
    to: Int64, source: Int64, nbytes: Int64, pairs: Int32, flag: Int32, scope: cutlass.Constexpr
):
    """Two parts of a thread are on their way at once. Threads that have no part of a short message do as the last that
    has, up to the end of its warp, so that warps do not diverge."""
    rank, step = Int32(rank_of(scope)), Int32(size_of(scope))
    if pairs <= step:
        if rank < (pairs + 31) // 32 * 32:
            i = cutlass.min(rank, pairs - 1)
            data = load_part(source, nbytes, i)
            if rank < pairs:
                store_flagged(to + Int64(i) * 16, data, flag)
    else:
        i = rank
        while i < pairs:
            other = cutlass.min(i + step, pairs - 1)
            data, more = load_part(source, nbytes, i), load_part(source, nbytes, other)
            store_flagged(to + Int64(i) * 16, data, flag)
            if i + step < pairs:
                store_flagged(to + Int64(other) * 16, more, flag)
            i += 2 * step


@cute.jit
def receive_flagged(
    team: Team, come: Int64, to: Int64, nbytes: Int64, flag: Int32, pe: Int32, scope: cutlass.Constexpr
):
    rank, step = Int32(rank_of(scope)), Int32(size_of(scope))
    pairs = Int32(pairs_of(nbytes))
    if pairs <= step:
        if rank < (pairs + 31) // 32 * 32:
            i = cutlass.min(rank, pairs - 1)
            data = wait_pair(team, come + Int64(i) * 16, flag, "receive", pe)
            if rank < pairs:
                store_part(to, nbytes, i, data)
    else:
        i = rank
        while i < pairs:
            data = wait_pair(team, come + Int64(i) * 16, flag, "receive", pe)
            store_part(to, nbytes, i, data)
            i += step


@cute.jit
def _post(team: Team, box: Mailbox, source: Int64, nbytes: Int64, pe: Int32, scope: cutlass.Constexpr):
    mine = box.block + Int64(pe) * ENTRY
    number, taken = load(Int64, mine + POSTED) + 1, load(Int64, mine + SEEN_TAKEN)
    if number > taken + DEPTH:
        taken = wait_word(team, Int64, mine + TAKEN, GE, number - DEPTH, "post", pe, Int32(0))
    pairs = Int32(pairs_of(nbytes))
    if ((number & 0x3FFFFFFF) < DEPTH) & (
        number >= DEPTH
    ):  # words that short messages leave get a new flag in time
        pairs = Int32(pairs_of(box.room))
    to = at_peer(team, box_slot(team, box, team.my_pe, number), pe)
    send_flagged(to, source, nbytes, pairs, Int32(number & 0xFFFFFFFF), scope)
    if number & (DEPTH // 2 - 1) == 0:  # looked at by the next message, which so does not wait for this load
        taken = load(Int64, mine + TAKEN, SYSTEM)
    meet_threads(team, scope)
    store(Int64, mine + POSTED, number)  # by every thread, so that each reads its own
    store(Int64, mine + SEEN_TAKEN, taken)


@cute.jit
def _receive(team: Team, box: Mailbox, to: Int64, nbytes: Int64, pe: Int32, scope: cutlass.Constexpr):
    mine = box.block + Int64(pe) * ENTRY
    number = load(Int64, mine + RECEIVED) + 1
    come = box_slot(team, box, pe, number)
    receive_flagged(team, come, to, nbytes, Int32(number & 0xFFFFFFFF), pe, scope)
    meet_threads(team, scope)
    if (number & (DEPTH // 2 - 1) == 0) & (rank_of(scope) == 0):
        # All have read: a load whose value was looked at is over.
        store(Int64, at_peer(team, box.block + Int64(team.my_pe) * ENTRY, pe) + TAKEN, number, SYSTEM)
    store(Int64, mine + RECEIVED, number)


@cute.jit
def _here(team: Team, box: Mailbox, pe: Int32, scope: cutlass.Constexpr):
    here = Int32(0)
    if rank_of(scope) == 0:
        number = load(Int64, box.block + Int64(pe) * ENTRY + RECEIVED) + 1
        at, flag = box_slot(team, box, pe, number), number & 0xFFFFFFFF
        first, second = load(Int64, at, SYSTEM), load(Int64, at + 8, SYSTEM)
        if (((first >> 32) & 0xFFFFFFFF) == flag) & (((second >> 32) & 0xFFFFFFFF) == flag):
            here = Int32(1)
    return share(team, scope, here)


@cute.jit
def _receive_if(
    team: Team, box: Mailbox, to: Int64, nbytes: Int64, pe: Int32, here: Int32, scope: cutlass.Constexpr
):
    if here != 0:
        _receive(team, box, to, nbytes, pe, scope)


def dense(name: str, which: str, x) -> None:
    same(name, x, x)
    if not is_dense(x):
        raise TypeError(
            f"atoll.cute.{name}: {which} is not known to be contiguous ({x.layout}); copy it first"
        )


def post(team, box, src, pe, scope: Scope = THREAD):
    """Send src to PE `pe` through the mailbox; src may be written again afterwards.

    Waits only while 8 messages are on their way. No fence: a message orders nothing but itself. Of one mailbox and
    pair one scope posts and one receives at a time, in order, and both pass the same size, `room` bytes at most.
    """
    dense("post", "src", src)
    check_pe(team, "post", pe)
    _post(team, box, address(src), size_in_bytes(src), Int32(pe), one_of(Scope, "post", scope))


def receive(team, box, dst, pe, scope: Scope = THREAD):
    """dst = the next message of PE `pe`; every thread of the scope may read it afterwards."""
    dense("receive", "dst", dst)
    check_pe(team, "receive", pe)
    _receive(team, box, address(dst), size_in_bytes(dst), Int32(pe), one_of(Scope, "receive", scope))


def try_receive(team, box, dst, pe, scope: Scope = THREAD):
    """receive if the message has begun to come, and true; else false at once."""
    dense("try_receive", "dst", dst)
    check_pe(team, "receive", pe)
    here = _here(team, box, Int32(pe), one_of(Scope, "try_receive", scope))
    _receive_if(team, box, address(dst), size_in_bytes(dst), Int32(pe), here, scope)
    return here != 0


# ---- the exchange: every member sends every other a message

SLOTS, EPOCH, AREA = AT["slots"], AT["exchange_epoch"], AT["slot_area_pairs"]


def most_bytes(team):
    """Of a message from member to member."""
    return Int64(AREA // team.n_pes) * 8


def next_epoch(team):
    return load(Int32, team.control + EPOCH, SYSTEM) + 1


def end_exchange(team, epoch, scope) -> None:
    meet_threads(team, scope)
    store(Int32, team.control + EPOCH, epoch, SYSTEM)  # by every thread, each reads its own


def slot_from(team, epoch, pe):
    return team.control + SLOTS + Int64((epoch & 1) * AREA + pe * (AREA // team.n_pes)) * 16


@cute.jit
def send(team: Team, epoch: Int32, nbytes: Int64, source: Int64, block: Int64, scope: cutlass.Constexpr):
    """`nbytes` at source + pe * block to each other member."""
    pairs = Int32(pairs_of(nbytes))
    if ((epoch & 0x3FFFFFFF) < 2) & ((epoch < 0) | (epoch >= 2)):
        pairs = Int32(pairs_of(most_bytes(team)))
    mine = slot_from(team, epoch, team.my_pe)
    k = Int32(rank_of(scope))
    while k < pairs * team.n_pes:
        pe = k // pairs
        i = k - pe * pairs
        if pe != team.my_pe:
            data = load_part(source + Int64(pe) * block, nbytes, i)
            store_flagged(at_peer(team, mine, pe) + Int64(i) * 16, data, epoch)
        k += Int32(size_of(scope))


def part(operation: str, team, epoch, pe, i):
    """Bytes 8 * i … of the message from `pe`, once they have come."""
    return wait_pair(team, slot_from(team, epoch, pe) + Int64(i) * 16, epoch, operation, pe)
