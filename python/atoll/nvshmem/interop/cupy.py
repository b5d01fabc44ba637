"""Arrays in symmetric memory: CuPy's on a GPU, NumPy's on the host."""

from __future__ import annotations

from typing import Any

from ... import _atoll
from .._state import STATE, memory_of, translated
from ..memory import no_multicast, register, unregister
from ._common import allocate, buffer_of, free_any, peer_of

__all__ = [
    "array",
    "array_get_buffer",
    "bytearray",
    "free_array",
    "get_multicast_array",
    "get_peer_array",
    "register_external_array",
    "unregister_external_array",
]


def _in_library(x: Any) -> Any:
    """Return an array of a GPU as CuPy's if CuPy is installed, else as an atoll.DeviceArray."""
    if not STATE.on_gpu:
        return x
    try:
        return x.cupy()
    except _atoll.Unsupported:
        return x


@translated
def array(
    shape: Any, dtype: Any = "float32", release: bool = False, morder: str = "C", except_on_del: bool = True
) -> Any:
    """Return a new symmetric array, filled with zeros on all PEs.

    Collective over all PEs. The library keeps the memory until free_array() or finalize(), so `release` and
    `except_on_del` change nothing.

    Parameters
    ----------
    shape
        An int or a sequence of ints, equal on all PEs.
    dtype
        Any dtype of NumPy, by name or itself.
    morder
        "C" or "F".

    Returns
    -------
    cupy.ndarray or numpy.ndarray
        On a GPU CuPy's, or an atoll.DeviceArray if CuPy is missing. NumPy's without a GPU.

    Raises
    ------
    NvshmemInvalid
        Outside init() and finalize(), or a wrong argument.
    NvshmemError
        The symmetric heap has too little room.
    """
    return _in_library(allocate("array", shape, dtype, morder))


@translated
def bytearray(
    shape: Any,
    dtype: Any = "float32",
    release: bool = False,
    device_id: int | None = None,
    morder: str = "C",
    except_on_del: bool = True,
) -> Any:
    """Return a new symmetric array of int8 with this shape; `dtype` is ignored, as NVSHMEM4Py 0.4 does.

    Collective over all PEs. The other arguments and errors are array's; device_id is this PE's.
    """
    return _in_library(allocate("bytearray", shape, "int8", morder))


def array_get_buffer(array: Any) -> tuple[Any, int, str]:
    """Return the Buffer of an array's allocation, the array's bytes, and the name of its dtype. Local.

    Raises
    ------
    NvshmemInvalid
        The array does not begin at an allocation of nvshmem.core.
    """
    return buffer_of(array)


@translated
def get_peer_array(array: Any, peer_pe: int | None = None) -> Any:
    """Return PE peer_pe's copy of a symmetric array, for loads and stores. Local. It need not be freed.

    Raises
    ------
    NvshmemInvalid
        The array is not symmetric, or there is no such PE.
    NvshmemError
        That PE's memory cannot be reached, since it is on another host.
    """
    return peer_of("get_peer_array", memory_of(array), peer_pe)


def get_multicast_array(team: Any, array: Any) -> Any:
    """Raise NvshmemError: Atoll has no multicast memory."""
    raise no_multicast("get_multicast_array")


@translated
def register_external_array(array: Any) -> Any:
    """Return a symmetric array over memory of a GPU that CuPy allocated. Collective over all PEs.

    Errors are those of register_external_buffer.
    """
    return register(array, "register_external_array")


@translated
def unregister_external_array(array: Any) -> None:
    """End the registration of an array that register_external_array returned. Collective over all PEs."""
    unregister(array)


@translated
def free_array(array: Any) -> None:
    """Free an array. Collective over all PEs, in the same order on all.

    An array of get_peer_array is left alone. One that was freed before is an error in the log.
    """
    free_any(array)
