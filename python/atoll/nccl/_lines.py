"""Buffers of a program as contiguous lines that Atoll's calls take."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from .._device import is_tensor
from ._errors import NcclInvalid
from .typing import ITEM_BYTES, NARROW, NcclDataType, named

CODES = {1: np.uint8, 2: np.uint16}
"""Types of the codes of elements whose type NumPy has not, by their size."""
_kinds: dict[Any, NcclDataType] = {}
"""Types of dtypes of NumPy and PyTorch that were passed before."""
_readers: dict[type, Callable[[Any, str], Line | DeviceLine]] = {}
"""Functions that read buffers, by the buffers' type."""


class Line:
    """A buffer's elements in the order of its memory."""

    __slots__ = ("array", "kind", "origin")
    on_gpu = False

    def __init__(self, array: Any, kind: NcclDataType, origin: Any) -> None:
        self.array = array
        """An array of NumPy of one dimension; of types that NumPy has not, their codes."""
        self.kind = kind
        self.origin = origin
        """The same elements under their own type: NumPy's, ml_dtypes' or PyTorch's."""

    def __len__(self) -> int:
        return len(self.array)

    @property
    def address(self) -> int:
        """The address of the first element."""
        return address_of(self.array)

    def part(self, first: int, end: int) -> Line:
        """Return the elements from `first` to before `end`."""
        if (first, end) == (0, len(self)):
            return self
        return Line(self.array[first:end], self.kind, self.origin[first:end])

    def wide(self) -> Any:
        """Return a copy as float32."""
        return self.origin.float().numpy() if is_tensor(self.origin) else self.origin.astype(np.float32)

    def wide_scalar(self) -> Any:
        """Return the only element as a number."""
        return self.origin.item()

    def set_from_wide(self, values: Any) -> None:
        """Round float32 into the elements."""
        if is_tensor(self.origin):
            self.origin.copy_(sys.modules["torch"].from_numpy(values))
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                self.origin[...] = values.astype(self.origin.dtype)


class DeviceLine:
    """A buffer's elements on a GPU, in the order of its memory."""

    __slots__ = ("address", "count", "is_read_only", "kind", "owner")
    on_gpu = True

    def __init__(
        self, address: int, count: int, kind: NcclDataType, owner: Any, is_read_only: bool = False
    ) -> None:
        self.address, self.count, self.kind, self.is_read_only = address, count, kind, is_read_only
        self.owner = owner
        """The buffer, which keeps the memory."""

    def __len__(self) -> int:
        return self.count

    @property
    def span(self) -> tuple[int, int]:
        """The address, and bytes."""
        return self.address, self.count * ITEM_BYTES[self.kind]

    @property
    def shown(self) -> Any:
        """The buffer, or its bytes, as an array that Atoll's calls take."""
        return (
            self.owner if hasattr(self.owner, "__cuda_array_interface__") else self.bytes_at(0, self.span[1])
        )

    def bytes_at(self, first: int, nbytes: int) -> Shown:
        """Return an object over some of the bytes."""
        return Shown(self.address + first, nbytes, np.dtype(np.uint8), self.owner)

    def part(self, first: int, end: int) -> DeviceLine:
        """Return the elements from `first` to before `end`."""
        if (first, end) == (0, self.count):
            return self
        return DeviceLine(self.address + first * ITEM_BYTES[self.kind], end - first, self.kind, self.owner)

    def wide_scalar(self) -> Any:
        """Return the only element as a number. Waits for the GPU."""
        return self.owner.item()


class Shown:
    """An array on a GPU that is known by its address only."""

    def __init__(self, address: int, count: int, dtype: np.dtype[Any], owner: Any) -> None:
        self.shape, self.dtype, self.owner = (count,), dtype, owner
        data = (address, False)
        self.__cuda_array_interface__ = {
            "shape": self.shape,
            "typestr": dtype.str,
            "data": data,
            "version": 3,
        }

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: slice) -> Shown:
        first, end, _ = part.indices(len(self))
        address = int(self.__cuda_array_interface__["data"][0]) + first * self.dtype.itemsize  # type: ignore[index]
        return Shown(address, end - first, self.dtype, self.owner)


def address_of(x: Any) -> int:
    """Return the address of an array's first byte."""
    if isinstance(x, np.ndarray):
        return int(x.__array_interface__["data"][0])
    return int(x.data_ptr()) if is_tensor(x) else int(x.__cuda_array_interface__["data"][0])


def line_of(x: Any, name: str, writable: bool = False) -> Line | DeviceLine:
    """Return the line of a buffer.

    Parameters
    ----------
    x
        An array of NumPy, CuPy or Atoll, a tensor, a Buffer, or an object with DLPack's or an array interface.
    name
        The argument's name in errors.
    writable
        The call writes to it.

    Raises
    ------
    NcclInvalid
        x is something else, not contiguous, or of a type that NCCL has not.
    """
    line = (_readers.get(type(x)) or _reader_of(x))(x, name)
    if writable and (line.is_read_only if isinstance(line, DeviceLine) else not line.array.flags.writeable):
        raise NcclInvalid(f"nccl.core: {name} is read-only; pass a writable array.")
    return line


