"""CuPy's arrays in the symmetric memory of GPUs."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import atoll

from ..._device import check_number, current_stream, is_tensor, numpy_dtype, special_name
from ._library import Array, Library, on_host

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
        self._number: int | None = None  # number of the GPU, once there is an array
        self._asked: tuple[str, str] | None = (
            None  # until the first array: a number, and the call that had it
        )

    def symmetric(self, shape: tuple[int, ...], dtype: np.dtype[Any], zero: bool) -> Array:
        self.finish()  # it may get memory of an array that was dropped, and is still read
        made = (atoll.zeros if zero else atoll.empty)(shape, dtype, device=self.device)
        self._use(made.device)
        return made

    def has_device(self) -> bool:
        return not self.on_gpu or self._number is not None

    def require_number(self, number: str, call: str) -> None:
        """Raise InvalidArgument if the PE's GPU has another number; before the first array, that one raises it."""
        if self._number is None:
            self._asked = number, call
        else:
            check_number(number, self._number, call)

    def _take(self, number: int) -> None:
        """Keep the number of the PE's GPU, and compare it with the one that was asked for."""
        self._number = number
        asked, self._asked = self._asked, None
        if asked is not None:
            check_number(asked[0], number, asked[1])

    def _use(self, number: int) -> None:
        """Make the PE's GPU the current one, else results are made on GPU 0."""
        self._take(number)
        self.xp.cuda.Device(number).use()

    def view(self, raw: Array) -> Array:
        return raw.cupy()

    def held(self, holder: Any, raw: Array) -> Array:
        self._use(raw.device)
        return self.xp.asarray(holder)

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
        if is_tensor(value):
            return self.xp.from_dlpack(value) if value.is_cuda else self.xp.asarray(value.numpy())
        return self.xp.asarray(value)

    def takes(self, value: Any) -> bool:
        # A tensor that requires gradients raises RuntimeError for the attribute.
        return is_tensor(value) or hasattr(value, "__cuda_array_interface__")

    def to_numpy(self, x: Array) -> np.ndarray[Any, Any]:
        return np.asarray(on_host(x))

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

    def transformed(
        self,
        name: str,
        x: Array,
        axis: int,
        n: int,
        norm: str | None,
        workers: int | None = None,
        overwrite: bool = False,
    ) -> Array:
        if norm not in (None, "backward", "ortho", "forward"):
            raise ValueError(f"norm is {norm!r}; expected 'backward', 'ortho' or 'forward'.")
        if 0 not in x.shape:
            return self._transformed(name, x, axis, n, norm)
        kind = np.result_type(self.dtype(x), np.float32 if name.startswith("ir") else np.complex64)
        if name.startswith("ir"):
            kind = np.empty(0, kind).real.dtype
        length = n // 2 + 1 if name.startswith("rf") else n
        return self.empty([length if i == axis else m for i, m in enumerate(x.shape)], kind)

    def _transformed(self, name: str, x: Array, axis: int, n: int, norm: str | None) -> Array:
        return getattr(self.xp.fft, name)(x, n=n, axis=axis, norm=norm)

    def product(self, x: Array, y: Array) -> Array:
        kind = np.result_type(self.dtype(x), self.dtype(y))
        if 0 not in (*x.shape, *y.shape):
            return self.cast(x, kind) @ self.cast(y, kind)
        found = self.empty((*x.shape[:-1], *(y.shape[-1:] if y.ndim > 1 else ())), kind)
        found[...] = 0
        return found

    def compressed(self, indptr: Array, indices: Array, data: Array, columns: int) -> Any:
        """Return the library's sparse matrix (CSR) of these arrays, which it shares; it has at least one element."""
        sparse = importlib.import_module("cupyx.scipy.sparse")
        return sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, columns))

    def times(self, matrix: Any, x: Array) -> Array:
        """Return the product of a sparse matrix and a vector of its dtype."""
        return matrix.dot(x)

    def inner(self, x: Array, y: Array, conjugate: bool) -> np.ndarray[Any, Any]:
        kind = np.result_type(self.dtype(x), self.dtype(y))
        if conjugate and self.dtype(x).kind == "c":
            x = self.apply(np.conjugate, [x], None, {})
        ufunc = np.logical_or if kind == np.bool_ else np.add
        found = self.reduced(ufunc, self.apply(np.multiply, [x, y], None, {}), tuple(range(x.ndim)), kind, 0)
        return np.asarray(found.astype(kind, copy=False).reshape(()))

    def accumulate(self, ufunc: np.ufunc, x: Array, axis: int, out: Array) -> None:
        if 0 not in x.shape:
            out[...] = self._accumulated("cumsum" if ufunc is np.add else "cumprod", x, axis, self.dtype(out))

    def _accumulated(self, name: str, x: Array, axis: int, dtype: np.dtype[Any]) -> Array:
        return getattr(self.xp, name)(x, axis=axis, dtype=dtype)

    def require_order(self, name: str, dtype: np.dtype[Any]) -> None:
        if dtype.kind == "c":
            raise atoll.Unsupported(
                f"{name}() of complex numbers works on hosts, and this array is {self.text}. Use atoll.arrays.to_device(a, "
                "'cpu'), a copy on the hosts."
            )

    def sorted(self, x: Array, axis: int) -> Array:
        return x if 0 in x.shape else self._sorted(x, axis)

    def merge(self, x: Array, runs: int) -> None:
        x[...] = self.sorted(x, 0)

    def stable_order(self, x: Array, axis: int) -> Array:
        return self.empty(x.shape, np.dtype(np.int64)) if 0 in x.shape else self._order(x, axis)

    def _sorted(self, x: Array, axis: int) -> Array:
        return self.xp.sort(x, axis)

    def _order(self, x: Array, axis: int) -> Array:
        return self.xp.argsort(x, axis)  # which is stable

    def search(self, x: Array, values: Array, side: str) -> np.ndarray[Any, Any]:
        values = np.asarray(values)
        numbers = self.as_bytes(x) if self.dtype(x).kind == "b" else x
        n = x.shape[0]
        last = n - int(self.to_numpy((x != x).sum())) if self.dtype(x).kind == "f" else n  # then there is NaN
        wanted = values.view(np.uint8) if values.dtype.kind == "b" else values
        found: Any = 0
        if last:
            found = self.to_numpy(self.xp.searchsorted(numbers[:last], self.array(wanted), side=side))
        return np.asarray(np.where(values != values, last if side == "left" else n, found), np.int64)

    def counted(self, x: Array, weights: Array | None, equal_nan: bool) -> tuple[Array, Array]:
        n = x.shape[0]
        if n == 0:
            return x, self.arange(0, 0, 1)
        order = self.stable_order(x, 0)
        x = x[order]
        later, earlier = x[1:], x[:-1]
        is_other = later != earlier
        if equal_nan:
            is_other = is_other & ((later == later) | (earlier == earlier))
        inner = self.nonzero(is_other)
        # The last index of each run of equal values; the last run ends at n - 1.
        ends = self.arange(n - 1, n + inner.shape[0], 1)
        ends[:-1] = inner
        ends[-1:] = n - 1
        totals = (self.arange(1, n + 1, 1) if weights is None else weights[order].cumsum(0))[ends]
        counts = self.arange(0, totals.shape[0], 1)
        counts[:1] = totals[:1]
        counts[1:] = totals[1:] - totals[:-1]
        return x[ends], counts

    def histogram(self, x: Array, bins: Any, edges: Array, range: Any) -> np.ndarray[Any, Any]:
        ordered, ends = self.sorted(self.cast(x, np.dtype(np.float64)), 0), np.asarray(edges, np.float64)
        at = self.search(ordered, ends, "left")
        at[-1:] = self.search(ordered, ends[-1:], "right")  # the last bin has its end
        return np.diff(at)

    def bincount(self, x: Array, length: int) -> np.ndarray[Any, Any]:
        values, counts = self.counted(self.cast(x, np.dtype(np.int64)), None, False)
        found = np.zeros(length, np.int64)
        found[self.to_numpy(values)] = self.to_numpy(counts)
        return found

    def nonzero(self, x: Array) -> Array:
        return self.xp.flatnonzero(x)

    def finish(self) -> None:
        if self._number is not None:
            self.xp.cuda.get_current_stream().synchronize()

    def tensor(self, x: Array) -> Array:
        import torch

        return torch.from_dlpack(x)

    def current_stream(self) -> int:
        return current_stream(self.name, self._number or 0)

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        if stream == self.current_stream():
            return contextlib.nullcontext()
        if isinstance(stream, int):
            stream = self.xp.cuda.ExternalStream(stream)
        found: contextlib.AbstractContextManager[Any] = stream
        return found
