"""A substitute for mpi4py.MPI in processes that `atoll run` started, for programs that use MPI to start NCCL or NVSHMEM.

`atoll run` starts no MPI, so that each of its processes would be alone in MPI's COMM_WORLD. This COMM_WORLD is the job.
It has what such programs do before they have a communicator: ranks, broadcasts of unique ids, barriers, splits.
"""

from __future__ import annotations

import functools
import operator
import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _atoll, _job, _objects

is_substitute = True
UNDEFINED = -1
COMM_TYPE_SHARED = 1
THREAD_MULTIPLE = 3
INFO_NULL = None
BYTE = CHAR = INT = LONG = FLOAT = DOUBLE = "a type, which the array has itself"

SUM: Callable[[Any, Any], Any] = operator.add
PROD: Callable[[Any, Any], Any] = operator.mul
MIN: Callable[[Any, Any], Any] = min
MAX: Callable[[Any, Any], Any] = max


class Comm:
    """PEs of the job."""

    def __init__(self, team: Any = None) -> None:
        self._made = team

    @property
    def _team(self) -> Any:
        """The team. The first use joins the job, which is collective over all PEs."""
        if self._made is None:
            if not _atoll.is_initialized():
                _job.init()
            self._made = _atoll.WORLD
        return self._made

    def Get_rank(self) -> int:
        """Return this PE's number."""
        return int(self._team.my_pe())

    def Get_size(self) -> int:
        """Return the number of PEs."""
        return int(self._team.n_pes())

    rank = property(Get_rank)
    size = property(Get_size)

    def barrier(self) -> None:
        """Wait for all PEs."""
        self._team.sync()

    Barrier = barrier

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Return the root's object."""
        return _objects.bcast_object(obj, root, team=self._team)

    def Bcast(self, buf: Any, root: int = 0) -> None:
        """Copy the root's array into all."""
        data = _bytes_of(buf)
        _atoll.broadcast(data, data, root, team=self._team)

    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """Copy the arrays of all PEs into recvbuf, in their order."""
        _atoll.fcollect(_bytes_of(recvbuf), _bytes_of(sendbuf), team=self._team)

    def gather(self, sendobj: Any, root: int = 0) -> Any:
        """Return the objects of all PEs on the root, and None on others."""
        return _objects.gather_object(sendobj, root, team=self._team)

    def allgather(self, sendobj: Any) -> list[Any]:
        """Return the objects of all PEs."""
        return _objects.allgather_object(sendobj, team=self._team)

    def scatter(self, sendobj: Any = None, root: int = 0) -> Any:
        """Return this PE's one of the root's objects."""
        return _objects.scatter_object(sendobj, root, team=self._team)

    def alltoall(self, sendobj: Any) -> list[Any]:
        """Exchange objects between all PEs."""
        return _objects.alltoall_object(sendobj, team=self._team)

    def allreduce(self, sendobj: Any, op: Callable[[Any, Any], Any] = SUM) -> Any:
        """Return the objects of all PEs, combined in their order."""
        return functools.reduce(op, self.allgather(sendobj))

    def reduce(self, sendobj: Any, op: Callable[[Any, Any], Any] = SUM, root: int = 0) -> Any:
        """Return the combined objects on the root, and None on others."""
        found = self.gather(sendobj, root)
        return None if found is None else functools.reduce(op, found)

    def Split(self, color: int = 0, key: int = 0) -> Comm | None:
        """Return the PEs that passed this color, ordered by key; None for UNDEFINED."""
        team = self._team.split(color, key)
        return Comm(team) if team else None

    def Split_type(self, split_type: int, key: int = 0, info: Any = None) -> Comm | None:
        """Return the PEs of this host."""
        return self.Split(int(_atoll.HOST.world_pe(0)), key)

    def Dup(self) -> Comm:
        """Return a communicator of the same PEs."""
        return Comm(self._team.split(0, self.Get_rank()))

    def Free(self) -> None:
        """Do nothing: a team ends with the job."""

    def Abort(self, errorcode: int = 0) -> None:
        """End the job."""
        _job.abort("MPI's Abort was called", errorcode if 0 < errorcode < 256 else 1)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"COMM_WORLD has no attribute {name!r} {_WITHOUT}")


def _bytes_of(buf: Any) -> Any:
    """Return the bytes of an array, or of the array in mpi4py's list of an array and a type."""
    array = np.asarray(buf[0] if isinstance(buf, list | tuple) else buf)
    if not array.flags.c_contiguous:
        raise ValueError("The array is not contiguous; pass a contiguous copy of it.")
    return array.reshape(-1).view(np.uint8)


COMM_WORLD = Comm()
Intracomm = Comm


def Init() -> None:
    """Join the job. Collective over all PEs."""
    COMM_WORLD.Get_size()


def Is_initialized() -> bool:
    """Return True."""
    return True


def Is_finalized() -> bool:
    """Return False."""
    return False


def Finalize() -> None:
    """Do nothing: the job ends with its processes."""


def Wtime() -> float:
    """Return seconds of a clock."""
    return time.perf_counter()


def Get_processor_name() -> str:
    """Return this host's name."""
    return socket.gethostname()


_WITHOUT = (
    "in Atoll's substitute for mpi4py, which processes of `atoll run` get; start the program by mpiexec instead: "
    "mpiexec -n 4 python -m atoll.compat nccl program.py."
)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"mpi4py.MPI has no attribute {name!r}" + ("" if name.startswith("_") else f" {_WITHOUT}")
    )
