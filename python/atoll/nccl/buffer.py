"""Memory for windows: nccl.core.mem_alloc, and the arrays of nccl.core.cupy and nccl.core.torch."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

from .. import _allocation
from ..nvshmem.memory import Buffer as SymmetricBuffer
from ._errors import NCCLError, NcclInvalid, Result, translated
from ._lines import address_of
from ._world import join, world
from .typing import NcclDeviceSpec

__all__ = ["mem_alloc", "mem_free"]


class Buffer(SymmetricBuffer):
    """Bytes that this rank allocated, for windows and calls."""

    memory_resource = None  # type: ignore[assignment]

    def __init__(self, memory: Any) -> None:
        self.memory: Any = memory
        self.handle = address_of(memory)
        self.size = int(memory.nbytes)

    def close(self, stream: Any = None) -> None:
        """Free the memory, once no array shows it any more."""
        self.memory, self.handle, self.size = np.empty(0, np.uint8), 0, 0


class _Piece:
    """A range of the pool, given back once no array shows it."""

    def __init__(self, first: int, nbytes: int) -> None:
        here = world()
        piece = here.memory[first : first + nbytes]
        self.__array_interface__ = piece.__array_interface__
        self._keeps = here
        weakref.finalize(self, here.pool.release, first).atexit = False


def allocate(nbytes: int) -> Any:
    """Return bytes that other PEs reach: of the host's pool, or of the GPU (then collective over all PEs)."""
    here = join()
    if here.on_gpu:
        return _allocation.empty(max(nbytes, 1), np.uint8, device="cuda")[:nbytes]
    first = here.pool.take(nbytes)
    if first is None:
        raise NCCLError(
            Result.SystemError,
            f"nccl.core: mem_alloc: {nbytes} bytes are not free. Atoll sets {here.pool.units} aside, a quarter of the symmetric "
            "heap; free buffers, or raise ATOLL_HEAP_SIZE.",
        )
    return np.asarray(_Piece(first, nbytes))


def allocate_array(name: str, shape: Any, dtype: Any, order: str) -> Any:
    """Return an array of such memory with undefined contents. `name` is the call's in errors."""
    if order not in ("C", "F"):
        raise NcclInvalid(f"nccl.core.{name}: the order is {order!r}; pass 'C' or 'F'.")
    shape = tuple(shape) if isinstance(shape, tuple | list) else (int(shape),)
    kind = np.dtype(dtype)
    here = join()
    if here.on_gpu:
        return _allocation.empty(shape, kind, device="cuda")
    flat = allocate(math.prod(shape) * kind.itemsize).view(kind)
    return flat.reshape(shape, order=order)


@translated
def mem_alloc(size: int, device: NcclDeviceSpec | None = None) -> Buffer:
    """Return a Buffer of memory that other ranks reach through windows. Its contents are undefined.

    Local on the host; on a GPU collective over all PEs of the job, with equal sizes. The first call may join the job, which
    is collective. The memory is freed by mem_free(), or once no object shows it.

    Parameters
    ----------
    size
        Bytes.
    device
        Not used: the memory is on the host, or on this PE's GPU if it has one.

    Raises
    ------
    NCCLError
        The memory that is set aside is full.
    NcclInvalid
        size is negative.
    """
    if size < 0:
        raise NcclInvalid(f"nccl.core: mem_alloc: size is {size}; pass bytes, at least 0.")
    return Buffer(allocate(int(size)))


def mem_free(buf: Buffer) -> None:
    """Free a Buffer of mem_alloc. Local. Arrays over it keep the memory. A second call does nothing."""
    buf.close()
