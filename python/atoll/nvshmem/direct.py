"""PE numbers, the state of the library, and the enumerations of its calls."""

from __future__ import annotations

import enum
from typing import Any, Literal

from .. import _atoll
from ._state import STATE, NvshmemInvalid, full_name, require, team_of

__all__ = [
    "ComparisonType",
    "InitStatus",
    "SignalOp",
    "SmemAmount",
    "ThreadSupport",
    "ask_smem",
    "init_status",
    "my_pe",
    "n_pes",
    "query_thread",
    "team_my_pe",
    "team_n_pes",
]


class ComparisonType(enum.IntEnum):
    """Comparisons of signal_wait."""

    CMP_EQ = 0
    CMP_NE = 1
    CMP_GT = 2
    CMP_LE = 3
    CMP_LT = 4
    CMP_GE = 5
    CMP_SENTINEL = 32767


class SignalOp(enum.IntEnum):
    """Operations of put_signal and signal_op."""

    SIGNAL_SET = 9
    SIGNAL_ADD = 10


class InitStatus(enum.IntEnum):
    """States of the library."""

    STATUS_NOT_INITIALIZED = 0
    STATUS_IS_BOOTSTRAPPED = 1
    STATUS_IS_INITIALIZED = 2
    STATUS_LIMITED_MPG = 3
    STATUS_FULL_MPG = 4
    STATUS_INVALID = 32767


class ThreadSupport(enum.IntEnum):
    """Levels of thread support. Atoll gives THREAD_MULTIPLE."""

    THREAD_SINGLE = 0
    THREAD_FUNNELED = 1
    THREAD_SERIALIZED = 2
    THREAD_MULTIPLE = 3
    THREAD_TYPE_SENTINEL = 32767


class SmemAmount(enum.IntEnum):
    """Amounts of a block's shared memory for NVSHMEM's copies by TMA."""

    SMEM_RECOMMENDED = 0
    SMEM_MINIMUM = 1
    SMEM_BARRIERS_ONLY = 2
    MAX = 32767


def ask_smem(amount: Any = SmemAmount.SMEM_RECOMMENDED) -> int:
    """Return the bytes of shared memory that NVSHMEM asks of a block: 65536, 32768 or 1024.

    Local. Atoll's operations in kernels use none, but programs keep their payload behind the first 1024 bytes.
    """
    return {1: 32768, 2: 1024}.get(int(amount), 65536)


def query_thread() -> ThreadSupport:
    """Return the level of thread support, THREAD_MULTIPLE. Local; works before init()."""
    return ThreadSupport.THREAD_MULTIPLE


def my_pe() -> int:
    """Return the number of this PE, 0 to n_pes() - 1. Local. Raises NvshmemInvalid outside a job."""
    require()
    return _atoll.my_pe()


def n_pes() -> int:
    """Return the number of PEs. Local. Raises NvshmemInvalid outside a job."""
    require()
    return _atoll.n_pes()


def team_my_pe(team: Any) -> int:
    """Return the number of this PE in a team, or -1 for no team. Local. Raises NvshmemInvalid."""
    return -1 if is_no_team(team) else team_of(team).my_pe()


def team_n_pes(team: Any) -> int:
    """Return the number of PEs of a team, or -1 for no team. Local. Raises NvshmemInvalid."""
    return -1 if is_no_team(team) else team_of(team).n_pes()


def is_no_team(team: Any) -> bool:
    """Return whether a handle is TEAM_INVALID, or None as team_split_strided returns it to other PEs."""
    if not isinstance(team, int | None):
        return False
    require()
    return team is None or team == -1


def init_status() -> InitStatus:
    """Return the state of the library. Local; works before init()."""
    if not STATE.joined:
        return InitStatus.STATUS_NOT_INITIALIZED
    return InitStatus.STATUS_IS_INITIALIZED if _atoll.is_initialized() else InitStatus.STATUS_INVALID


COMPARE = {
    ComparisonType.CMP_EQ: _atoll.Compare.EQ,
    ComparisonType.CMP_NE: _atoll.Compare.NE,
    ComparisonType.CMP_GT: _atoll.Compare.GT,
    ComparisonType.CMP_GE: _atoll.Compare.GE,
    ComparisonType.CMP_LT: _atoll.Compare.LT,
    ComparisonType.CMP_LE: _atoll.Compare.LE,
}
SIGNAL_SET, SIGNAL_ADD = SignalOp.SIGNAL_SET, SignalOp.SIGNAL_ADD


def comparison_of(function: str, given: Any) -> Any:
    """Return Atoll's comparison. Raises NvshmemInvalid."""
    try:
        return COMPARE[given]
    except (KeyError, TypeError):
        raise NvshmemInvalid(
            f"{full_name(function)}: {given!r} is no comparison; pass one of {', '.join(c.name for c in COMPARE)} of "
            "nvshmem.core.ComparisonType."
        ) from None


def signal_of(function: str, given: Any) -> Literal["set", "add"]:
    """Return the name of Atoll's operation on a signal. Raises NvshmemInvalid."""
    # Enumerations have slow hashes; programs pass the member itself.
    if given is SIGNAL_SET:
        return "set"
    if given is SIGNAL_ADD:
        return "add"
    if isinstance(given, int) and given in (SIGNAL_SET, SIGNAL_ADD):
        return "set" if given == SIGNAL_SET else "add"
    raise NvshmemInvalid(
        f"{full_name(function)}: {given!r} is no operation; pass SignalOp.SIGNAL_SET or SignalOp.SIGNAL_ADD."
    )
