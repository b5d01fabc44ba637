"""Numbers of PEs, order, signals, and what NVSHMEM asks of shared memory."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass.cute as cute
from cutlass import Int32

from .... import cute as dev
from ...direct import SmemAmount as SmemAmount
from . import _signals
from ._teams import team_or_empty, world
from .collective import barrier_all as barrier_all
from .collective import sync_all as sync_all

__all__ = [
    "SmemAmount",
    "ask_smem",
    "barrier_all",
    "fence",
    "give_smem",
    "my_pe",
    "n_pes",
    "quiet",
    "release_smem",
    "signal_op",
    "signal_wait",
    "sync_all",
    "team_my_pe",
    "team_n_pes",
]


def ask_smem(amount):
    """Return the bytes of shared memory that NVSHMEM asks of a block. The operations use none."""
    return 1024 if amount == 2 else 32768 if amount == 1 else 65536


def give_smem(smem):
    """Do nothing: the operations take no dynamic shared memory."""


def release_smem():
    """Do nothing: the operations take no dynamic shared memory."""


def my_pe():
    """Return this PE's number."""
    return world().my_pe


def n_pes():
    """Return the number of PEs."""
    return world().n_pes


@cute.jit
def _or_none(number: Int32, n_pes: Int32):
    found = Int32(-1)
    if n_pes != 0:
        found = number
    return found


def team_my_pe(team):
    """Return this PE's number in a team; -1 if it has none there."""
    found = team_or_empty(team)
    return _or_none(found.my_pe, found.n_pes)


def team_n_pes(team):
    """Return the number of a team's PEs; -1 if this PE is not in it."""
    found = team_or_empty(team)
    return _or_none(found.n_pes, found.n_pes)


def fence():
    """Order this thread's earlier operations to each PE before its later ones."""
    dev.fence(world())


def quiet():
    """Complete this thread's operations."""
    dev.quiet(world())


def signal_op(signal_var, signal_val, signal_op, pe):
    """Set or add to a signal on PE pe."""
    _signals.signal(signal_var, signal_val, signal_op, pe)


def signal_wait(signal_var, signal_op, signal_val):
    """Wait until this PE's signal compares with a value, and return the signal. signal_op is a ComparisonType."""
    return _signals.wait(signal_var, signal_op, signal_val)
