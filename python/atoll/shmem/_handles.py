"""Contexts and teams: shmem4py's classes around Atoll's."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _atoll

if TYPE_CHECKING:
    from ._types import CtxHandle, TeamHandle


class _Invalid:
    """A mark in place of a context or team; calls that get it show its text in their error."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


_INVALID_CTX = _Invalid("CTX_INVALID (destroyed, or never made)")
_INVALID_TEAM = _Invalid("TEAM_INVALID (destroyed, never made, or one that this PE is not in)")


def _warn_kept(function: str, name: str) -> None:
    text = f"{function}(): {name} lasts as long as the job; nothing was destroyed."
    warnings.warn(text, RuntimeWarning, stacklevel=3)


class CTX(enum.IntFlag):
    """Options of a context; combine by |.

    PRIVATE: only the creating thread uses it. SERIALIZED: several threads use it, never at once. NOSTORE: its
    fence and quiet need not order plain stores. Source: OpenSHMEM 1.6, section 9.5.
    """

    PRIVATE = 1
    SERIALIZED = 2
    NOSTORE = 4


CTX_PRIVATE: CTX = CTX.PRIVATE
CTX_SERIALIZED: CTX = CTX.SERIALIZED
CTX_NOSTORE: CTX = CTX.NOSTORE
_ALL_OPTIONS = int(CTX.PRIVATE | CTX.SERIALIZED | CTX.NOSTORE)


class Ctx:
    """A communication context: fence and quiet of a context concern its own operations only.

    Ctx() is CTX_INVALID, Ctx(other) names the same context as other. In a `with` statement it is destroyed at the
    end. PE numbers of calls with ctx= are those of its team. Source: OpenSHMEM 1.6, section 9.5.
    """

    ob_ctx: CtxHandle
    __hash__ = None  # type: ignore[assignment]  # equal ones may become unequal, by destroy

    def __new__(cls, ctx: Ctx | CtxHandle | None = None) -> Ctx:
        self = super().__new__(cls)
        if isinstance(ctx, Ctx):
            self.ob_ctx = ctx.ob_ctx
        elif isinstance(ctx, _atoll.Context) or ctx is _INVALID_CTX:
            self.ob_ctx = ctx
        elif ctx is None:
            self.ob_ctx = _INVALID_CTX
        else:
            raise TypeError(f"Ctx(): ctx is {ctx!r}; pass a Ctx, the ob_ctx of one, or None.")
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ctx):
            return NotImplemented
        return self.ob_ctx is other.ob_ctx

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, Ctx):
            return NotImplemented
        return self.ob_ctx is not other.ob_ctx

    def __bool__(self) -> bool:
        return self.ob_ctx is not _INVALID_CTX

    def __enter__(self) -> Ctx:
        return self

    def __exit__(self, *args: Any) -> None:
        if self is not CTX_DEFAULT:
            self.destroy()

    @staticmethod
    def create(options: int = 0, team: Team | None = None) -> Ctx:
        """Return a new context. Local.

        Parameters
        ----------
        options
            CTX_PRIVATE and the like, combined by |; 0: no option.
        team
            The PEs that it reaches; None: all.

        Raises
        ------
        RuntimeError
            The team is invalid.
        InvalidArgument, OutOfMemory, UseAfterFree
            An argument is wrong, or there is no room for a context.

        Notes
        -----
        Source: OpenSHMEM 1.6, section 9.5 (shmem_ctx_create, shmem_team_create_ctx).
        """
        of_team = None if team is None else valid_team("Ctx.create", team)
        if not isinstance(options, int) or options & ~_ALL_OPTIONS:
            raise _atoll.InvalidArgument(
                f"Ctx.create(): options is {options!r}; combine CTX_PRIVATE, CTX_SERIALIZED and CTX_NOSTORE by |."
            )
        return Ctx(
            _atoll.Context(
                of_team,
                private=bool(options & CTX.PRIVATE),
                serialized=bool(options & CTX.SERIALIZED),
                nostore=bool(options & CTX.NOSTORE),
            )
        )

    def destroy(self) -> None:
        """Complete the context's operations and free it; this object is CTX_INVALID from then on. Local.

        CTX_DEFAULT itself is not destroyed, as in shmem4py; a RuntimeWarning reports it. Source: OpenSHMEM
        1.6, section 9.5 (shmem_ctx_destroy).
        """
        if self is CTX_DEFAULT:
            _warn_kept("Ctx.destroy", "CTX_DEFAULT")
            return
        if self is CTX_INVALID:
            return
        context = self.ob_ctx
        self.ob_ctx = _INVALID_CTX
        if isinstance(context, _atoll.Context):
            context.destroy()

    def get_team(self) -> Team:
        """Return the team of the context's PEs. Local. Raises RuntimeError if the context is invalid.

        Source: OpenSHMEM 1.6, section 9.5 (shmem_ctx_get_team).
        """
        if self.ob_ctx is None:
            return Team(_atoll.WORLD)
        if self.ob_ctx is _INVALID_CTX:
            raise RuntimeError(f"Ctx.get_team(): this is {_INVALID_CTX}, which has no team.")
        return Team(self.ob_ctx.team())

    def fence(self) -> None:
        """Order puts to each PE on this context: later ones arrive after earlier ones.

        It completes nothing. Local; nothing happens for CTX_INVALID. Source: OpenSHMEM 1.6, section 9.10.
        """
        fence(self)

    def quiet(self) -> None:
        """Wait until this PE's operations on this context are complete and visible to every PE.

        Local; nothing happens for CTX_INVALID. Source: OpenSHMEM 1.6, section 9.10.
        """
        quiet(self)


