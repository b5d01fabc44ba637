"""Mailboxes: `block` points to mailbox_bytes() zeros, `room` is a number of bytes (atoll/device/mailbox.hpp)."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels.ptx import AT
from . import _primitives as prim
from ._addresses import check_address, check_pe, checks, reach
from ._polling import wait_both, wait_flagged, wait_word
from ._threads import num_threads, thread
from ._types import GE

_POST_TO, _RECEIVE_FROM = checks("post"), checks("receive")
_RECEIVE, _POST = tl.constexpr(AT["receive"]), tl.constexpr(AT["post"])
_DEPTH, _ENTRY = tl.constexpr(AT["mailbox_depth"]), tl.constexpr(AT["post_bytes"])
_POSTED, _SEEN_TAKEN = tl.constexpr(AT["post_posted"]), tl.constexpr(AT["post_seen_taken"])
_RECEIVED, _TAKEN = tl.constexpr(AT["post_received"]), tl.constexpr(AT["post_taken"])


@jit
def _box_slot(team, block, room, sender, number):
    """Return the address of message `number` of a sender."""
    slot = sender * _DEPTH + (number & (_DEPTH - 1))
    return block.to(tl.int64) + team.n_pes * _ENTRY + slot * prim.pairs_of(room) * 16


@jit
def post(team, block, room, src, n, pe, tag=0, bound_ns=0):
    check_pe(team, pe, _POST_TO)
    check_address(team, block, _POST_TO)
    mine = block.to(tl.int64) + pe * _ENTRY
    number = prim.load(mine + _POSTED, tl.int64) + 1
    taken = prim.load(mine + _SEEN_TAKEN, tl.int64)
    source, nbytes = src.to(tl.int64), prim.bytes_of(src, n)
    pairs = prim.pairs_of(nbytes)
    tl.debug_barrier()  # after the program's stores to src
    i = thread()
    data = tl.full((), 0, tl.int64)
    if pairs <= num_threads():  # loaded beside the counters
        data = prim.load_part(source, nbytes, tl.minimum(i, pairs - 1))
    if number > taken + _DEPTH:
        wait_word(team, mine + _TAKEN, tl.int64, GE, number - _DEPTH, _POST, pe, tag, "relaxed", 1, bound_ns)
        taken = number - _DEPTH
    to = reach(team, _box_slot(team, block, room, team.my_pe, number), pe)
    flag = number.to(tl.int32)
    if pairs <= num_threads():
        if i < pairs:
            prim.store_flagged(to + 16 * i, data, flag)
    else:
        while i < pairs:
            second = tl.where(i + num_threads() < pairs, i + num_threads(), i)
            data, more = prim.load_part(source, nbytes, i), prim.load_part(source, nbytes, second)
            prim.store_flagged(to + 16 * i, data, flag)
            prim.store_flagged(to + 16 * second, more, flag)
            i += 2 * num_threads()
    if ((number & 0x3FFFFFFF) < _DEPTH) & (number >= _DEPTH):
        # Short messages do not write all words. Renew the flags of the others before old flags recur.
        i = pairs + thread()
        while i < prim.pairs_of(room):
            prim.store_flagged(to + 16 * i, tl.full((), 0, tl.int64), flag)
            i += num_threads()
    # Prefetched for the next message.
    if number & (_DEPTH // 2 - 1) == 0:
        taken = prim.load(mine + _TAKEN, tl.int64, ".relaxed.sys")
    tl.debug_barrier()
    prim.store(mine + _POSTED, number, tl.int64)
    prim.store(mine + _SEEN_TAKEN, taken, tl.int64)


@jit
def receive(team, block, room, dst, n, pe, tag=0, bound_ns=0):
    check_pe(team, pe, _RECEIVE_FROM)
    check_address(team, block, _RECEIVE_FROM)
    mine = block.to(tl.int64) + pe * _ENTRY
    number = prim.load(mine + _RECEIVED, tl.int64) + 1
    come = _box_slot(team, block, room, pe, number)
    flag = number.to(tl.int32)
    to, nbytes = dst.to(tl.int64), prim.bytes_of(dst, n)
    pairs = prim.pairs_of(nbytes)
    i = thread()
    if pairs <= num_threads():
        if i < pairs:
            data = wait_flagged(team, come + 16 * i, flag, _RECEIVE, pe, tag, bound_ns)
            prim.store_part(to, nbytes, i, data)
    else:
        while i < pairs:
            second = tl.where(i + num_threads() < pairs, i + num_threads(), i)
            data, more = wait_both(team, come + 16 * i, come + 16 * second, flag, _RECEIVE, pe, tag, bound_ns)
            prim.store_part(to, nbytes, i, data)
            prim.store_part(to, nbytes, second, more)
            i += 2 * num_threads()
    tl.debug_barrier()
    if number & (_DEPTH // 2 - 1) == 0:  # all threads have read
        tell = reach(team, block.to(tl.int64) + team.my_pe * _ENTRY + _TAKEN, pe)
        prim.store(tell, number, tl.int64, ".relaxed.sys", (thread() == 0).to(tl.int32))
    prim.store(mine + _RECEIVED, number, tl.int64)


@jit
def try_receive(team, block, room, dst, n, pe, tag=0, bound_ns=0):
    check_pe(team, pe, _RECEIVE_FROM)
    check_address(team, block, _RECEIVE_FROM)
    number = prim.load(block.to(tl.int64) + pe * _ENTRY + _RECEIVED, tl.int64) + 1
    word = prim.load_one(prim.word_at(_box_slot(team, block, room, pe, number)))
    here = ((word >> 32).to(tl.int32) == number.to(tl.int32)).to(tl.int32)
    if here != 0:
        receive(team, block, room, dst, n, pe, tag, bound_ns)
    return here
