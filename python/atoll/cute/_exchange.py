"""The exchange of small messages by which small collectives work: every member sends every other one."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from .._kernels.bodies import _exchange
from .._kernels.bodies._exchange import EXCHANGE_EPOCH
from ._addresses import at_peer
from ._polling import Call, wait_pair
from ._primitives import as_it_is, load, load_part, pairs_of, store, store_flagged
from ._threads import meet_threads, rank_of, size_of
from ._types import Team

slot_pairs, area_pairs, slots_at, counts_at, pes_at, most_bytes, slot_from = _exchange.layout(
    as_it_is, lambda a, b: a // b, lambda a, b: cutlass.max(a, Int32(b)), Int64
).values()


def next_epoch(team):
    return load(Int32, team.control + EXCHANGE_EPOCH) + 1


def end_exchange(team, epoch, scope) -> None:
    meet_threads(team.control, scope)
    # Every thread stores it, so that each can read its own store.
    store(Int32, team.control + EXCHANGE_EPOCH, epoch)


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
    return wait_pair(team.control, slot_from(team, epoch, pe) + Int64(i) * 16, epoch, call, pe)
