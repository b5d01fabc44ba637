"""Mailboxes: elements of 4 bytes; `block` points to mailbox_bytes() zeros, `room` is a number of bytes."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._ptx import AT
from ._core import GE, at_pe, check_pe, checks, look_around, word_at
from ._signals import wait_for

_POST_TO, _RECEIVE_FROM = checks("post"), checks("receive")
_RECEIVE, _POST = tl.constexpr(AT["receive"]), tl.constexpr(AT["post"])
_DEPTH, _ENTRY = tl.constexpr(AT["mailbox_depth"]), tl.constexpr(AT["post_bytes"])
_POSTED, _SEEN_TAKEN = tl.constexpr(AT["post_posted"]), tl.constexpr(AT["post_seen_taken"])
_RECEIVED, _TAKEN = tl.constexpr(AT["post_received"]), tl.constexpr(AT["post_taken"])


def mailbox_bytes(n_pes: int, room: int) -> int:
    """How many bytes a mailbox for messages of at most `room` bytes takes on each of n_pes PEs."""
    return n_pes * (AT["post_bytes"] + AT["mailbox_depth"] * max(1, (room + 7) // 8) * 16)


@jit
def _box_slot(team, block, room, sender, number):
    start = block.to(tl.int64) + team.n_pes * _ENTRY
    return word_at(start + (sender * _DEPTH + number % _DEPTH) * ((room + 7) // 8) * 16)


@jit
def post(team, block, room, src, n, pe, BLOCK: tl.constexpr = 1024):
    """Send n elements of 4 bytes to PE `pe` through the mailbox; waits only while 8 messages are on their way."""
    check_pe(team, pe, _POST_TO)
    mine = block.to(tl.int64) + pe * _ENTRY
    number = tl.load(word_at(mine + _POSTED), volatile=True) + 1
    taken = tl.load(word_at(mine + _SEEN_TAKEN), volatile=True)
    if number > taken + _DEPTH:
        wait_for(team, word_at(mine + _TAKEN), GE, number - _DEPTH, _POST, pe, 0)
        tl.store(word_at(mine + _SEEN_TAKEN), number - _DEPTH)
    to = at_pe(team, _box_slot(team, block, room, team.my_pe, number), pe)
    flag = (number & 0xFFFFFFFF) << 32
    fresh = ((number & 0x3FFFFFFF) < _DEPTH) & (number >= _DEPTH)
    words = tl.where(fresh, (room + 7) // 8 * 2, (n + 1) // 2 * 2)
    words = tl.maximum(words, 2)
    for begin in range(0, words, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        bits = tl.load(src + at, mask=at < n, other=0).to(tl.int32, bitcast=True).to(tl.int64)
        tl.store(to + at, flag | (bits & 0xFFFFFFFF), mask=at < words)
    tl.debug_barrier()
    tl.store(word_at(mine + _POSTED), number)
    tl.debug_barrier()


@jit
def _missing(words, mask, flag):
    """How many words do not carry the flag yet."""
    return tl.sum((mask & (((words >> 32) & 0xFFFFFFFF) != flag)).to(tl.int32), 0)


@jit
def receive(team, block, room, dst, n, pe, BLOCK: tl.constexpr = 1024):
    """The next message of PE `pe`, n elements of 4 bytes, to dst."""
    check_pe(team, pe, _RECEIVE_FROM)
    mine = block.to(tl.int64) + pe * _ENTRY
    number = tl.load(word_at(mine + _RECEIVED), volatile=True) + 1
    come = _box_slot(team, block, room, pe, number)
    flag = number & 0xFFFFFFFF
    words = tl.maximum((n + 1) // 2 * 2, 2)
    since = tl.full((), 0, tl.int64)
    for begin in range(0, words, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        found = tl.load(come + at, mask=at < words, other=0, volatile=True)
        looks = 0
        while _missing(found, at < words, flag) != 0:
            looks += 1
            if looks % 1024 == 0:
                since = look_around(team, _RECEIVE, -1, pe, 0, come.to(tl.int64), flag, flag * 0, since)
            found = tl.load(come + at, mask=at < words, other=0, volatile=True)
        tl.store(
            dst + at, (found & 0xFFFFFFFF).to(tl.int32).to(dst.dtype.element_ty, bitcast=True), mask=at < n
        )
    tl.debug_barrier()
    if number % (_DEPTH // 2) == 0:
        tell = at_pe(team, word_at(block.to(tl.int64) + team.my_pe * _ENTRY + _TAKEN), pe)
        tl.atomic_xchg(tell, number, sem="relaxed", scope="sys")
    tl.store(word_at(mine + _RECEIVED), number)
    tl.debug_barrier()


@jit
def try_receive(team, block, room, dst, n, pe, BLOCK: tl.constexpr = 1024):
    """receive if the message has begun to come, and 1; else 0 at once."""
    check_pe(team, pe, _RECEIVE_FROM)
    number = tl.load(word_at(block.to(tl.int64) + pe * _ENTRY + _RECEIVED), volatile=True) + 1
    word = tl.load(_box_slot(team, block, room, pe, number), volatile=True)
    here = (((word >> 32) & 0xFFFFFFFF) == (number & 0xFFFFFFFF)).to(tl.int32)
    if here != 0:
        receive(team, block, room, dst, n, pe, BLOCK)
    return here
