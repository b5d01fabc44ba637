"""CuPy's arrays in the symmetric memory of GPUs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import atoll

from ..._device import numpy_dtype, special_name
from ._library import Array, Library

# The functions that reduce as a ufunc does.
REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_or": "any",
    "logical_and": "all",
}


class CuPy(Library):
    """CuPy's arrays. They are computed on CuPy's current stream.

    Atoll's calls without a stream wait for that stream before they move data, and are complete on return.
    """

    name = "cupy"
    text = "on GPUs (CuPy)"
    on_gpu = True

    def __init__(self, device: str) -> None:
        import cupy

        self.device, self.xp = device, cupy
        self._number: int | None = None  # of the GPU, once there is an array

    def symmetric(self, shape: tuple[int, ...], dtype: np.dtype[Any], zero: bool) -> Array:
        self.finish()  # it may get memory of an array that was dropped, and is still read
        made = (atoll.zeros if zero else atoll.empty)(shape, dtype, device=self.device)
        self._use(made.device)
        return made

    def _use(self, number: int) -> None:
        """Make the PE's GPU the current one, else results are made on GPU 0."""
        self._number = number
        self.xp.cuda.Device(number).use()

    def view(self, raw: Array) -> Array:
        return raw.cupy()

    def signals(self, n: int) -> Array:
        return atoll.signal(n, device=self.device, xp=self.xp)

    def require(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype.char in "gG" or special_name(dtype):
            raise atoll.DtypeMismatch(
                f"elements of {dtype} cannot be in a distributed array on GPUs, since CuPy has none; use numbers of "
                "NumPy, or an array on hosts."
            )

    def dtype_from(self, given: Any) -> Any:
        return given if given is None else numpy_dtype(given)

    def empty(self, shape: Any, dtype: Any) -> Array:
        return self.xp.empty(shape, dtype)

    def array(self, value: Any) -> Array:
        if isinstance(value, self.xp.ndarray):
            return value
        if isinstance(value, atoll.DeviceArray):
            return value.cupy()
        if type(value).__module__.partition(".")[0] == "torch":
            return self.xp.from_dlpack(value) if value.is_cuda else self.xp.asarray(value.numpy())
        return self.xp.asarray(value)

    def to_numpy(self, x: Array) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = x.get() if isinstance(x, self.xp.ndarray) else np.asarray(x)
        return found

    def contiguous(self, x: Array, dtype: np.dtype[Any]) -> Array:
        return x if self.is_plain(x, dtype) else self.xp.ascontiguousarray(x, dtype).reshape(x.shape)

    def broadcast(self, x: Array, shape: tuple[int, ...]) -> Array:
        return self.xp.broadcast_to(x, shape)

    def flip(self, x: Array, axes: Sequence[int]) -> Array:
        return self.xp.flip(x, tuple(axes)) if axes else x

    def shares_memory(self, x: Array, y: Array) -> bool:
        return bool(self.xp.shares_memory(x, y))

    def arange(self, start: int, stop: int, step: int) -> Array:
        return self.xp.arange(start, stop, step, dtype=np.int64)

    def chosen(self, condition: Array, x: Array, y: Array | int) -> Array:
        return self.xp.where(condition, x, y)

    def argextreme(self, x: Array, smallest: bool) -> int:
        numbers = self.as_bytes(x) if self.dtype(x).kind == "b" else x
        return int((self.xp.argmin if smallest else self.xp.argmax)(numbers))

    def reduced(
        self, ufunc: np.ufunc, x: Array, axes: tuple[int, ...], dtype: Any = None, start: Any = None
    ) -> np.ndarray[Any, Any]:
        left = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
        if 0 in (x.shape[axis] for axis in axes) and start is not None:
            return np.full(left, start, self.dtype(x))
        expected = ufunc.reduce(np.ones(1, self.dtype(x)), dtype=dtype).dtype
        if 0 in left:
            return np.empty(left, expected)
        found = self._reduced(REDUCTIONS[ufunc.__name__], x, axes, dtype)
        return self.to_numpy(found).astype(expected, copy=False)

    def _reduced(self, name: str, x: Array, axes: tuple[int, ...], dtype: Any) -> Array:
        more = {} if dtype is None else {"dtype": dtype}
        return getattr(self.xp, name)(x, axis=axes, keepdims=True, **more)

    def finish(self) -> None:
        if self._number is not None:
            self.xp.cuda.get_current_stream().synchronize()

    def tensor(self, x: Array) -> Array:
        import torch

        return torch.from_dlpack(x)

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        if stream is None or isinstance(stream, str):
            return contextlib.nullcontext()
        if isinstance(stream, int):
            stream = self.xp.cuda.ExternalStream(stream)
        found: contextlib.AbstractContextManager[Any] = stream
        return found