def _reader_of(x: Any) -> Callable[[Any, str], Line | DeviceLine]:
    """Return the function that reads buffers of an object's type."""
    if isinstance(x, np.ndarray):
        reader: Any = _of_numpy
    elif is_tensor(x):
        reader = _of_tensor
    else:
        reader = _of_gpu if hasattr(x, "__cuda_array_interface__") else _of_other
    # Only of these libraries is it known that all objects of a type show the same.
    if type(x).__module__.partition(".")[0] in ("numpy", "torch", "cupy"):
        _readers[type(x)] = reader
    return cast("Callable[[Any, str], Line | DeviceLine]", reader)


def _of_numpy(x: Any, name: str) -> Line:
    flags = x.flags
    if not (flags.c_contiguous or flags.f_contiguous):
        raise _not_contiguous(name, x.shape)
    kind = _kinds.get(x.dtype)
    if kind is None:
        kind = _kinds[x.dtype] = NcclDataType.from_numpy_dtype(x.dtype)
    flat = x if x.ndim == 1 else x.reshape(-1, order="A")
    return Line(flat.view(CODES[kind.itemsize]) if kind in NARROW else flat, kind, flat)


def _of_tensor(x: Any, name: str) -> Line | DeviceLine:
    kind = _kinds.get(x.dtype) or named(str(x.dtype).removeprefix("torch."))
    if kind is None:
        raise NcclInvalid(
            f"nccl.core: {name} has {x.dtype}, for which NCCL has no data type; convert the tensor."
        )
    if not x.is_contiguous() and not x.permute(*reversed(range(x.dim()))).is_contiguous():
        raise _not_contiguous(name, x.shape)
    _kinds[x.dtype] = kind
    if x.is_cuda:
        return DeviceLine(x.data_ptr(), x.numel(), kind, x)
    flat = x.detach()
    flat = flat.reshape(-1) if x.is_contiguous() else flat.permute(*reversed(range(x.dim()))).reshape(-1)
    if kind not in NARROW:
        return Line(flat.numpy(), kind, flat)
    codes = flat.view(
        sys.modules["torch"].int16 if kind.itemsize == 2 else sys.modules["torch"].uint8
    ).numpy()
    return Line(codes.view(CODES[kind.itemsize]), kind, flat)


def _of_gpu(x: Any, name: str) -> DeviceLine:
    interface: Any = None
    address: Any = getattr(getattr(x, "data", None), "ptr", None)
    if type(address) is not int or not hasattr(x, "flags"):
        interface = x.__cuda_array_interface__
    dtype = getattr(x, "dtype", None) or np.dtype(interface["typestr"])
    kind = _kinds.get(dtype) or named(str(dtype))
    if kind is None:
        raise NcclInvalid(
            f"nccl.core: {name} has dtype {dtype}, for which NCCL has no data type; convert the array."
        )
    _kinds[dtype] = kind
    if interface is None:  # CuPy's, whose interface is a new dictionary at each access
        if not (x.flags.c_contiguous or x.flags.f_contiguous):
            raise _not_contiguous(name, x.shape)
        return DeviceLine(address, x.size, kind, x)
    shape, strides = interface["shape"], interface.get("strides")
    if strides is not None and not _is_dense(shape, strides, kind.itemsize):
        raise _not_contiguous(name, shape)
    (address, is_read_only) = interface["data"]
    return DeviceLine(int(address), math.prod(shape), kind, x, bool(is_read_only))


def _is_dense(shape: Any, strides: Any, item: int) -> bool:
    """Return whether elements lie one after another, in C's or Fortran's order."""
    for order in (1, -1):
        step, dense = item, True
        for extent, stride in list(zip(shape, strides, strict=True))[::-order]:
            dense = dense and (extent == 1 or stride == step)
            step *= extent
        if dense or step == 0:
            return True
    return False


def _of_other(x: Any, name: str) -> Line | DeviceLine:
    memory = getattr(x, "memory", None)
    if memory is not None and hasattr(x, "handle"):  # a Buffer; cuda.core's shows its bytes as int8
        return line_of(memory.view(np.int8), name)
    if hasattr(x, "handle") and getattr(x, "is_device_accessible", False):
        return DeviceLine(int(x.handle), int(x.size), NcclDataType.INT8, x)
    if hasattr(x, "__dlpack__"):
        try:
            return line_of(np.from_dlpack(x), name)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise NcclInvalid(
                f"nccl.core: {name}, a {type(x).__name__}, has no memory of the host: {error}"
            ) from error
    if hasattr(x, "__array_interface__"):
        return line_of(np.asarray(x), name)
    raise NcclInvalid(
        f"nccl.core: {name} is a {type(x).__name__}; pass an array of NumPy or CuPy, a tensor, a Buffer, or an object with "
        "DLPack."
    )


def _not_contiguous(name: str, shape: Any) -> NcclInvalid:
    return NcclInvalid(
        f"nccl.core: {name} of shape {tuple(shape)} is not contiguous; pass a contiguous copy of it."
    )
