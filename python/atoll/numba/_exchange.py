"""The exchange of small messages by which small collectives work: every member sends every other one."""

from __future__ import annotations

from .._ptx import AT
from . import _primitives as prim
from ._addresses import at_peer
from ._dsl._registration import helper
from ._mailboxes import i64, pairs_of, u32
from ._polling import wait_pair

SLOTS, EXCHANGE_EPOCH, AREA = AT["slots"], AT["exchange_epoch"], AT["slot_area_pairs"]
FEW, LEAST, PAIR = AT["few_pes"], AT["least_slot_pairs"], AT["pair_bytes"]


@helper
def slot_pairs(team):
    """ControlLayout::slot_pairs of atoll/device/control.hpp; so the next two."""
    return max(prim.quotient(AREA, team.n_pes), LEAST)


@helper
def area_pairs(team):
    return max(AREA, LEAST * team.n_pes)


@helper
def slots_at(team):
    return team.control + SLOTS + (max((team.n_pes - FEW) * 8 + 127, 0) & ~127)


@helper
def counts_at(team):
    """The members' counts in `collect`."""
    return slots_at(team) + 2 * PAIR * area_pairs(team)


@helper
def most_bytes(team):
    """The longest message from member to member."""
    return 8 * slot_pairs(team)


@helper
def next_epoch(team):
    return (i64(prim.load_own(u32, team.control + EXCHANGE_EPOCH)) + 1) & 0xFFFFFFFF


@helper
def end_exchange(team, epoch, scope):
    prim.meet(team.control, scope)
    # Every thread stores it, so that its later loads see its own store.
    prim.store_own(u32, team.control + EXCHANGE_EPOCH, u32(epoch))


@helper
def slot_from(team, epoch, pe):
    return slots_at(team) + ((epoch & 1) * area_pairs(team) + pe * slot_pairs(team)) * PAIR


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