def _default_context() -> Ctx:
    made = Ctx()
    made.ob_ctx = None  # None is the default context of Atoll's calls
    return made


CTX_DEFAULT: Ctx = _default_context()
CTX_INVALID: Ctx = Ctx()


class Team:
    """An ordered set of PEs. TEAM_WORLD holds all, TEAM_SHARED all that load and store each other's memory.

    Team() is TEAM_INVALID, Team(other) names the same team as other. In a `with` statement it is destroyed at the
    end. Source: OpenSHMEM 1.6, section 9.4.
    """

    ob_team: TeamHandle
    _num_contexts: int
    __hash__ = None  # type: ignore[assignment]  # equal ones may become unequal, by destroy

    def __new__(cls, team: Team | TeamHandle | None = None) -> Team:
        self = super().__new__(cls)
        self._num_contexts = 0
        if isinstance(team, Team):
            self.ob_team = team.ob_team
            self._num_contexts = team._num_contexts
        elif isinstance(team, _atoll.Team) or team is _INVALID_TEAM:
            self.ob_team = team
        elif team is None:
            self.ob_team = _INVALID_TEAM
        else:
            raise TypeError(f"Team(): team is {team!r}; pass a Team, the ob_team of one, or None.")
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Team):
            return NotImplemented
        return self.ob_team is other.ob_team

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, Team):
            return NotImplemented
        return self.ob_team is not other.ob_team

    def __bool__(self) -> bool:
        return self.ob_team is not _INVALID_TEAM

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *args: Any) -> None:
        if self is not TEAM_WORLD and self is not TEAM_SHARED:
            self.destroy()

    def destroy(self) -> None:
        """Free the team; this object is TEAM_INVALID from then on. Collective over the team.

        TEAM_WORLD and TEAM_SHARED are not destroyed, as in shmem4py; a RuntimeWarning reports it. Raises
        UseAfterFree if another object destroyed the team. Source: OpenSHMEM 1.6, section 9.4
        (shmem_team_destroy).
        """
        if self is TEAM_WORLD or self is TEAM_SHARED:
            _warn_kept("Team.destroy", "TEAM_WORLD" if self is TEAM_WORLD else "TEAM_SHARED")
            return
        if self is TEAM_INVALID:
            return
        team = self.ob_team
        self.ob_team = _INVALID_TEAM
        if team is _atoll.WORLD or team is _atoll.SHARED or team is _INVALID_TEAM:
            return
        team.destroy()

    def split_strided(
        self,
        start: int = 0,
        stride: int = 1,
        size: int | None = None,
        config: Mapping[str, int] | None = None,
        **kwargs: int,
    ) -> Team:
        """Return the team of PEs start, start + stride, ... of this one; TEAM_INVALID on PEs that are not in
        it.

        Parameters
        ----------
        start, stride
            PE numbers of this team.
        size
            The number of PEs. None: all up to the last PE.
        config
            {"num_contexts": the number of contexts that the program will make of the new team}; also as
            keywords. Atoll keeps it for get_config; it sets no limit.

        Raises
        ------
        RuntimeError
            This team is TEAM_INVALID.
        InvalidArgument, PeError, CollectiveMismatch
            An argument is wrong, or the PEs called differently.

        Notes
        -----
        Collective over this team. Source: OpenSHMEM 1.6, section 9.4 (shmem_team_split_strided).
        """
        team = valid_team("Team.split_strided", self)
        if size is None:
            size = len(range(start, team.n_pes(), stride))
        wanted = {**(config or {}), **kwargs}
        unknown = [name for name in wanted if name.lower() != "num_contexts"]
        if unknown:
            raise _atoll.InvalidArgument(
                f"Team.split_strided(): a team's configuration has no {unknown[0]!r}; it has num_contexts only."
            )
        made = Team(team.split_strided(start, stride, size) or None)
        for value in wanted.values():
            made._num_contexts = int(value)
        return made

    def get_config(self) -> dict[str, int]:
        """Return {"num_contexts": the number passed to split_strided}. Local. Raises RuntimeError for
        TEAM_INVALID.

        Source: OpenSHMEM 1.6, section 9.4 (shmem_team_get_config).
        """
        valid_team("Team.get_config", self)
        return {"num_contexts": self._num_contexts}

    def my_pe(self) -> int:
        """Return this PE's number in the team. Local. Raises RuntimeError for TEAM_INVALID."""
        return valid_team("Team.my_pe", self).my_pe()

    def n_pes(self) -> int:
        """Return the number of PEs of the team. Local. Raises RuntimeError for TEAM_INVALID."""
        return valid_team("Team.n_pes", self).n_pes()

    def translate_pe(self, pe: int | None = None, team: Team | None = None) -> int:
        """Return the number that this team's PE pe has in another team.

        Parameters
        ----------
        pe
            A PE of this team. None: this PE.
        team
            The other team. None: TEAM_WORLD.

        Raises
        ------
        RuntimeError
            That PE is not in the other team, or a team is invalid.
        PeError
            This team has no such PE.

        Notes
        -----
        Local. Source: OpenSHMEM 1.6, section 9.4 (shmem_team_translate_pe).
        """
        source = valid_team("Team.translate_pe", self)
        target = _atoll.WORLD if team is None else valid_team("Team.translate_pe", team)
        number = source.my_pe() if pe is None else pe
        found = source.translate_pe(number, target)
        if found < 0:
            raise RuntimeError(f"Team.translate_pe(): PE {number} of this team is not in the other one.")
        return found

    def create_ctx(self, options: int = 0) -> Ctx:
        """Return a new context of this team; as Ctx.create(options, team)."""
        return Ctx.create(options, self)

    def sync(self) -> None:
        """Wait until all PEs of the team have arrived; puts are not completed. Collective over the team.

        Raises RuntimeError for TEAM_INVALID, PeDied, CollectiveMismatch (the PEs' calls are compared unless
        ATOLL_CHECK=none). Source: OpenSHMEM 1.6, section 9.11 (shmem_team_sync).
        """
        valid_team("Team.sync", self).sync()


