"""Redistribution between teams: each PE puts what it has into the parts of another team's array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import atoll

from ..._launching.failures import pe_ranges
from .. import _libraries
from .._array import DistArray
from .._compared import compared, require_team
from .._together import together
from . import _current
from ._exchange import gathered
from ._regions import array_at


def redistribute(
    array: DistArray | None,
    *,
    team: atoll.Team | None = None,
    over: atoll.Team | None = None,
    **distribution: Any,
) -> DistArray | None:
    """Return the elements of an array as another team's array. Collective over a team that has both.

    Each PE puts what it has, once.

    Parameters
    ----------
    array
        The array on the members of its team, and None on the other PEs.
    team
        The team of the result on its members; on the others None, or what the split returned there.
    over
        A team that has all members of both; all its PEs make the call. By default all PEs.
    distribution
        grid, dist and halo of `DistArray`, the same on the members of `team`. The result lies where the array does: on
        hosts or GPUs, by the same library.

    Returns
    -------
    DistArray or None
        None on PEs that are not in `team`. The members see all elements.

    Raises
    ------
    InvalidArgument
        On every PE, if no PE passed an array or a team, or PEs passed different ones.
    """
    require_team("redistribute", "team", team)
    require_team("redistribute", "over", over)
    all_ = atoll.WORLD if over is None else over
    if not all_:
        raise atoll.InvalidArgument("redistribute(over=...): this PE is not a member of that team.")
    return compared("redistribute", (), distribution, lambda: _move(array, team, all_, distribution), all_)


def _move(
    array: DistArray | None, team: atoll.Team | None, all_: atoll.Team, distribution: dict[str, Any]
) -> DistArray | None:
    members = _members(team, all_) if team else None
    source = None
    if array is not None:
        library = array._library
        source = (array.shape, array.dtype, _members(array.team, all_), (library.device, library.name))
    every = gathered((source, members), all_)
    shape, dtype, _, (device, xp) = _agreed("array", [its for its, _ in every], lambda its: its[2])
    numbers = _agreed("team", [its for _, its in every], lambda its: its)
    made: DistArray | None = None
    with together("redistribute()"):
        if team:
            with _current.over(team, _libraries.chosen(device, xp, "redistribute")):
                made = DistArray(shape, dtype, **distribution)
    mine = None if made is None else (made._layout, made._memory.offset)
    its, there = next(each for each in gathered(mine, all_) if each is not None)
    if array is not None:
        # Without an own part this PE addresses the others by the same place in its room.
        block = made._raw if made is not None else array_at(there, its.block_shape, dtype)
        for local, box in array._layout.owned(array._me):
            values = array._block[local]
            for piece in its.pieces(box):
                given = library.contiguous(values[piece.target], dtype)
                library.put(block[piece.local], given, numbers[piece.pe], team=all_)
        library.finish()
    all_.barrier()
    return made


def _members(team: atoll.Team, all_: atoll.Team) -> list[int]:
    """Return the numbers in a larger team of a team's PEs; -1 for those that it lacks."""
    return [team.translate_pe(pe, all_) for pe in range(team.n_pes())]


def _agreed(what: str, every: list[Any], members: Callable[[Any], list[int]]) -> Any:
    """Return the value that all PEs with a value passed.

    Raises
    ------
    InvalidArgument
        If none did, or two passed different ones, or other PEs than its members.
    """
    given = [pe for pe, its in enumerate(every) if its is not None]
    if not given:
        raise atoll.InvalidArgument(
            f"redistribute(): no PE passed {'an' if what == 'array' else 'a'} {what}."
        )
    first = every[given[0]]
    other = next((pe for pe in given if every[pe] != first), None)
    if other is not None:
        raise atoll.InvalidArgument(
            f"redistribute(): PE {given[0]} and PE {other} passed different {what}s; pass one of them."
        )
    if sorted(members(first)) != given:
        raise atoll.InvalidArgument(
            f"redistribute(): the {what} is one of {len(members(first))} PEs, and PE {pe_ranges(given)} passed it. All its members "
            "make the call, and are in the team over=."
        )
    return first
