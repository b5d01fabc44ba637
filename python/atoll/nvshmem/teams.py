"""Teams: handles of integers, also by name in Teams."""

from __future__ import annotations

from typing import Any

from .. import _atoll
from ._state import STATE, NvshmemError, require, team_of, translated
from .direct import is_no_team
from .nvshmem_types import PREDEFINED, Teams

__all__ = [
    "TeamConfig",
    "TeamUniqueId",
    "get_team_unique_id",
    "team_destroy",
    "team_get_config",
    "team_init",
    "team_split_2d",
    "team_split_strided",
    "team_translate_pe",
]


class TeamUniqueId:
    """The number of a team that has no parent."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"TeamUniqueId(value={self.value})"


class TeamConfig:
    """A team's configuration. Atoll accepts and keeps it; its contexts need none."""

    def __init__(self, num_contexts: int = -1, uniqueid: int = 0) -> None:
        self.version = 1
        self.num_contexts = num_contexts
        self.uniqueid = uniqueid

    def __repr__(self) -> str:
        return f"TeamConfig(num_contexts={self.num_contexts}, uniqueid={self.uniqueid})"


_configurations: dict[int, TeamConfig] = {}


def make_predefined() -> None:
    """Register the teams that every job has, and forget those of an earlier one."""
    for name in [name for name in Teams if name not in PREDEFINED]:
        Teams.remove(name)
    _configurations.clear()
    STATE.teams = {0: _atoll.WORLD, 1: _atoll.SHARED, 2: _atoll.HOST, 3: _atoll.RAIL}
    STATE.changed()


def _add(team: _atoll.Team, name: str | None, default: str, config: Any) -> int | None:
    """Register a new team under a handle and a name. A PE outside it gets None."""
    if not team:
        return None
    handle = max([PREDEFINED["TEAMS_MIN"] - 1, *STATE.teams]) + 1
    Teams.add(default.format(handle) if name is None else name, handle)
    STATE.teams[handle] = team
    _configurations[handle] = config if isinstance(config, TeamConfig) else TeamConfig()
    STATE.changed(handle)
    return handle


def _check_name(name: str | None) -> None:
    """Refuse an existing name before the collective split, in which other PEs would wait."""
    if name is not None and name in Teams:
        raise ValueError(f"Member {name!r} already exists; choose another name.")


@translated
def team_split_strided(
    parent_team: Any,
    start: int,
    stride: int,
    size: int,
    config: Any,
    config_mask: int,
    new_team_name: str | None = None,
) -> int | None:
    """Return the handle of a team of PEs start, start + stride and so on of a parent.

    Collective over the parent.

    Parameters
    ----------
    parent_team
        A handle, such as Teams.TEAM_WORLD.
    start, stride, size
        Numbers of the parent's PEs: the first, the step (at least 1), and how many.
    config, config_mask
        Kept for team_get_config.
    new_team_name
        The team's name in Teams; None is "TEAM_" and the handle.

    Returns
    -------
    int or None
        The handle; None on the parent's other PEs.

    Raises
    ------
    NvshmemError, NvshmemInvalid
        A wrong argument.
    """
    parent = team_of(parent_team)
    if size <= 0 or stride < 1 or start < 0:
        raise NvshmemError(
            f"nvshmem.core.team_split_strided: start is {start}, stride {stride}, size {size}; pass a start of at "
            "least 0, stride and size of at least 1."
        )
    _check_name(new_team_name)
    return _add(parent.split_strided(start, stride, size), new_team_name, "TEAM_{}", config)


