"""The exchange of small messages by which small collectives work: every member sends every other one."""

from __future__ import annotations

from numba.core import types

from .._kernels.bodies import _exchange
from .._kernels.bodies._exchange import EXCHANGE_EPOCH
from . import _primitives as prim
from ._addresses import at_peer, pairs_of
from ._dsl._registration import helper
from ._polling import wait_pair

i64, u32 = types.int64, types.uint32
slot_pairs, area_pairs, slots_at, counts_at, pes_at, most_bytes, slot_from = _exchange.layout(
    helper, prim.quotient, max, i64
).values()


@helper
def next_epoch(team):
    return (i64(prim.load_own(u32, team.control + EXCHANGE_EPOCH)) + 1) & 0xFFFFFFFF


@helper
def end_exchange(team, epoch, scope):
    prim.meet(team.control, scope)
    # Every thread stores it, so that its later loads see its own store.
    prim.store_own(u32, team.control + EXCHANGE_EPOCH, u32(epoch))


@helper
def send(team, epoch, nbytes, source, block, scope):
    """Send `nbytes` at source + pe * block to each other member. The threads take the pairs of all messages
    in turn.
    """
    is_round = (epoch & 0x3FFFFFFF) < 2 and epoch >= 2
    pairs = pairs_of(most_bytes(team)) if is_round else pairs_of(nbytes)
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
def part(call, team, epoch, pe, i):
    """Wait for bytes 8 * i … of the message from `pe`, and return them."""
    return wait_pair(team.control, slot_from(team, epoch, pe) + 16 * i, epoch, call, pe)
