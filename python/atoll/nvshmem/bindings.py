"""The functions of NVSHMEM4Py's lower layer, nvshmem.bindings, that programs call beside nvshmem.core.

They take numbers of teams, addresses of memory and streams, and handles of modules. Each is a call of nvshmem.core.
Those with a type in their name, such as float_sum_reduce_on_stream, are made when a program asks for them.
"""

from __future__ import annotations

import enum
import sys

from . import _addresses, collective, direct, init_fini, rma
from ._addresses import (
    Stream,
    align,
    calloc,
    flush_on_stream,
    free,
    getmem_nbi_on_stream,
    getmem_on_stream,
    malloc,
    ptr,
    putmem_nbi_on_stream,
    putmem_on_stream,
    putmem_signal_nbi_on_stream,
    putmem_signal_on_stream,
    signal_fetch,
    signal_op_on_stream,
    signal_wait_until_on_stream,
    team_sync_on_stream,
)
from .direct import (
    ComparisonType,
    InitStatus,
    SignalOp,
    SmemAmount,
    ThreadSupport,
    my_pe,
    n_pes,
    team_my_pe,
    team_n_pes,
)
from .nvshmem_types import PREDEFINED, NvshmemKernelObject
from .teams import TeamConfig, TeamUniqueId, team_destroy, team_translate_pe

__all__ = [
    "Cmp_type",
    "Init_status",
    "Signal_op",
    "Smem_amount",
    "TeamConfig",
    "TeamUniqueId",
    "Team_id",
    "Thread_support",
    "align",
    "barrier",
    "barrier_all",
    "barrier_all_on_stream",
    "barrier_on_stream",
    "calloc",
    "culibrary_finalize",
    "culibrary_init",
    "cumodule_finalize",
    "cumodule_init",
    "flush_on_stream",
    "free",
    "getmem_nbi_on_stream",
    "getmem_on_stream",
    "init_status",
    "malloc",
    "mc_ptr",
    "my_pe",
    "n_pes",
    "ptr",
    "putmem_nbi_on_stream",
    "putmem_on_stream",
    "putmem_signal_nbi_on_stream",
    "putmem_signal_on_stream",
    "query_thread",
    "quiet",
    "quiet_on_stream",
    "signal_fetch",
    "signal_op_on_stream",
    "signal_wait_until_on_stream",
    "sync_all",
    "sync_all_on_stream",
    "team_destroy",
    "team_my_pe",
    "team_n_pes",
    "team_sync_on_stream",
    "team_translate_pe",
]

__path__: list[str] = []  # a package, as NVSHMEM4Py's, so that an import below it gives the reason
nvshmem = sys.modules[__name__]
"""NVSHMEM4Py has the functions in nvshmem.bindings.nvshmem, too."""


Signal_op, Cmp_type, Init_status = SignalOp, ComparisonType, InitStatus
Thread_support, Smem_amount = ThreadSupport, SmemAmount
Team_id = enum.IntEnum("Team_id", PREDEFINED)  # type: ignore[misc]
"""The numbers of teams."""


def init_status() -> int:
    """Return the state of the library. Local."""
    return int(direct.init_status())


def query_thread() -> int:
    """Return the level of thread support. Local."""
    return int(direct.query_thread())


def mc_ptr(team: int, ptr: int) -> int:
    """Return 0: Atoll has no multicast memory. Local."""
    return 0


def barrier_all() -> None:
    """Wait for all PEs, and complete their earlier puts. Collective over all PEs."""
    collective.barrier_all()


def barrier(team: int) -> int:
    """Do as barrier_all, over a team. Collective over the team."""
    collective.barrier(team)
    return 0


def sync_all() -> None:
    """Wait for all PEs; completes no puts. Collective over all PEs."""
    collective.sync_all()


def quiet() -> None:
    """Complete this PE's earlier calls. Local."""
    rma.quiet()


def barrier_all_on_stream(stream: int) -> None:
    """Do as barrier_all, in the order of a stream's work. Collective over all PEs."""
    collective.barrier_all(Stream(stream))


def barrier_on_stream(team: int, stream: int) -> int:
    """Do as barrier, in the order of a stream's work. Collective over the team."""
    collective.barrier(team, Stream(stream))
    return 0


def sync_all_on_stream(stream: int) -> None:
    """Do as sync_all, in the order of a stream's work. Collective over all PEs."""
    collective.sync_all(Stream(stream))


def quiet_on_stream(stream: int) -> None:
    """Complete earlier calls on a stream, in its order. Local."""
    rma.quiet(Stream(stream))


def cumodule_init(module: int) -> int:
    """Give a CUmodule's kernels the job's teams, as nvshmem.core.module_init does. Local."""
    init_fini.module_init(NvshmemKernelObject.from_handle(module))
    return 0


def cumodule_finalize(module: int) -> int:
    """Forget a CUmodule, before it is unloaded. Local."""
    init_fini.module_finalize(NvshmemKernelObject.from_handle(module))
    return 0


def culibrary_init(library: int) -> int:
    """Give a CUlibrary's kernels the job's teams, as nvshmem.core.library_init does. Local."""
    init_fini.library_init(NvshmemKernelObject.from_handle(library))
    return 0


def culibrary_finalize(library: int) -> int:
    """Forget a CUlibrary, before it is unloaded. Local."""
    init_fini.library_finalize(NvshmemKernelObject.from_handle(library))
    return 0


def __getattr__(name: str) -> object:
    if found := _addresses.typed(name):
        return found
    raise AttributeError(
        f"nvshmem.bindings has no attribute {name!r}"
        + (
            ""
            if name.startswith("_")
            else f": Atoll's form has {', '.join(__all__)}, and those with a type in their name, such as "
            "float_sum_reduce_on_stream; use nvshmem.core for other calls"
        )
    )
