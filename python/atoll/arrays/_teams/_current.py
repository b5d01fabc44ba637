"""The team of the collective call that runs in this thread: all PEs, unless an array or `team=` says otherwise."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import atoll

from .. import _libraries


class _Thread(threading.local):
    call = ""
    team: atoll.Team | None = None
    library: _libraries.Library = _libraries.HOST


_thread = _Thread()


class OverTeam:
    """Base of what lies over a team, which its attribute `_team` names once it is made: arrays and sparse matrices."""

    _over: atoll.Team

    @property
    def _team(self) -> atoll.Team:
        """The team, for calls of other PEs; an error if it is destroyed."""
        if self._over._is_destroyed:
            raise atoll.UseAfterFree(
                f"the team of this {type(self).__name__} was destroyed, so that only this PE's part is left. Keep a team as "
                "long as its arrays, or bring them to another team before: atoll.arrays.redistribute(a, team=t)."
            )
        return self._over

    @_team.setter
    def _team(self, team: atoll.Team) -> None:
        self._over = team

    if TYPE_CHECKING:

        def _copy_on(self, to: _libraries.Library) -> Any:
            """Return a copy whose parts are arrays of a library. Collective."""


def team() -> atoll.Team:
    """Return the team of the call that runs."""
    return _thread.team or atoll.WORLD


def call() -> str:
    """Return the name of the call that runs."""
    return _thread.call


def library() -> _libraries.Library:
    """Return the library of the parts of its arrays: NumPy, unless an argument is an array on GPUs."""
    return _thread.library


def my_pe() -> int:
    """Return this PE's number in it."""
    return team().my_pe()


def n_pes() -> int:
    """Return the number of its PEs."""
    return team().n_pes()


def whole() -> str:
    """Return the word for its PEs in errors."""
    return "job" if team() == atoll.WORLD else "team"


def barrier() -> None:
    """Complete this PE's puts and what its GPU computes on parts, then wait for all PEs of the team."""
    _libraries.finish()
    team().barrier()


def barrier_with(flag: bool) -> bool:
    """Wait as `barrier` does, and return True if any PE passes True. The PE's GPU has finished before."""
    its = team()
    if its == atoll.WORLD:
        atoll.quiet()
    else:
        atoll.pe_quiet(range(its.n_pes()), team=its)
    return bool(atoll.max_reduce(int(flag), team=its))


@contextlib.contextmanager
def over(
    given: atoll.Team, its: _libraries.Library = _libraries.HOST, name: str | None = None
) -> Iterator[None]:
    """Run a block as a call over a team, whose new arrays have parts of a library; by default the name stays."""
    before = _thread.team, _thread.library, _thread.call
    _thread.team, _thread.library, _thread.call = given, its, name or _thread.call
    try:
        yield
    finally:
        _thread.team, _thread.library, _thread.call = before
