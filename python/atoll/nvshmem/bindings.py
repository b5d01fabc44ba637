"""The functions of NVSHMEM4Py's lower layer, nvshmem.bindings, that programs call beside nvshmem.core.

They take numbers of teams, addresses of streams and handles of modules. Each is a call of nvshmem.core.
"""

from __future__ import annotations

import sys

from . import collective, direct, init_fini, rma
from .direct import my_pe, n_pes, team_my_pe, team_n_pes
from .nvshmem_types import NvshmemKernelObject
from .teams import team_translate_pe

__all__ = [
    "barrier",
    "barrier_all",
    "barrier_all_on_stream",
    "barrier_on_stream",
    "culibrary_finalize",
    "culibrary_init",
    "cumodule_finalize",
    "cumodule_init",
    "init_status",
    "mc_ptr",
    "my_pe",
    "n_pes",
    "query_thread",
    "quiet",
    "quiet_on_stream",
    "sync_all",
    "sync_all_on_stream",
    "team_my_pe",
    "team_n_pes",
    "team_translate_pe",
]

nvshmem = sys.modules[__name__]
"""NVSHMEM4Py has the functions in nvshmem.bindings.nvshmem, too."""


class _Address:
    """A stream by its address, as cuda.core describes streams."""

    def __init__(self, address: int) -> None:
        self._address = int(address)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


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
    collective.barrier_all(_Address(stream))


def barrier_on_stream(team: int, stream: int) -> int:
    """Do as barrier, in the order of a stream's work. Collective over the team."""
    collective.barrier(team, _Address(stream))
    return 0


def sync_all_on_stream(stream: int) -> None:
    """Do as sync_all, in the order of a stream's work. Collective over all PEs."""
    collective.sync_all(_Address(stream))


def quiet_on_stream(stream: int) -> None:
    """Complete earlier calls on a stream, in its order. Local."""
    rma.quiet(_Address(stream))


def cumodule_init(module: int) -> int:
    """Accept a CUmodule whose kernels run here, as nvshmem.core.module_init does. Local."""
    init_fini.module_init(NvshmemKernelObject.from_handle(module))
    return 0


def cumodule_finalize(module: int) -> int:
    """Do nothing. Local."""
    init_fini.module_finalize(NvshmemKernelObject.from_handle(module))
    return 0


def culibrary_init(library: int) -> int:
    """Accept a CUlibrary whose kernels run here, as nvshmem.core.library_init does. Local."""
    init_fini.library_init(NvshmemKernelObject.from_handle(library))
    return 0


def culibrary_finalize(library: int) -> int:
    """Do nothing. Local."""
    init_fini.library_finalize(NvshmemKernelObject.from_handle(library))
    return 0


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"nvshmem.bindings has no attribute {name!r}"
        + (
            ""
            if name.startswith("_")
            else f": Atoll's form has {', '.join(__all__)}; use nvshmem.core for other calls"
        )
    )
