"""Tensors of CuTe DSL in symmetric memory, and the compilation of its kernels."""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import cutlass.cute
from cutlass import Float32
from cutlass.cute.runtime import from_dlpack

from .._state import STATE, NvshmemInvalid, address_of, require, translated_as
from ..init_fini import library_init
from ..memory import no_multicast, register, unregister
from ..nvshmem_types import NvshmemKernelObject
from ._common import allocate, buffer_of, free_any, peer_of

__all__ = [
    "bytetensor",
    "cleanup_cute",
    "cute_compile_helper",
    "free_tensor",
    "get_multicast_tensor",
    "get_peer_tensor",
    "register_external_tensor",
    "tensor",
    "tensor_get_buffer",
    "unregister_external_tensor",
]
_arrays: dict[int, Any] = {}
"""The arrays behind tensors, by address."""
_sources: dict[int, Any] = {}
"""The tensors whose memory was registered, by the address of the result: they keep that memory alive."""


def forget() -> None:
    """Drop all tensors, at the end of the job."""
    _arrays.clear()
    _sources.clear()


def _shown(array: Any) -> Any:
    _arrays[address_of(array)] = array
    return from_dlpack(array)


def _array_of(function: str, x: Any) -> Any:
    address = int(getattr(x, "data_ptr", 0))
    if address not in STATE.blocks or address not in _arrays:
        raise NvshmemInvalid(
            f"nvshmem.core.interop.cute.{function}: the tensor does not begin at an allocation, or was freed; pass what "
            "tensor() or register_external_tensor() returned."
        )
    return _arrays[address]


def _name_of(dtype: Any) -> str:
    """Return NumPy's name of a type of CuTe: Float32 is float32, Float8E5M2 float8_e5m2."""
    name = getattr(dtype, "__name__", str(dtype)).lower()
    return name.replace("float8e", "float8_e")


@translated_as("interop.cute.tensor")
def tensor(
    shape: Any, dtype: Any = Float32, release: bool = False, morder: str = "C", except_on_del: bool = True
) -> Any:
    """Return a new symmetric cute.Tensor, filled with zeros on all PEs. Collective over all PEs.

    `release` and `except_on_del` change nothing.
    """
    return _shown(allocate("interop.cute.tensor", shape, _name_of(dtype), morder))


@translated_as("interop.cute.bytetensor")
def bytetensor(
    shape: Any, dtype: Any = Float32, release: bool = False, morder: str = "C", except_on_del: bool = True
) -> Any:
    """The same as tensor."""
    return _shown(allocate("interop.cute.bytetensor", shape, _name_of(dtype), morder))


def tensor_get_buffer(tensor: Any) -> tuple[Any, int, str]:
    """Return the Buffer of a tensor's allocation, the tensor's bytes, and its dtype's name."""
    return buffer_of(_array_of("tensor_get_buffer", tensor))


@translated_as("interop.cute.free_tensor")
def free_tensor(tensor: Any) -> None:
    """Free a tensor. Collective over all PEs."""
    free_any(_array_of("free_tensor", tensor))
    _arrays.pop(int(tensor.data_ptr), None)


@translated_as("interop.cute.get_peer_tensor")
def get_peer_tensor(tensor: Any, peer_pe: int | None = None) -> Any:
    """Return PE peer_pe's copy of a tensor. Local."""
    made = from_dlpack(peer_of("interop.cute.get_peer_tensor", _array_of("get_peer_tensor", tensor), peer_pe))
    made.element_type = tensor.element_type  # registered memory is known by the size of its elements
    return made


def get_multicast_tensor(team: Any, tensor: Any) -> Any:
    """Raise NvshmemError: Atoll has no multicast memory."""
    raise no_multicast("interop.cute.get_multicast_tensor")


class _Memory:
    """A tensor's memory by CUDA's array interface, as unsigned integers of the elements' size."""

    def __init__(self, tensor: Any) -> None:
        nbytes = tensor.element_type.width // 8
        if nbytes not in (1, 2, 4, 8):
            raise NvshmemInvalid(
                f"nvshmem.core.interop.cute.register_external_tensor: elements of {tensor.element_type.__name__} have "
                f"{tensor.element_type.width} bits; pass a tensor with elements of 1, 2, 4 or 8 bytes."
            )
        self.__cuda_array_interface__ = {
            "shape": tuple(tensor.shape), "typestr": f"<u{nbytes}", "strides": tuple(nbytes * n for n in tensor.stride),
            "data": (int(tensor.data_ptr), False), "version": 3,
        }  # fmt: skip


@translated_as("interop.cute.register_external_tensor")
def register_external_tensor(tensor: Any) -> Any:
    """Return a symmetric tensor over memory of a GPU that another library allocated. Collective over all PEs.

    The tensor is one of cutlass.cute.runtime.from_dlpack. Errors are those of register_external_buffer.
    """
    require()
    if not hasattr(tensor, "data_ptr") or not hasattr(tensor, "element_type"):
        raise NvshmemInvalid(
            f"nvshmem.core.interop.cute.register_external_tensor: a {type(tensor).__name__} is no tensor with memory; pass "
            "the result of cutlass.cute.runtime.from_dlpack."
        )
    registered = register(_Memory(tensor), "interop.cute.register_external_tensor")
    made = _shown(registered)
    made.element_type = tensor.element_type
    _sources[address_of(registered)] = tensor
    return made


@translated_as("interop.cute.unregister_external_tensor")
def unregister_external_tensor(tensor: Any) -> None:
    """End the registration of a tensor that register_external_tensor returned. Collective over all PEs."""
    require()
    unregister(_array_of("unregister_external_tensor", tensor))
    _arrays.pop(int(tensor.data_ptr), None)
    _sources.pop(int(tensor.data_ptr), None)


def cleanup_cute() -> None:
    """Do nothing: no state of CuTe DSL is kept."""


def cute_compile_helper(kernel_fn: Any, *args: Any, **kwargs: Any) -> tuple[Any, NvshmemKernelObject]:
    """Compile a function of @cute.jit, and return it with the object for library_finalize. Local."""
    compiled = cutlass.cute.compile(kernel_fn, *args, **kwargs)
    try:
        handle = int(compiled.library)
    except (AttributeError, TypeError, ValueError):
        handle = 0
    made = NvshmemKernelObject.from_handle(handle)
    library_init(made)
    return compiled, made
