"""The exchange by which small collectives work, as atoll/device/exchange.hpp.

Every member sends every other a message of flagged words. The messages use two slots of the team's control
blocks alternately.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from .._kernels.ptx import AT
from ._addresses import reach
from ._polling import wait_flagged
from ._primitives import load, load_part, pairs_of, store, store_flagged, store_part
from ._threads import num_threads, thread

_EPOCH, _SLOTS, _AREA = (tl.constexpr(AT[name]) for name in ("exchange_epoch", "slots", "slot_area_pairs"))
_FEW, _LEAST, _PAIR = (tl.constexpr(AT[name]) for name in ("few_pes", "least_slot_pairs", "pair_bytes"))


@jit
def _slot_pairs(team):
    """Return ControlLayout::slot_pairs of atoll/device/control.hpp; so the next two."""
    return tl.maximum(_AREA // team.n_pes, _LEAST)


@jit
def _area_pairs(team):
    return tl.maximum(team.n_pes * _LEAST, _AREA)


@jit
def _slots_at(team):
    return team.control + _SLOTS + (tl.maximum((team.n_pes - _FEW) * 8 + 127, 0) & -128)


@jit
def counts_at(team):
    """Return the address of the members' counts in `collect`."""
    return _slots_at(team) + _area_pairs(team) * (2 * _PAIR)


@jit
def pes_at(team):
    """Return the address of the members' numbers in the world (ControlLayout::pes_of)."""
    return counts_at(team) + team.n_pes * 12


@jit
def is_small(team, nbytes):
    """Return whether messages of that many bytes from member to member fit the exchange."""
    return nbytes <= 8 * _slot_pairs(team)


@jit
def begin(team):
    """Return the number of this exchange, once the program's earlier stores may be sent."""
    epoch = load(team.control + _EPOCH, tl.int32) + 1
    tl.debug_barrier()
    return epoch


@jit
def end(team, epoch):
    """End the exchange, once all threads have read."""
    tl.debug_barrier()
    store(team.control + _EPOCH, epoch, tl.int32)


@jit
def _slot_from(team, epoch, pe):
    return _slots_at(team) + ((epoch & 1) * _area_pairs(team) + pe * _slot_pairs(team)) * _PAIR


@jit
def send(team, epoch, nbytes, source, block):
    """Send nbytes at source + pe * block to each other member; 0 bytes are a message too."""
    pairs = pairs_of(nbytes)
    mine = _slot_from(team, epoch, team.my_pe)
    k = thread()
    while k < pairs * team.n_pes:
        pe, i = k // pairs, k % pairs
        if pe != team.my_pe:
            data = load_part(source + pe * block, nbytes, i)
            store_flagged(reach(team, mine, pe) + 16 * i, data, epoch)
        k += num_threads()
    if ((epoch & 0x3FFFFFFF) < 2) & ((epoch < 0) | (epoch >= 2)):
        _refresh(team, epoch, mine, pairs)


@jit
def _refresh(team, epoch, mine, pairs):
    """Rewrite the flags of words that small messages do not reach. Needed once in 2^30 calls."""
    for pe in range(team.n_pes):
        if pe != team.my_pe:
            i = pairs + thread()
            while i < _slot_pairs(team):
                store_flagged(reach(team, mine, pe) + 16 * i, tl.full((), 0, tl.int64), epoch)
                i += num_threads()


@jit
def part(team, epoch, pe, i, operation: tl.constexpr, tag, bound):
    """Wait for bytes 8 * i … of the message from `pe`, and return them."""
    return wait_flagged(team, _slot_from(team, epoch, pe) + 16 * i, epoch, operation, pe, tag, bound)


@jit
def take(team, epoch, nbytes, to, block, operation: tl.constexpr, tag, bound):
    """Receive nbytes from each other member into to + pe * block."""
    pairs = pairs_of(nbytes)
    k = thread()
    while k < pairs * team.n_pes:
        pe, i = k // pairs, k % pairs
        if pe != team.my_pe:
            store_part(to + pe * block, nbytes, i, part(team, epoch, pe, i, operation, tag, bound))
        k += num_threads()


@jit
def take_from(team, epoch, nbytes, to, root, operation: tl.constexpr, tag, bound):
    """Receive nbytes from `root` into `to`, and messages of 0 bytes from the others."""
    pairs = pairs_of(nbytes)
    k = thread()
    while k < pairs * team.n_pes:
        pe, i = k // pairs, k % pairs
        if (pe != team.my_pe) & ((pe == root) | (i == 0)):
            data = part(team, epoch, pe, i, operation, tag, bound)
            if pe == root:
                store_part(to, nbytes, i, data)
        k += num_threads()


@jit
def copy_own(nbytes, to, source):
    """Copy this member's own part."""
    if to != source:
        i = thread()
        while i < pairs_of(nbytes):
            store_part(to, nbytes, i, load_part(source, nbytes, i))
            i += num_threads()
