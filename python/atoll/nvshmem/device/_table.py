"""The table of teams that kernels read, a row for each handle: NVSHMEM's kernels take no team or job as an argument.

A kernel has the table's address as a constant. The table of a GPU is allocated once in a process and never freed, so
that this constant stays right after finalize() and another init().
"""

from __future__ import annotations

import ctypes

import numpy as np

from ... import _atoll
from ..._device import DeviceTeam
from .._driver import Copies
from .._state import STATE, NvshmemInvalid

CAPACITY = 1024
"""Handles that kernels know. The row behind them is empty, for all other numbers."""
FIELDS = len(DeviceTeam._fields)
ROW_BYTES = 8 * FIELDS
EMPTY = np.zeros(FIELDS, np.int64)
HOST = np.zeros((CAPACITY + 1, FIELDS), np.int64)
"""The table for kernels that run on the host."""


class DeviceTable(Copies):
    """The table in a GPU's memory."""

    def __init__(self, gpu: int) -> None:
        super().__init__(gpu, "nvshmem.core.device: the table of teams for kernels")
        address = ctypes.c_uint64()
        with self:
            self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(HOST.nbytes))
        self.address = int(address.value)
        self.write(0, np.zeros_like(HOST))

    def write(self, row: int, values: np.ndarray) -> None:
        """Write rows from `row` on, and wait until kernels that start later find them."""
        self.copy(self.address + ROW_BYTES * row, values)


_of_gpus: dict[int, DeviceTable | None] = {}
"""The tables by the number of the GPU. None where there is no driver: on the simulated GPU of the tests."""


def _of_gpu() -> DeviceTable | None:
    if STATE.gpu not in _of_gpus:
        try:
            _of_gpus[STATE.gpu] = DeviceTable(STATE.gpu)
        except OSError:
            _of_gpus[STATE.gpu] = None
    return _of_gpus[STATE.gpu]


def _row(team: _atoll.Team | None, memory: str) -> np.ndarray:
    """Return a team's row; an empty one for no team, and for a team that kernels in Python do not reach."""
    if team is None:
        return EMPTY
    try:
        return np.array(team.device(memory), np.int64)
    except (_atoll.Unsupported, _atoll.NotInitialized):
        return EMPTY


def update(*handles: int) -> None:
    """Write the rows of these handles; without arguments, all rows."""
    changed = [handle for handle in handles or range(CAPACITY) if 0 <= handle < CAPACITY]
    teams = [STATE.teams.get(handle) for handle in changed]
    for handle, team in zip(changed, teams, strict=True):
        HOST[handle] = _row(team, "host")
    if not STATE.on_gpu or (table := _of_gpu()) is None:
        return
    rows = np.array([_row(team, "device") for team in teams], np.int64)
    if len(rows) == CAPACITY:
        table.write(0, rows)
    else:
        for handle, row in zip(changed, rows, strict=True):
            table.write(handle, row)


def device_address(function: str) -> int:
    """Return the address of the GPU's table, for a kernel that is compiled now.

    Raises
    ------
    NvshmemInvalid
        There is no such table: before init(), or where symmetric memory is on the host.
    """
    if STATE.on_gpu and (table := _of_gpu()) is not None:
        return table.address
    from ...compat import _has_driver

    if not _has_driver():
        return HOST.ctypes.data  # compiled only: no GPU can run the kernel
    raise NvshmemInvalid(
        f"{function}: a kernel for a GPU is compiled, but "
        + (
            "symmetric memory is on the host (NVSHMEM_HEAP_KIND=SYSMEM, or no GPU for this PE)."
            if STATE.joined
            else "this process has not joined the job: call nvshmem.core.init() before the kernel's first launch, and before "
            "@cuda.jit with a list of types."
        )
    )


STATE.listeners.append(update)
if STATE.joined:
    update()
