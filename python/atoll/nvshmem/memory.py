"""Buffers of symmetric memory."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np

from .. import _allocation, _atoll
from ._internal_tracking import InternalInitStatus as InternalInitStatus
from ._internal_tracking import _cached_device as _cached_device
from ._internal_tracking import _is_initialized as _is_initialized
from ._state import (
    STATE,
    Block,
    NvshmemError,
    NvshmemInvalid,
    OfGpu,
    address_of,
    allocation_of,
    block_of,
    bytes_at,
    bytes_of,
    full_name,
    is_buffer,
    memory_of,
    require,
    translated,
    translated_as,
)
from .nvshmem_types import BufferTypes, NvshmemResource, cuda_core

__all__ = [
    "buffer",
    "free",
    "get_multicast_buffer",
    "get_peer_buffer",
    "register_external_buffer",
    "unregister_external_buffer",
]


class Buffer:
    """Bytes of memory where cuda.core has no Buffer: on the host, and on GPUs without that package.

    Those of nvshmem.core are symmetric. from_handle also takes ordinary memory, such as the source of a put.
    """

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.handle = address_of(memory)
        self.size = int(memory.nbytes)
        self.memory_resource = NvshmemResource(self.device_id)

    @staticmethod
    def from_handle(ptr: int, size: int, mr: Any = None) -> Buffer:
        """Return the Buffer of bytes by their address, such as a part of an allocation.

        Raises
        ------
        NvshmemInvalid
            The bytes begin in an allocation, and pass its end.
        """
        return Buffer(bytes_at(int(ptr), int(size)))

    @property
    def device_id(self) -> int:
        """The number of the GPU; -1 is the host."""
        return int(self.memory.device) if self.is_device_accessible else -1

    @property
    def is_device_accessible(self) -> bool:
        """True if the memory is a GPU's."""
        return isinstance(self.memory, _atoll.DeviceArray | OfGpu)

    @property
    def is_host_accessible(self) -> bool:
        """True if the memory is the host's."""
        return not self.is_device_accessible

    def close(self, stream: Any = None) -> None:
        """Do nothing: free() frees symmetric memory."""

    def copy_from(self, src: Any, *, stream: Any = None) -> None:
        """Copy the bytes of another Buffer of this size into this one. Local; complete on return.

        Raises
        ------
        NvshmemInvalid
            The sizes differ, or both are memory of a GPU that nvshmem.core did not allocate.
        """
        _copy("Buffer.copy_from", self, src)

    def copy_to(self, dst: Any, *, stream: Any = None) -> Any:
        """Copy the bytes into another Buffer of this size, and return that. Local; complete on return.

        Errors are those of copy_from.
        """
        _copy("Buffer.copy_to", dst, self)
        return dst

    def __dlpack__(self, **options: Any) -> Any:
        if isinstance(self.memory, OfGpu):
            raise BufferError(
                "This Buffer is memory of a GPU that nvshmem.core did not allocate; pass Buffer.memory, which has "
                "__cuda_array_interface__, or what its own library returned."
            )
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.memory.__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.is_device_accessible:
            raise TypeError("This Buffer is memory of a GPU; copy it by Buffer.memory.numpy().")
        return np.array(self.memory, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"<Buffer of {self.size} bytes at {self.handle:#x}>"


def _copy(function: str, to: Any, source: Any) -> None:
    """Copy the bytes of this PE's memory, symmetric or not, of arrays and Buffers."""
    there, here = (
        bytes_of(memory) if hasattr(memory, "dtype") else memory
        for memory in (memory_of(to), memory_of(source))
    )
    if there.nbytes != here.nbytes:
        raise NvshmemInvalid(
            f"{full_name(function)}: {here.nbytes} bytes cannot be copied into {there.nbytes}; pass a Buffer of the same size."
        )
    if isinstance(there, np.ndarray) and isinstance(here, np.ndarray):
        np.copyto(there, here)
        return
    call: Any = _atoll.put if allocation_of(address_of(there)) else _atoll.get
    translated_as(function)(call)(there, here, _atoll.my_pe())


def shown(memory: Any) -> Any:
    """Return the Buffer of an array of bytes: cuda.core's if that is installed and the memory is a GPU's."""
    core = cuda_core() if isinstance(memory, _atoll.DeviceArray) else None
    if core is None:
        return Buffer(memory)
    resource = NvshmemResource(memory.device)
    try:
        return core.Buffer.from_handle(memory.ptr, memory.nbytes, mr=resource)
    except RuntimeError:  # no context is current: cuda.core records a stream of the current one
        core.Device(memory.device).set_current()
        return core.Buffer.from_handle(memory.ptr, memory.nbytes, mr=resource)


def note(memory: Any, kind: BufferTypes) -> Block:
    """Register an array of bytes, so that later calls find it by its address."""
    block = Block(memory, kind)
    block.buffer = shown(memory)
    STATE.add(address_of(memory), block)
    return block


def refuse_negative(function: str, **sizes: int) -> None:
    """Raise NvshmemInvalid for a negative size."""
    for name, size in sizes.items():
        if size < 0:
            raise NvshmemInvalid(f"{function}: {name} is {size}; pass at least 0.")


def allocate(nbytes: int, alignment: int = 0, function: str = "nvshmem.core.buffer") -> Block:
    """Allocate zeroed bytes. Collective over all PEs. An error names the function."""
    require()
    refuse_negative(function, size=nbytes)
    device = "cuda" if STATE.on_gpu else None
    made = _allocation.zeros(max(int(nbytes), 1), np.uint8, align=alignment, device=device)
    return note(made, BufferTypes.NORMAL)


@translated
def buffer(size: int, release: bool = False, except_on_del: bool = True) -> Any:
    """Return a new symmetric Buffer, filled with zeros on all PEs.

    Collective over all PEs. The library keeps it until free() or finalize(), so `release` and `except_on_del` change
    nothing.

    Parameters
    ----------
    size
        Bytes, equal on all PEs.

    Returns
    -------
    Buffer
        cuda.core's on a GPU; elsewhere one with the same handle, size and DLPack.

    Raises
    ------
    NvshmemInvalid
        Outside init() and finalize(), or size is negative.
    NvshmemError
        The symmetric heap has too little room.
    """
    return allocate(size).buffer


def is_over() -> bool:
    """Return whether there is no job. The log then has a warning, since nothing can be freed."""
    if not STATE.joined:
        logging.getLogger("nvshmem").warning("NVSHMEM is not initialized: nothing was freed.")
    return not STATE.joined


def free_at(address: int) -> None:
    """Free the allocation at an address. Collective over all PEs."""
    block = STATE.blocks.get(address)
    if block is None:
        logging.getLogger("nvshmem").error(
            "Freed memory at %#x that is not allocated, or was freed.", address
        )
        return
    if block.kind == BufferTypes.PEER:
        return
    STATE.drop(address)
    _atoll.free(block.memory)


@translated
def free(buffer: Any) -> None:
    """Free a Buffer. Collective over all PEs, in the same order on all.

    A Buffer of get_peer_buffer is left alone. One that was freed before is an error in the log.

    Raises
    ------
    NvshmemInvalid
        The argument is no Buffer.
    """
    if is_over():
        return
    if not is_buffer(buffer):
        raise NvshmemInvalid(
            f"nvshmem.core.free: a {type(buffer).__name__} is no Buffer; use free_array or free_tensor for arrays."
        )
    free_at(int(buffer.handle))


@translated
def get_peer_buffer(buffer: Any, pe: int) -> Any:
    """Return PE pe's copy of a Buffer, for loads and stores. Local. It need not be freed.

    Raises
    ------
    NvshmemInvalid
        The Buffer is not symmetric, or pe is no PE.
    NvshmemError
        That PE's memory cannot be reached, since it is on another host.
    """
    require()
    return (
        note(_atoll.peer(block_of(buffer).memory, pe), BufferTypes.PEER).buffer
        if pe != _atoll.my_pe()
        else buffer
    )


def no_multicast(function: str) -> NvshmemError:
    """Return the error of the calls for multicast memory."""
    return NvshmemError(
        f"nvshmem.core.{function}: Atoll has no multicast memory, as GPUs without NVLink SHARP. Store to each PE's "
        "copy (get_peer_array), or use a collective."
    )


def get_multicast_buffer(team: Any, buffer: Any) -> Any:
    """Raise NvshmemError: Atoll has no multicast memory."""
    raise no_multicast("get_multicast_buffer")


def register(x: Any, function: str) -> Any:
    """Return a symmetric array over memory of a GPU that another library allocated. Collective over all PEs."""
    require()
    if not STATE.on_gpu:
        raise NvshmemError(
            f"nvshmem.core.{function}: only memory of a GPU is registered, and this job has none; allocate by buffer() "
            "or array(), and copy."
        )
    registered = _atoll.register(x)
    block = Block(registered, BufferTypes.EXTERNAL)
    STATE.add(address_of(registered), block)
    return registered


def unregister(x: Any) -> None:
    """End a registration. Collective over all PEs."""
    require()
    block = block_of(x)
    STATE.drop(address_of(x))
    _atoll.free(block.memory)


@translated
def register_external_buffer(buffer: Any, preferred_address: Any = None) -> Any:
    """Return a symmetric Buffer over memory of a GPU that another library allocated. Collective over all PEs.

    The memory must come from the driver's virtual memory management, as atoll.register explains.

    Raises
    ------
    NvshmemError
        preferred_address is given, or there is no GPU.
    NvshmemInvalid
        The memory cannot be shared with other processes.
    """
    if preferred_address is not None:
        raise NvshmemError(
            "nvshmem.core.register_external_buffer: Atoll chooses the address; leave preferred_address out."
        )
    registered = register(buffer, "register_external_buffer")
    if not isinstance(registered, _atoll.DeviceArray):
        return registered
    block = block_of(registered)
    block.buffer = shown(registered)
    return block.buffer


@translated
def unregister_external_buffer(buffer: Any) -> None:
    """End the registration of a Buffer that register_external_buffer returned. Collective over all PEs."""
    unregister(buffer)


def forget() -> None:
    """Drop all allocations, at the end of the job."""
    STATE.clear()
    if cute := sys.modules.get("atoll.nvshmem.interop.cute"):  # loaded only with CuTe DSL
        cute.forget()