TEAM_WORLD: Team = Team(_atoll.WORLD)
TEAM_SHARED: Team = Team(_atoll.SHARED)
TEAM_INVALID: Team = Team()


def valid_team(function: str, team: Team) -> _atoll.Team:
    """Return Atoll's team behind `team`; the error for an invalid one names the function."""
    if not isinstance(team, Team):
        raise TypeError(f"{function}(): team is {team!r}; pass a shmem.Team, or None for all PEs.")
    handle: _atoll.Team | _Invalid = team.ob_team
    if isinstance(handle, _Invalid):
        raise RuntimeError(f"{function}(): this team is {handle}.")
    return handle


def context_of(ctx: Ctx) -> _atoll.Context | None:
    """Return the atoll.Context of `ctx`; None for the default context."""
    if not isinstance(ctx, Ctx):
        raise TypeError(f"ctx is {ctx!r}; pass a shmem.Ctx, or None for the default context.")
    handle: _atoll.Context | None = ctx.ob_ctx
    return handle


def fence(ctx: Ctx | None = None) -> None:
    """Order this PE's puts to each PE: later ones arrive after earlier ones.

    `ctx` is the context whose operations are ordered; None: the default context. It completes nothing. Local;
    nothing happens for CTX_INVALID. Source: OpenSHMEM 1.6, section 9.10 (shmem_fence).
    """
    if ctx is None:
        _atoll.fence()
    elif ctx:
        _atoll.fence(context_of(ctx))


def quiet(ctx: Ctx | None = None) -> None:
    """Wait until all operations of this PE are complete and visible to every PE.

    `ctx` is the context whose operations are completed; None: the default context. Local; nothing happens for
    CTX_INVALID. Source: OpenSHMEM 1.6, section 9.10 (shmem_quiet).
    """
    if ctx is None:
        _atoll.quiet()
    elif ctx:
        _atoll.quiet(context_of(ctx))
