"""Parts that arrays and tensors share."""

from __future__ import annotations

from typing import Any

from ... import _allocation, _atoll
from .._state import STATE, NvshmemInvalid, address_of, block_of, bytes_of, require
from ..memory import free_at, is_over, note, shown
from ..nvshmem_types import BufferTypes


def allocate(function: str, shape: Any, dtype: Any, morder: str) -> Any:
    """Return a zeroed symmetric array: of NumPy, or an atoll.DeviceArray. Collective over all PEs."""
    require()
    if morder not in ("C", "F"):
        raise NvshmemInvalid(f"nvshmem.core.{function}: morder is {morder!r}; pass 'C' or 'F'.")
    zeros: Any = _allocation.zeros
    made = zeros(shape, dtype, morder, device="cuda" if STATE.on_gpu else None)
    note(bytes_of(made), BufferTypes.NORMAL)
    return made


def buffer_of(x: Any) -> tuple[Any, int, str]:
    """Return the Buffer of an array's allocation, the array's bytes, and its dtype's name."""
    require()
    block = block_of(x)
    if block.buffer is None:
        block.buffer = shown(block.memory)
    nbytes = x.numel() * x.element_size() if hasattr(x, "numel") else x.nbytes
    return block.buffer, int(nbytes), str(x.dtype)


def peer_of(function: str, x: Any, pe: int | None) -> Any:
    """Return PE pe's copy of an array, of the same library. Local."""
    require()
    if pe is None:
        raise NvshmemInvalid(f"nvshmem.core.{function}: pass peer_pe, 0 to {_atoll.n_pes() - 1}.")
    found: Any = _atoll.peer(x, pe)
    if pe != _atoll.my_pe():
        try:
            note(bytes_of(found), BufferTypes.PEER)
        except NvshmemInvalid:  # a registered array with gaps
            note(found, BufferTypes.PEER)
    return found


def free_any(x: Any) -> None:
    """Free an array. Collective over all PEs."""
    if not is_over():
        free_at(address_of(x))
