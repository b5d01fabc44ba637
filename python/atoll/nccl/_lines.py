"""Buffers of a program as contiguous lines that Atoll's calls take."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ._errors import NcclInvalid
from .typing import NARROW, NcclDataType, named

CODES = {1: np.uint8, 2: np.uint16}
"""Types of the codes of elements whose type NumPy has not, by their size."""
_kinds: dict[np.dtype[Any], NcclDataType] = {}
"""Types of dtypes that were passed before."""


class Line:
    """A buffer's elements in the order of its memory."""

    __slots__ = ("array", "kind", "origin")

    def __init__(self, array: Any, kind: NcclDataType, origin: Any) -> None:
        self.array = array
        """An array of NumPy of one dimension; of types that NumPy has not, their codes. On a GPU: of its own library."""
        self.kind = kind
        self.origin = origin
        """The same elements under their own type: NumPy's, ml_dtypes' or PyTorch's."""

    def __len__(self) -> int:
        return len(self.array)

    @property
    def on_gpu(self) -> bool:
        """Whether the memory is a GPU's."""
        return not isinstance(self.array, np.ndarray)

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


class Shown:
    """Elements of a GPU that have an address only."""

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


def is_tensor(x: Any) -> bool:
    """Return whether x is a tensor of PyTorch, which is not imported for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def address_of(x: Any) -> int:
    """Return the address of an array's first byte."""
    if isinstance(x, np.ndarray):
        return int(x.__array_interface__["data"][0])
    return int(x.data_ptr()) if is_tensor(x) else int(x.__cuda_array_interface__["data"][0])


def line_of(x: Any, name: str, writable: bool = False) -> Line:
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
    if isinstance(x, np.ndarray):
        line = _of_numpy(x, name)
    elif is_tensor(x):
        line = _of_tensor(x, name)
    elif hasattr(x, "__cuda_array_interface__"):
        line = _of_gpu(x, name)
    else:
        line = _of_other(x, name)
    if writable and isinstance(line.array, np.ndarray) and not line.array.flags.writeable:
        raise NcclInvalid(f"nccl.core: {name} is read-only; pass a writable array.")
    return line


def _of_numpy(x: Any, name: str) -> Line:
    flags = x.flags
    if not (flags.c_contiguous or flags.f_contiguous):
        raise _not_contiguous(name, x)
    kind = _kinds.get(x.dtype)
    if kind is None:
        kind = _kinds[x.dtype] = NcclDataType.from_numpy_dtype(x.dtype)
    flat = x if x.ndim == 1 else x.reshape(-1, order="A")
    return Line(flat.view(CODES[kind.itemsize]) if kind in NARROW else flat, kind, flat)


def _of_tensor(x: Any, name: str) -> Line:
    kind = named(str(x.dtype).removeprefix("torch."))
    if kind is None:
        raise NcclInvalid(
            f"nccl.core: {name} has {x.dtype}, for which NCCL has no data type; convert the tensor."
        )
    if not x.is_contiguous() and not x.permute(*reversed(range(x.dim()))).is_contiguous():
        raise _not_contiguous(name, x)
    flat = x.detach()
    flat = flat.reshape(-1) if x.is_contiguous() else flat.permute(*reversed(range(x.dim()))).reshape(-1)
    if x.is_cuda:
        return Line(flat, kind, flat)
    if kind not in NARROW:
        return Line(flat.numpy(), kind, flat)
    codes = flat.view(
        sys.modules["torch"].int16 if kind.itemsize == 2 else sys.modules["torch"].uint8
    ).numpy()
    return Line(codes.view(CODES[kind.itemsize]), kind, flat)


def _of_gpu(x: Any, name: str) -> Line:
    kind = named(str(x.dtype))
    if kind is None:
        raise NcclInvalid(
            f"nccl.core: {name} has dtype {x.dtype}, for which NCCL has no data type; convert the array."
        )
    interface = x.__cuda_array_interface__
    if interface.get("strides") is not None and len(x.shape) > 1:
        flags = getattr(x, "flags", None)
        if flags is None or not (flags.c_contiguous or flags.f_contiguous):
            raise _not_contiguous(name, x)
        x = x.T if not flags.c_contiguous else x
    if not hasattr(x, "__getitem__") or not hasattr(x, "__len__"):
        flat = Shown(int(interface["data"][0]), math.prod(x.shape), np.dtype(x.dtype), x)
    else:
        flat = x if len(x.shape) == 1 else x.reshape(-1)
    return Line(flat, kind, flat)


def _of_other(x: Any, name: str) -> Line:
    memory = getattr(x, "memory", None)
    if memory is not None and hasattr(x, "handle"):  # a Buffer; cuda.core's shows its bytes as int8
        return line_of(memory.view(np.int8), name)
    if hasattr(x, "handle") and getattr(x, "is_device_accessible", False):
        shown = Shown(int(x.handle), int(x.size), np.dtype(np.int8), x)
        return Line(shown, NcclDataType.INT8, shown)
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


def _not_contiguous(name: str, x: Any) -> NcclInvalid:
    return NcclInvalid(
        f"nccl.core: {name} of shape {tuple(x.shape)} is not contiguous; pass a contiguous copy of it."
    )
