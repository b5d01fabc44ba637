"""Conversions between symmetric arrays of a GPU and the arrays of other libraries.

Imported when the first array of a GPU is made, or a kernel's team is requested. It imports another library
only to make an array of that library.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _atoll, _versions

# Types that NumPy has no name for, each represented by a field of that name. The order is DLPack's.
_SPECIAL = {
    name: np.dtype([(name, np.uint16 if name == "bfloat16" else np.uint8)])
    for name in (
        "bfloat16",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
}


def is_freed(x: Any) -> bool:
    """Return whether x was a symmetric array and is freed, so that a kernel must not use it."""
    try:
        if _atoll.is_symmetric(x):
            return False
    except _atoll.InvalidArgument:  # it has no array interface; its own library refuses it
        return False
    if not _atoll.is_initialized():
        return isinstance(x, _atoll.DeviceArray)
    try:
        _atoll.peer(x, _atoll.my_pe())
    except _atoll.UseAfterFree:
        return True
    except (_atoll.Error, TypeError):  # an ordinary array, or one unknown to Atoll
        pass
    return False


def freed(what: str, x: Any) -> _atoll.UseAfterFree:
    """Return the UseAfterFree error for x. `what` is the beginning of its text."""
    return _atoll.UseAfterFree(
        f"{what}, an array of shape {tuple(x.shape)}, was freed by atoll.free() or belongs to a job that was finalized; "
        "allocate another."
    )


def mailbox_parts(block: Any, room: int | None, function: str) -> tuple[Any, int]:
    """Return `block` and `room` from the arguments of a language's mailbox(): these two, or an atoll.Mailbox
    of the GPU alone.

    Raises Unsupported (a mailbox in memory of the host), UseAfterFree, TypeError (no room).
    """
    if isinstance(block, _atoll.Mailbox):
        return block.block, block.capacity_bytes()
    if room is None:
        raise TypeError(f"{function}: pass room, the bytes of the longest message, or an atoll.Mailbox alone")
    return block, room


def mailbox_address(function: str, block: Any, room: int, per_pe: int) -> int:
    """Return the address of `block`, an array for mailboxes of per_pe bytes for each PE. Errors begin with
    `function`.

    Raises TypeError (no array in GPU memory), UseAfterFree, NotSymmetric, ValueError (too small even for a
    single PE).
    """
    ask = "atoll.zeros(mailbox_bytes(n_pes, room), np.uint8, device='cuda')"
    if not isinstance(block, _atoll.DeviceArray) and not hasattr(block, "__cuda_array_interface__"):
        raise TypeError(
            f"{function}: block is {type(block).__name__}; it must be a symmetric uint8 array in GPU memory: {ask}"
        )
    if is_freed(block):
        raise freed(f"{function}: block", block)
    if not _atoll.is_symmetric(block):
        raise _atoll.NotSymmetric(
            f"{function}: block is an ordinary array; it must be a symmetric one: {ask}"
        )
    interface = block.__cuda_array_interface__
    nbytes = int(np.prod(interface["shape"])) * np.dtype(interface["typestr"]).itemsize
    if room < 0 or nbytes < per_pe:
        raise ValueError(
            f"{function}: room is {room}, and block has {nbytes} bytes; it needs mailbox_bytes(n_pes, room), "
            f"{per_pe} for each PE of the team"
        )
    return int(interface["data"][0])


class DeviceTeam(NamedTuple):
    """A team as kernels take it, by value: the fields of atl::device::Team (atoll/device/team.hpp), in its
    order.

    If the data are at address x here, PE pe's copy is at x + (slot - my_slot) * stride. The `slot` is first +
    pe * step. If `table` is not 0, it is int32 number pe of that table instead.
    """

    my_pe: int
    n_pes: int
    window: int
    stride: int
    my_slot: int
    first: int
    step: int
    table: int
    control: int
    trace: int


_ADDRESS, _LONG, _INT = np.uint64, np.int64, np.int32
_KINDS = (_INT, _INT, _ADDRESS, _LONG, _INT, _INT, _INT, _ADDRESS, _ADDRESS, _ADDRESS)
TEAM = np.dtype(list(zip(DeviceTeam._fields, _KINDS, strict=True)), align=True)
"""atl::device::Team as NumPy's structure."""


def is_tensor(x: Any) -> bool:
    """Return whether x is a tensor of PyTorch, which is not imported for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return NumPy's dtype for one of NumPy, PyTorch or ml_dtypes, or for a name."""
    name = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    if name.startswith("<class"):
        name = getattr(dtype, "__name__", name)
    if name in _SPECIAL:
        return _SPECIAL[name]
    if type(dtype).__module__ == "torch":
        dtype = name
    try:
        known: np.dtype[Any] = np.dtype(dtype)
        return known
    except TypeError:
        raise _atoll.DtypeMismatch(
            f"dtype {dtype!r} cannot be used in symmetric memory; pass a dtype of NumPy, or one of {', '.join(_SPECIAL)}."
        ) from None


