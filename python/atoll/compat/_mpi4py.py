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
from . import installed

is_substitute = True
UNDEFINED = -1
COMM_TYPE_SHARED = 1
THREAD_MULTIPLE = 3
INFO_NULL = None
BYTE = CHAR = INT = LONG = FLOAT = DOUBLE = "a type, which the array has itself"

COMM_NULL = None
IN_PLACE: Any = "in place of the array to send"

SUM: Callable[[Any, Any], Any] = operator.add
PROD: Callable[[Any, Any], Any] = operator.mul
MIN: Callable[[Any, Any], Any] = min
MAX: Callable[[Any, Any], Any] = max
_NAMES: dict[Any, Any] = {SUM: "sum", PROD: "prod", MIN: "min", MAX: "max"}


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

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Callable[[Any, Any], Any] = SUM) -> None:
        """Combine the arrays of all PEs, in their order, into recvbuf on each."""
        dst = _array_of(recvbuf)
        _atoll.reduce(dst, _sent(sendbuf, dst), _name_of(op), team=self._team)

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Callable[[Any, Any], Any] = SUM, root: int = 0) -> None:
        """Combine the arrays of all PEs, in their order, into recvbuf on the root."""
        dst = _array_of(recvbuf) if self.Get_rank() == root else np.empty_like(_array_of(sendbuf))
        _atoll.reduce(dst, _sent(sendbuf, dst), _name_of(op), root, team=self._team)

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Copy the arrays of all PEs into recvbuf of the root, in their order."""
        dst = _bytes_of(recvbuf) if self.Get_rank() == root else None
        _atoll.gather(dst, _bytes_of(sendbuf), root, team=self._team)

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Copy this PE's part of the root's array into recvbuf."""
        parts = _bytes_of(sendbuf) if self.Get_rank() == root else None
        mine = _bytes_of(recvbuf)
        _atoll.scatter(
            mine, None if parts is None else parts.reshape(self.Get_size(), -1), root, team=self._team
        )

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
        world = self._team  # joins the job, which a call of HOST does not
        team = world.split(int(_atoll.HOST.world_pe(0)), key)
        return Comm(team) if team else None

    def Dup(self) -> Comm:
        """Return a communicator of the same PEs."""
        return Comm(self._team.split(0, self.Get_rank()))

    def Free(self) -> None:
        """Do nothing: a team ends with the job."""

    def Abort(self, errorcode: int = 0) -> None:
        """End the job."""
        _job.abort("MPI's Abort was called", errorcode if 0 < errorcode < 256 else 1)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"COMM_WORLD has no attribute {name!r} {_without()}")


class _Self(Comm):
    """This PE alone. It needs no job."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    rank = property(Get_rank)
    size = property(Get_size)

    def barrier(self) -> None:
        pass

    Barrier = barrier

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        return obj

    def Bcast(self, buf: Any, root: int = 0) -> None:
        pass

    def allgather(self, sendobj: Any) -> list[Any]:
        return [sendobj]

    def gather(self, sendobj: Any, root: int = 0) -> Any:
        return [sendobj]

    @property
    def _team(self) -> Any:
        raise NotImplementedError(
            f"COMM_SELF has its rank, its size, barriers, broadcasts and gathers {_without()}"
        )


def _name_of(op: Any) -> Any:
    """Return Atoll's name of an operator."""
    if op not in _NAMES:
        raise NotImplementedError(f"Arrays are combined by SUM, PROD, MIN and MAX {_without()}")
    return _NAMES[op]


def _array_of(buf: Any) -> Any:
    """Return an array itself, or the one in mpi4py's list of an array and a type."""
    if buf is IN_PLACE:
        raise NotImplementedError(f"IN_PLACE is for Reduce and Allreduce {_without()}")
    array = np.asarray(buf[0] if isinstance(buf, list | tuple) else buf)
    if not array.flags.c_contiguous:
        raise ValueError("The array is not contiguous; pass a contiguous copy of it.")
    return array


def _sent(sendbuf: Any, dst: Any) -> Any:
    """Return the array to send, in the shape of `dst`, which it is for IN_PLACE."""
    return dst if sendbuf is IN_PLACE else _array_of(sendbuf).reshape(dst.shape)


def _bytes_of(buf: Any) -> Any:
    """Return the bytes of an array."""
    return _array_of(buf).reshape(-1).view(np.uint8)


COMM_WORLD = Comm()
COMM_SELF = _Self()
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


def _without() -> str:
    """Return how errors go on about what this substitute lacks."""
    return (
        "in Atoll's substitute for mpi4py, which processes of `atoll run` get; start the program by mpiexec instead: "
        f"mpiexec -n 4 python -m atoll.compat {','.join(installed())} program.py."
    )


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"mpi4py.MPI has no attribute {name!r}" + ("" if name.startswith("_") else f" {_without()}")
    )
