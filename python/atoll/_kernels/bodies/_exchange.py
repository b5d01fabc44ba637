"""The layout of a team's slots, by which small collectives exchange messages (atoll/device/control.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ptx import AT
from . import by_name

SLOTS, EXCHANGE_EPOCH, AREA = AT["slots"], AT["exchange_epoch"], AT["slot_area_pairs"]
FEW, LEAST, PAIR = AT["few_pes"], AT["least_slot_pairs"], AT["pair_bytes"]


def layout(helper: Any, quotient: Any, most: Any, i64: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions. `most` is the larger of two numbers of pairs, `quotient` their division."""

    @helper
    def slot_pairs(team):
        """ControlLayout::slot_pairs; so the next two."""
        return most(quotient(AREA, team.n_pes), LEAST)

    @helper
    def area_pairs(team):
        return most(team.n_pes * LEAST, AREA)

    @helper
    def slots_at(team):
        return team.control + SLOTS + i64(most((team.n_pes - FEW) * 8 + 127, 0) & ~127)

    @helper
    def counts_at(team):
        """Return the address of the members' counts in `collect`."""
        return slots_at(team) + i64(area_pairs(team)) * (2 * PAIR)

    @helper
    def pes_at(team):
        """Return the address of the members' numbers in the world (ControlLayout::pes_of)."""
        return counts_at(team) + i64(team.n_pes) * 12

    @helper
    def most_bytes(team):
        """Return the longest message from member to member, in bytes."""
        return i64(slot_pairs(team)) * 8

    @helper
    def slot_from(team, epoch, pe):
        """Return the address of the slot for a member's message."""
        return slots_at(team) + i64((epoch & 1) * area_pairs(team) + pe * slot_pairs(team)) * PAIR

    return by_name(slot_pairs, area_pairs, slots_at, counts_at, pes_at, most_bytes, slot_from)