def special_name(dtype: np.dtype[Any]) -> str | None:
    """Return 'bfloat16' and the like for the dtype that represents such a type; None for others."""
    if dtype.names is not None and len(dtype.names) == 1 and _SPECIAL.get(dtype.names[0]) == dtype:
        return dtype.names[0]
    return None


def _need(library: str, name: str) -> Any:
    return _versions.need(name, library, _atoll.Unsupported)


def check_version(library: str) -> None:
    """Check a library's version when the first of its arrays is passed. Raises Unsupported if it is too old."""
    row = _versions.LIBRARIES[library]
    if (words := _versions.unknown(f"An array of {row.name}", library)) is not None:
        raise _atoll.Unsupported(words)


def to_cupy(x: _atoll.DeviceArray) -> Any:
    """Return the same memory as a cupy.ndarray, which keeps x alive."""
    cupy = _need("cupy", "An array of CuPy")
    if is_freed(x):
        raise freed("DeviceArray.cupy(): x", x)
    if (special := special_name(x.dtype)) is not None:
        raise _atoll.DtypeMismatch(
            f"CuPy has no {special}; use x.torch(), or x.view(np.uint{8 * x.itemsize})."
        )
    low, high = _extent(x)
    memory = cupy.cuda.UnownedMemory(low, max(high - low, 1), x, x.device)
    return cupy.ndarray(
        x.shape, x.dtype, memptr=cupy.cuda.MemoryPointer(memory, x.ptr - low), strides=x.strides
    )


def _extent(x: _atoll.DeviceArray) -> tuple[int, int]:
    reach = [(n - 1) * stride for n, stride in zip(x.shape, x.strides, strict=True) if n > 0]
    return x.ptr + sum(r for r in reach if r < 0), x.ptr + sum(r for r in reach if r > 0) + x.itemsize


def to_torch(x: _atoll.DeviceArray) -> Any:
    """Return the same memory as a torch.Tensor, which keeps x alive."""
    torch = _need("torch", "A tensor of PyTorch")
    if not torch.cuda.is_available():
        raise _atoll.Unsupported("This PyTorch has no CUDA; install one that has: see https://pytorch.org.")
    special = special_name(x.dtype)
    if special is None:
        return torch.from_dlpack(x)
    if not hasattr(torch, special):
        raise _atoll.DtypeMismatch(f"PyTorch {torch.__version__} has no {special}; a newer one may.")
    return torch.from_dlpack(x.view(np.int16 if x.itemsize == 2 else np.uint8)).view(getattr(torch, special))


def to_buffer(x: _atoll.DeviceArray) -> Any:
    """Return the same memory as a cuda.core.Buffer, which keeps x alive."""
    core = _need("cuda-core", "A Buffer")
    if is_freed(x):
        raise freed("DeviceArray.buffer(): x", x)
    low, high = _extent(x)
    if high - low != max(x.nbytes, 1) and x.nbytes != 0:
        raise _atoll.Unsupported("DeviceArray.buffer() needs a contiguous array.")
    return core.Buffer.from_handle(x.ptr, x.nbytes, owner=x)


def assign(view: _atoll.DeviceArray, value: Any) -> None:
    """Do view[...] = value as NumPy does, without casts between arrays of a GPU. Raises ShapeMismatch."""
    if isinstance(value, _atoll.DeviceArray) or hasattr(value, "__cuda_array_interface__"):
        shape = value.shape if hasattr(value, "shape") else value.__cuda_array_interface__["shape"]
        if tuple(shape) != view.shape:
            raise _misfit(
                view, shape, "an array of a GPU is taken as it is: reshape it, or use x.cupy() or x.torch()"
            )
    else:
        value = on_host(view.dtype, value)
        try:
            value = np.broadcast_to(value, view.shape)
        except ValueError:
            raise _misfit(
                view, value.shape, "it must be of that shape, or broadcast to it as NumPy does"
            ) from None
    _atoll.put(view, value, _atoll.my_pe())


def _misfit(view: _atoll.DeviceArray, shape: Any, ask: str) -> _atoll.ShapeMismatch:
    return _atoll.ShapeMismatch(
        f"x[...] = value: the value has shape {tuple(shape)}, the target has {view.shape}; {ask}."
    )


