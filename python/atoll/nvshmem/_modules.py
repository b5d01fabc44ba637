"""Loaded modules with kernels. If they use Atoll's bitcode or nvshmem.h, they get the job's teams here.

Other modules need nothing: kernels of nvshmem.core.device read a table of teams, and those of Atoll take teams as arguments.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .. import _atoll
from .._device import TEAM
from ._driver import Copies
from ._state import STATE, NvshmemError, NvshmemInvalid, require
from .nvshmem_types import NvshmemKernelObject

MOST_TEAMS = 64
"""Teams in a module's state: numbers below this (include_nvshmem/atoll_nvshmem/state.h)."""
STATE_SYMBOL = "nvshmemi_device_state_d"
FOREIGN_SYMBOL = "nvshmemi_device_lib_version_d"
"""A symbol of NVSHMEM's own library for kernels, from its version 3.5 on."""
GET = {"library_init": "cuLibraryGetGlobal", "module_init": "cuModuleGetGlobal_v2"}

_states: dict[int, int] = {}
"""The addresses of the states of modules, by the handle of the module or library."""
_copies: dict[int, Copies] = {}
"""By the number of the GPU."""


def _find(handle: int, symbol: str, function: str) -> tuple[int, int]:
    """Return the address and the bytes of a module's symbol; (0, 0) if it has none, or there is no driver."""
    address, nbytes = ctypes.c_uint64(), ctypes.c_size_t()
    try:
        find = getattr(ctypes.CDLL("libcuda.so.1"), GET[function])
    except (OSError, AttributeError):
        return 0, 0
    name = ctypes.c_char_p(symbol.encode())
    failed = find(ctypes.byref(address), ctypes.byref(nbytes), ctypes.c_void_p(handle), name)
    return (0, 0) if failed else (int(address.value), int(nbytes.value))


def _row(team: _atoll.Team | None) -> tuple[int, ...] | None:
    """Return a team's fields; None for no team, and for one with members that kernels do not reach."""
    try:
        return None if team is None else tuple(team.device("device"))
    except (_atoll.Unsupported, _atoll.NotInitialized):
        return None


def state() -> np.ndarray:
    """Return the state for modules: the world, and the teams by their number (state.h: State). Zeros are no team."""
    rows = np.zeros(1 + MOST_TEAMS, TEAM)
    for number, team in STATE.teams.items():
        if number < MOST_TEAMS and (row := _row(team)) is not None:
            rows[1 + number] = row
    rows[0] = rows[1]
    return rows


def _fill(address: int) -> None:
    if STATE.gpu not in _copies:
        _copies[STATE.gpu] = Copies(STATE.gpu, "nvshmem.core: the teams for a module's kernels")
    _copies[STATE.gpu].copy(address, state())


def _update(*handles: int) -> None:
    """Fill all modules after a change of teams; forget them at the end of the job."""
    if not STATE.joined:
        _states.clear()
    for address in _states.values():
        _fill(address)


STATE.listeners.append(_update)


def initialize(function: str, given: Any) -> None:
    """Give a module's kernels the job's teams if they call NVSHMEM's functions; accept one that needs nothing.

    Parameters
    ----------
    function
        "library_init" or "module_init".
    given
        An NvshmemKernelObject.

    Raises
    ------
    NvshmemInvalid
        `given` is something else, or the job is not joined.
    NvshmemError
        The module is linked with NVSHMEM's own library for kernels, or symmetric memory is on the host.
    """
    require()
    check(function, given)
    if not given.handle:
        return
    handle = int(given.handle)
    address, nbytes = _find(handle, STATE_SYMBOL, function)
    if _find(handle, FOREIGN_SYMBOL, function)[1] or nbytes not in (0, (1 + MOST_TEAMS) * TEAM.itemsize):
        raise NvshmemError(
            f"nvshmem.core.{function}: the module is linked with NVSHMEM's own library for kernels, which does not run on "
            "Atoll. Link the file that nvshmem.core.find_device_bitcode_library() returns on Atoll, or import "
            "nvshmem.core.device on Atoll before the kernel is compiled."
        )
    if not nbytes:
        return
    if not STATE.on_gpu:
        raise NvshmemError(
            f"nvshmem.core.{function}: the module's kernels call NVSHMEM's functions, but symmetric memory is on the host "
            "(NVSHMEM_HEAP_KIND=SYSMEM, or no GPU for a PE)."
        )
    _fill(address)
    _states[handle] = address


def finalize(function: str, given: Any) -> None:
    """Forget a module, so that it may be unloaded."""
    check(function, given)
    _states.pop(int(given.handle or 0), None)


def check(function: str, given: Any) -> None:
    """Refuse what is not an NvshmemKernelObject."""
    if not isinstance(given, NvshmemKernelObject):
        raise NvshmemInvalid(
            f"nvshmem.core.{function}: the argument is {type(given).__name__}; pass an NvshmemKernelObject, such as "
            "NvshmemKernelObject.from_handle(handle)."
        )
