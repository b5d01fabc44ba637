"""Tensors of PyTorch in symmetric memory: on the GPU, or on the host without one."""

from __future__ import annotations

import importlib
from typing import Any

from .._state import NARROW, STATE, block_of, translated
from ..memory import no_multicast, register, unregister
from ._common import allocate, buffer_of, free_any, peer_of

__all__ = [
    "bytetensor",
    "free_tensor",
    "get_multicast_tensor",
    "get_peer_tensor",
    "register_external_tensor",
    "tensor",
    "tensor_get_buffer",
    "unregister_external_tensor",
]


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "nvshmem.core.tensor needs PyTorch: pip install torch. nvshmem.core.array needs NumPy alone.",
            name="torch",
        ) from error


def _make(function: str, shape: Any, dtype: Any, morder: str) -> Any:
    torch = _torch()
    kind = str(torch.get_default_dtype() if dtype is None else dtype).removeprefix("torch.")
    if STATE.on_gpu:
        return allocate(function, shape, kind, morder).torch()
    bits = NARROW.get(f"torch.{kind}")
    made = torch.from_numpy(allocate(function, shape, bits or kind, morder))
    return made.view(getattr(torch, kind)) if bits else made


@translated
def tensor(
    shape: Any, dtype: Any = "float32", release: bool = False, morder: str = "C", except_on_del: bool = True
) -> Any:
    """Return a new symmetric tensor, filled with zeros on all PEs.

    Collective over all PEs. The library keeps the memory until free_tensor() or finalize(), so `release` and
    `except_on_del` change nothing.

    Parameters
    ----------
    shape
        An int or a sequence of ints, equal on all PEs.
    dtype
        A dtype of PyTorch; None is its default dtype.
    morder
        "C" or "F".

    Returns
    -------
    torch.Tensor
        On this PE's GPU, or on the CPU without one.

    Raises
    ------
    NvshmemInvalid
        Outside init() and finalize(), or a wrong argument.
    NvshmemError
        The symmetric heap has too little room.
    ModuleNotFoundError
        PyTorch is not installed.
    """
    return _make("tensor", shape, dtype, morder)


@translated
def bytetensor(
    shape: Any, dtype: Any = "float32", release: bool = False, morder: str = "C", except_on_del: bool = True
) -> Any:
    """Return a new symmetric tensor of uint8 with this shape; `dtype` is ignored, as NVSHMEM4Py 0.4 does.

    Collective over all PEs. The other arguments and errors are tensor's.
    """
    return _make("bytetensor", shape, "uint8", morder)


def tensor_get_buffer(tensor: Any) -> tuple[Any, int, str]:
    """Return the Buffer of a tensor's allocation, the tensor's bytes, and the name of its dtype. Local.

    Raises
    ------
    NvshmemInvalid
        The tensor does not begin at an allocation of nvshmem.core.
    """
    return buffer_of(tensor)


@translated
def get_peer_tensor(tensor: Any, peer_pe: int | None = None) -> Any:
    """Return PE peer_pe's copy of a symmetric tensor, for loads and stores. Local. It need not be freed.

    Errors are those of get_peer_array.
    """
    if STATE.on_gpu:
        return peer_of("get_peer_tensor", tensor, peer_pe)
    # NumPy's view of a tensor does not keep the allocation, of which another PE's copy is made.
    there = peer_of("get_peer_tensor", block_of(tensor).memory, peer_pe)
    return _torch().from_numpy(there).view(tensor.dtype).as_strided(tensor.shape, tensor.stride())


def get_multicast_tensor(team: Any, tensor: Any) -> Any:
    """Raise NvshmemError: Atoll has no multicast memory."""
    raise no_multicast("get_multicast_tensor")


@translated
def register_external_tensor(tensor: Any) -> Any:
    """Return a symmetric tensor over memory of a GPU that PyTorch allocated. Collective over all PEs.

    PyTorch must allocate by PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. Errors are those of
    register_external_buffer.
    """
    return register(tensor, "register_external_tensor")


@translated
def unregister_external_tensor(tensor: Any) -> None:
    """End the registration of a tensor that register_external_tensor returned. Collective over all PEs."""
    unregister(tensor)


@translated
def free_tensor(tensor: Any) -> None:
    """Free a tensor. Collective over all PEs, in the same order on all.

    A tensor of get_peer_tensor is left alone. One that was freed before is an error in the log.
    """
    free_any(tensor)
