"""The exchange of small messages by which small collectives work: every member sends every other one."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._ptx import AT
from ._addresses import at_peer
from ._polling import Call, wait_pair
from ._primitives import load, load_part, pairs_of, store, store_flagged
from ._threads import meet_threads, rank_of, size_of
from ._types import Team

SLOTS, EPOCH, AREA = AT["slots"], AT["exchange_epoch"], AT["slot_area_pairs"]
FEW, LEAST, PAIR = AT["few_pes"], AT["least_slot_pairs"], AT["pair_bytes"]


def slot_pairs(team):
    """ControlLayout::slot_pairs of atoll/device/control.hpp; so the next two."""
    return cutlass.max(AREA // team.n_pes, Int32(LEAST))


def area_pairs(team):
    return cutlass.max(team.n_pes * LEAST, Int32(AREA))


def slots_at(team):
    return team.control + SLOTS + Int64(cutlass.max((team.n_pes - FEW) * 8 + 127, Int32(0)) & ~127)


def counts_at(team):
    """Return the address of the members' counts in `collect`."""
    return slots_at(team) + Int64(area_pairs(team)) * (2 * PAIR)


def most_bytes(team):
    """Return the longest message from member to member, in bytes."""
    return Int64(slot_pairs(team)) * 8


def next_epoch(team):
    return load(Int32, team.control + EPOCH) + 1


def end_exchange(team, epoch, scope) -> None:
    meet_threads(team, scope)
    store(Int32, team.control + EPOCH, epoch)  # stored by every thread, so that each can read its own store


def slot_from(team, epoch, pe):
    return slots_at(team) + Int64((epoch & 1) * area_pairs(team) + pe * slot_pairs(team)) * PAIR


@cute.jit
def send(
    team: Team, epoch: Int32, nbytes: Int64, source: Int64, block: Int64, whole: Constexpr, scope: Constexpr
):
    """Send `nbytes` at source + pe * block to each other member. `whole`: all consist of 8-byte units at
    multiples of 8.
    """
    pairs = Int32(pairs_of(nbytes))
    mine = slot_from(team, epoch, team.my_pe)
    k = Int32(rank_of(scope))
    while k < pairs * team.n_pes:
        pe = k // pairs
        i = k - pe * pairs
        if pe != team.my_pe:
            data = load_part(source + Int64(pe) * block, nbytes, Int64(i), whole)
            store_flagged(at_peer(team, mine, pe) + Int64(i) * 16, data, epoch)
        k += Int32(size_of(scope))
    if ((epoch & 0x3FFFFFFF) < 2) & (
        (epoch < 0) | (epoch >= 2)
    ):  # renew the flags of words that short messages do not write
        rest = Int32(pairs_of(most_bytes(team))) - pairs
        for k in cutlass.range(Int32(rank_of(scope)), rest * team.n_pes, Int32(size_of(scope)), unroll=1):
            pe = k // rest
            i = pairs + k - pe * rest
            if pe != team.my_pe:
                store_flagged(at_peer(team, mine, pe) + Int64(i) * 16, Int64(0), epoch)


def part(call: Call, team, epoch, pe, i):
    """Wait for bytes 8 * i … of the message from `pe`, and return them."""
    return wait_pair(team, slot_from(team, epoch, pe) + Int64(i) * 16, epoch, call, pe)