def on_host(dtype: np.dtype[Any], value: Any) -> np.ndarray[Any, Any]:
    """Return `value` as an array of that dtype, which may represent a type that NumPy does not have."""
    special = special_name(dtype)
    if special is not None and is_tensor(value):  # NumPy cannot convert PyTorch's narrow tensors
        value = value.detach().float().numpy()
    if special is not None and str(getattr(value, "dtype", None)) == special:  # ml_dtypes'
        value = value.view(dtype)
    elif special is not None and getattr(value, "dtype", None) != dtype:
        from ._narrow import narrowed

        value = narrowed(special, value).view(dtype)
    return value if isinstance(value, np.ndarray) else np.asarray(value, dtype)


def dtype_of_dlpack(code: int, bits: int) -> np.dtype[Any] | None:
    """Return NumPy's dtype for DLPack's type code and bits, or `None`."""
    special = {
        4: "bfloat16",
        10: "float8_e4m3fn",
        11: "float8_e4m3fnuz",
        12: "float8_e5m2",
        13: "float8_e5m2fnuz",
    }
    special[14] = "float8_e8m0fnu"
    if code in special:
        return _SPECIAL[special[code]]
    kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(code)
    return None if kind is None else np.dtype(f"{kind}{bits // 8}")


def cupy_current_stream() -> Any:
    """Return CuPy's function get_current_stream."""
    import cupy

    return cupy.cuda.get_current_stream


@functools.cache
def _handles_of(library: str) -> Callable[[int], int]:
    """Return a function from the number of a GPU to the handle of a library's current stream there."""
    if library != "torch":
        current = cupy_current_stream()
        return lambda device: int(current().ptr)
    import torch

    # Triton takes the handle by this function, too. It makes no Stream, which takes microseconds.
    by_handle: Callable[[int], int] | None = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return by_handle or (lambda device: int(torch.cuda.current_stream(device).cuda_stream))


def current_stream(library: str | None, device: int) -> int:
    """Return the handle of a library's current stream. Without a library: of those in use, if their streams
    are the same.
    """
    if library is not None:
        return _handles_of(library)(device)
    in_use = ["cupy"] if "cupy" in sys.modules else []
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
        in_use.append("torch")
    found = {_handles_of(name)(device) for name in in_use}
    if len(found) != 1:
        raise _atoll.InvalidArgument(
            'stream="current" is the current stream of the library of the array that is passed, CuPy or PyTorch. '
            "No array of theirs was passed (atoll.DeviceArray belongs to neither)"
            f"{'; ' + ' and '.join(in_use) + ' are on different streams' if found else ''}. Name the stream "
            "(pass the stream itself), or pass the array as CuPy's or PyTorch's: x.cupy(), x.torch()."
        )
    return found.pop()


def device_of(device: Any, function: str) -> bool:
    """Return True for "cuda", False for "cpu". The number of a GPU, if given, is compared after the
    allocation.
    """
    kind, _, number = str(device).partition(":")
    if kind == "cpu" or (kind == "cuda" and (not number or number.isdigit())):
        return kind == "cuda"
    raise _atoll.InvalidArgument(
        f'{function}(): device is {device!r}; pass "cpu", or "cuda" for this PE\'s GPU.'
    )


def check_number(number: str, device: int, function: str) -> None:
    """Raise InvalidArgument if the number of a GPU that was given to a function is not that of the PE's GPU."""
    if int(number) != device:
        raise _atoll.InvalidArgument(
            f"{function}(): device is 'cuda:{number}', but this PE's symmetric memory is on GPU {device}; pass"
            " 'cuda', or choose by ATOLL_DEVICE, LOCAL_RANK or CUDA_VISIBLE_DEVICES."
        )


def library_of(xp: Any, on_device: bool, function: str) -> str:
    """Return 'cupy', 'torch' or 'numpy' for the module passed as xp=, or '' for None."""
    name = getattr(xp, "__name__", None)
    allowed = ("cupy", "torch") if on_device else ("numpy",)
    if xp is None:
        return ""
    if name not in allowed:
        raise _atoll.InvalidArgument(
            f"{function}(): xp is {xp!r}; with device={'cuda' if on_device else 'cpu'!r} pass "
            f"{' or '.join(allowed)} (the module), or None{' for an atoll.DeviceArray' if on_device else ''}."
        )
    return str(name)


def check_library(library: str) -> None:
    """Raise an error if the library is missing, before any collective operation."""
    if library == "torch" and not _need("torch", "A tensor of PyTorch").cuda.is_available():
        raise _atoll.Unsupported("This PyTorch has no CUDA; install one that has: see https://pytorch.org.")


def as_library(x: _atoll.DeviceArray, library: str) -> Any:
    """Return x as an array of 'cupy' or 'torch', or x itself."""
    return to_cupy(x) if library == "cupy" else to_torch(x) if library == "torch" else x
