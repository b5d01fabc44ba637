"""The team of the collective call that runs in this thread: all PEs, unless an array or `team=` says otherwise."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import atoll


class _Thread(threading.local):
    team: atoll.Team | None = None


_thread = _Thread()


def team() -> atoll.Team:
    """Return the team of the call that runs."""
    return _thread.team or atoll.WORLD


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
    """Complete this PE's puts, then wait for all PEs of the team."""
    team().barrier()


@contextlib.contextmanager
def over(given: atoll.Team) -> Iterator[None]:
    """Run a block as a call over a team."""
    before, _thread.team = _thread.team, given
    try:
        yield
    finally:
        _thread.team = before
