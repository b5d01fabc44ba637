"""nbshmem's names on Atoll: symmetric arrays as tuples of every PE's array, and operations in kernels of Numba.

Programs reach it unchanged by ATOLL_COMPAT=nbshmem. docs/from-nvshmem4py.md lists the names, and where they are known
from.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .. import _allocation, _atoll
from ..nvshmem import init_fini
from ..nvshmem._state import STATE
from . import device
from .device import *  # noqa: F403
from .device import __all__ as _of_kernels

__all__ = ["alloc", "alloc_like", "array", "barrier_all_host", "barrier_all_host_on_stream", "device", "init"]
__all__ += _of_kernels
_owned: list[Any] = []
"""This PE's arrays, which live as long as the job."""


def _cuda() -> Any:
    return importlib.import_module("numba.cuda")


def init(mpi_comm: Any, static_heap: bool = False) -> None:
    """Join the job. Collective over all PEs.

    Parameters
    ----------
    mpi_comm
        A communicator of mpi4py. The PEs of `atoll run` meet by the launcher.
    static_heap
        Changes nothing: all arrays are in Atoll's heap.
    """
    launched = _atoll._launched()
    init_fini.init(mpi_comm=None if launched else mpi_comm, initializer_method="" if launched else "mpi")
    _owned.clear()
    if STATE.on_gpu:
        _cuda().select_device(STATE.gpu)


def _everyones(x: Any) -> tuple[Any, ...]:
    """Return the array of each PE: Numba's on a GPU, NumPy's on the host."""
    _owned.append(x)
    parts = [x if pe == _atoll.my_pe() else _atoll.peer(x, pe) for pe in range(_atoll.n_pes())]
    if STATE.on_gpu:
        return tuple(map(_cuda().as_cuda_array, parts))
    return tuple(parts)


def _new(shape: Any, dtype: Any) -> Any:
    zeros: Any = _allocation.zeros
    return zeros(shape, dtype, device="cuda" if STATE.on_gpu else None)


def array(npary: Any, copy: bool = True) -> tuple[Any, ...]:
    """Return symmetric arrays of an array's shape and dtype, one for each PE. Collective over all PEs.

    `copy`: this PE's array has the values of `npary` on return, else zeros.
    """
    values = np.ascontiguousarray(npary)
    made = _new(values.shape, values.dtype)
    if copy:
        made[...] = values
        _atoll.barrier_all()
    return _everyones(made)


def alloc(shape: Any, nptype: Any) -> tuple[Any, ...]:
    """Return symmetric arrays, one for each PE, filled with zeros. Collective over all PEs."""
    return _everyones(_new(shape, np.dtype(nptype)))


def alloc_like(npary: Any) -> tuple[Any, ...]:
    """Return symmetric arrays of an array's shape and dtype, filled with zeros. Collective over all PEs."""
    return array(npary, copy=False)


def barrier_all_host() -> None:
    """Wait for this PE's GPU, then for all PEs."""
    if STATE.on_gpu:
        _cuda().synchronize()
    _atoll.barrier_all()


def barrier_all_host_on_stream(sync_shmem: Any, stream: Any, npes: int) -> None:
    """Enqueue a barrier of all PEs on a stream of Numba. sync_shmem and npes are not used."""
    if STATE.on_gpu:
        handle = getattr(stream, "handle", stream)
        _atoll.barrier_all(stream=int(getattr(handle, "value", handle) or 0))
    else:
        _atoll.barrier_all()
