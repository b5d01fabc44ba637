"""What distributed arrays ask the library of their parts for, by NumPy on hosts. Other libraries change what differs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import atoll

Array = Any  # of the library


class Library:
    """NumPy's arrays in the symmetric memory of hosts.

    `raw` arrays are those that Atoll's own calls take at the symmetric side, on GPUs an atoll.DeviceArray. Without a
    stream the calls wait for the current stream of the library whose array is the other side.
    """

    name = "numpy"
    device = "cpu"
    text = "on hosts"
    on_gpu = False
    flips_by_copy = False  # without negative strides a reversed box is a copy

    empty: Callable[[Any, Any], Array] = staticmethod(np.empty)
    get = staticmethod(atoll.get)
    put = staticmethod(atoll.put)

    # Symmetric memory.

    def symmetric(self, shape: tuple[int, ...], dtype: np.dtype[Any], zero: bool) -> Array:
        """Return a raw symmetric array. Collective over all PEs."""
        return (atoll.zeros if zero else atoll.empty)(shape, dtype)

    def signals(self, n: int) -> Array:
        """Return raw signal words. Collective over all PEs."""
        return atoll.signal(n)

    def view(self, raw: Array) -> Array:
        """Return a raw array as one of the library; no copy."""
        return raw

    def raw(self, x: Array) -> Array:
        """Return an array of the library as Atoll's calls take it at the local side; no copy."""
        return x

    def require(self, dtype: np.dtype[Any]) -> None:
        """Raise DtypeMismatch for a dtype that the library lacks."""

    def dtype_from(self, given: Any) -> Any:
        """Return what a caller passed as dtype in NumPy's words."""
        return given

    # Arrays of this PE alone.

    def array(self, value: Any) -> Array:
        """Return a value as an array of the library where its parts lie; a copy only if needed."""
        return np.asarray(value)

    def to_numpy(self, x: Array) -> np.ndarray[Any, Any]:
        """Return an array as one of NumPy; a copy only if needed."""
        return np.asarray(x)

    def dtype(self, x: Array) -> np.dtype[Any]:
        """Return the dtype of an array, or of NumPy's scalar."""
        found: np.dtype[Any] = x.dtype
        return found

    def cast(self, x: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array in another dtype; no copy if it has it."""
        return x.astype(dtype, copy=False)

    def contiguous(self, x: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array of that dtype in C order; no copy if it is so."""
        return np.ascontiguousarray(x, dtype).reshape(x.shape)

    def is_plain(self, x: Array, dtype: np.dtype[Any]) -> bool:
        """True for an array of that dtype in C order."""
        return bool(x.flags.c_contiguous and x.dtype == dtype)

    def broadcast(self, x: Array, shape: tuple[int, ...]) -> Array:
        """Return a view in a larger shape. Raises ValueError if it does not broadcast."""
        return np.broadcast_to(x, shape)

    def flip(self, x: Array, axes: Sequence[int]) -> Array:
        """Return an array with axes reversed: a view, unless the library has no negative strides."""
        return np.flip(x, tuple(axes))

    def permuted(self, x: Array, order: Sequence[int]) -> Array:
        """Return a view with the axes in another order."""
        return x.transpose(tuple(order))

    def shares_memory(self, x: Array, y: Array) -> bool:
        """True if two arrays have common memory."""
        return np.shares_memory(x, y)

    def arange(self, start: int, stop: int, step: int) -> Array:
        """Return integers of 64 bits."""
        return np.arange(start, stop, step, dtype=np.int64)

    def as_bytes(self, x: Array) -> Array:
        """Return an array of bool as one of uint8; no copy."""
        return x.view(np.uint8)

    def chosen(self, condition: Array, x: Array, y: Array | int) -> Array:
        """Return the elements of x where a condition holds, else those of y."""
        return np.where(condition, x, y)

    def argextreme(self, x: Array, smallest: bool) -> int:
        """Return the number in C order of the first smallest or largest element."""
        return int((np.argmin if smallest else np.argmax)(x))

    # Computation on parts.

    def reduced(
        self, ufunc: np.ufunc, x: Array, axes: tuple[int, ...], dtype: Any = None, start: Any = None
    ) -> np.ndarray[Any, Any]:
        """Return `ufunc.reduce` along axes, which are kept with length 1, as a NumPy array.

        Without elements the result is `start`, if it is given.
        """
        more = {} if dtype is None else {"dtype": dtype}
        if start is not None:
            more["initial"] = start
        return np.asarray(ufunc.reduce(x, axis=axes, keepdims=True, **more))

    def apply(
        self,
        ufunc: np.ufunc,
        operands: Sequence[Any],
        outs: tuple[Array, ...] | None,
        keywords: dict[str, Any],
    ) -> Any:
        """Return `ufunc(*operands, out=outs, **keywords)`."""
        return ufunc(*operands, **keywords) if outs is None else ufunc(*operands, out=outs, **keywords)

    def elementwise(self, function: Any, operands: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Return the result of one of NumPy's functions that work element by element."""
        return function(*operands, **keywords)

    def tensor(self, x: Array) -> Array:
        """Return an array as a tensor of PyTorch; no copy."""
        import torch

        return torch.from_numpy(x)

    # Order.

    def finish(self) -> None:
        """Wait for what this thread has given to the library's current stream."""

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which the library computes on a stream."""
        return contextlib.nullcontext()
