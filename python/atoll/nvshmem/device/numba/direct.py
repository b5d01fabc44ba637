"""Numbers of PEs, signals, and what NVSHMEM asks of shared memory."""

from __future__ import annotations

from numba.core import types

from .... import numba as dev
from ....numba import _primitives as prim
from ....numba._addresses import kind_of
from ....numba._dsl._registration import vocabulary
from ....numba._polling import SIGNAL_WAIT, call_of, wait_word
from ....numba._types import array
from ...direct import SmemAmount as SmemAmount
from ._teams import for_kernels, team_or_empty, world
from ._words import is_setting, outcomes_of
from .collective import barrier_all as barrier_all
from .collective import sync_all as sync_all

__all__ = [
    "SmemAmount",
    "ask_smem",
    "barrier_all",
    "give_smem",
    "my_pe",
    "n_pes",
    "release_smem",
    "signal_op",
    "signal_wait",
    "sync_all",
    "team_my_pe",
    "team_n_pes",
]
i32, i64 = types.int32, types.int64


@for_kernels
def ask_smem(flag):
    """Return the bytes of shared memory that NVSHMEM asks of a block. The operations use none."""
    return 1024 if flag == 2 else 32768 if flag == 1 else 65536


@for_kernels
def give_smem(smem):
    """Do nothing: the operations take no dynamic shared memory."""


@for_kernels
def release_smem():
    """Do nothing: the operations take no dynamic shared memory."""


@for_kernels
def my_pe():
    """Return this PE's number."""
    return i32(world().my_pe)


@for_kernels
def n_pes():
    """Return the number of PEs."""
    return i32(world().n_pes)


@for_kernels
def team_my_pe(team):
    """Return this PE's number in a team; -1 if it has none there."""
    found = team_or_empty(team)
    return i32(found.my_pe if found.n_pes != 0 else -1)


@for_kernels
def team_n_pes(team):
    """Return the number of a team's PEs; -1 if this PE is not in it."""
    found = team_or_empty(team)
    return i32(found.n_pes if found.n_pes != 0 else -1)


@for_kernels
def signal_op(signal_var, signal_val, signal_op, pe):
    """Set or add to a signal on PE pe."""
    if is_setting(signal_op):
        dev.signal_set(world(), signal_var, signal_val, pe)
    else:
        dev.signal_add(world(), signal_var, signal_val, pe)


@vocabulary
def waited(signal_var, outcomes, signal_val):
    """Wait until this PE's signal compares, and return its value."""
    array("signal_var", signal_var)

    def wait(signal_var, outcomes, signal_val):
        kind = kind_of(signal_var)
        call = call_of(SIGNAL_WAIT, 0, None)
        at, value = prim.address(signal_var), kind(signal_val)
        return wait_word(kind, world().control, at, outcomes, value, call, -1)

    return wait


@for_kernels
def signal_wait(signal_var, signal_op, signal_val):
    """Wait until this PE's signal compares with a value, and return the signal. signal_op is a ComparisonType."""
    return waited(signal_var, outcomes_of(signal_op), signal_val)