@translated
def team_split_2d(
    parent_team: Any,
    xrange: int,
    xaxis_config: Any,
    xaxis_mask: int,
    yaxis_config: Any,
    yaxis_mask: int,
    new_team_name: str | None = None,
) -> tuple[int | None, int | None]:
    """Return the handles of this PE's row and column of a parent that is laid out in rows of xrange PEs.

    Collective over the parent.

    Parameters
    ----------
    parent_team, xaxis_config, xaxis_mask, yaxis_config, yaxis_mask
        As for team_split_strided.
    xrange
        PEs of a row.
    new_team_name
        The names are this with "_X" and "_Y"; None is "TEAM_X_" and "TEAM_Y_" with the handles.

    Raises
    ------
    NvshmemError, NvshmemInvalid
        A wrong argument.
    """
    parent = team_of(parent_team)
    if xrange <= 0:
        raise NvshmemError(f"nvshmem.core.team_split_2d: xrange is {xrange}; pass at least 1.")
    names = (None, None) if new_team_name is None else (f"{new_team_name}_X", f"{new_team_name}_Y")
    for name in names:
        _check_name(name)
    row, column = parent.split_2d(xrange)
    return (
        _add(row, names[0], "TEAM_X_{}", xaxis_config),
        _add(column, names[1], "TEAM_Y_{}", yaxis_config),
    )


@translated
def team_destroy(team: Any) -> None:
    """Destroy a team, by handle or name. Collective over the team. Those that every job has stay.

    Raises
    ------
    KeyError
        No team has this name.
    NvshmemInvalid
        There is no such team.
    """
    handle = Teams[team] if isinstance(team, str) else team
    if is_no_team(handle) or 0 <= handle < PREDEFINED["TEAMS_MIN"]:
        return
    team_of(handle).destroy()
    del STATE.teams[handle], _configurations[handle]
    STATE.changed(handle)
    Teams.remove_by_value(handle)


@translated
def team_translate_pe(src_team: Any, src_pe: int, dest_team: Any) -> int:
    """Return the number in dest_team of a PE of src_team, or -1 if it is not there. Local.

    Raises
    ------
    NvshmemError, NvshmemInvalid
        There is no such team or PE.
    """
    source, to = team_of(src_team), team_of(dest_team)
    if not 0 <= src_pe < source.n_pes():
        raise NvshmemError(
            f"nvshmem.core.team_translate_pe: src_pe is {src_pe}; pass 0 to {source.n_pes() - 1}, a PE of src_team."
        )
    return source.translate_pe(src_pe, to)


def team_get_config(team: Any) -> TeamConfig:
    """Return a copy of a team's configuration. Local. Raises NvshmemInvalid if there is no such team."""
    team_of(team)
    kept = _configurations.get(team, TeamConfig())
    return TeamConfig(kept.num_contexts, kept.uniqueid)


@translated
def get_team_unique_id() -> TeamUniqueId:
    """Return an id for one team, which the program sends to its members. Local.

    Raises
    ------
    NvshmemError
        No memory is left.
    """
    require()
    return TeamUniqueId(_atoll.get_team_unique_id())


@translated
def team_init(
    team_config: Any, config_mask: int, npes: int, pe_idx_in_team: int, new_team_name: str | None = None
) -> int:
    """Return the handle of the team of npes PEs whose configurations have the same id. Collective over these PEs.

    Parameters
    ----------
    team_config
        A TeamConfig with the value of get_team_unique_id() as its uniqueid.
    config_mask
        Not used: the id always counts.
    npes, pe_idx_in_team
        Number of members, and this PE's number among them.
    new_team_name
        The team's name in Teams; None is "TEAM_" and the handle.

    Raises
    ------
    NvshmemError, NvshmemInvalid
        A wrong argument, an id that made a team already, or members that do not agree.
    """
    require()
    uid = getattr(team_config, "uniqueid", None)
    uid = getattr(uid, "value", uid)
    if not uid:
        raise NvshmemError(
            f"nvshmem.core.team_init: team_config.uniqueid is {uid}; set it to get_team_unique_id().value of one PE."
        )
    _check_name(new_team_name)
    handle = _add(_atoll.team_init(uid, npes, pe_idx_in_team), new_team_name, "TEAM_{}", team_config)
    assert handle is not None
    return handle
