"""Operations that distributed arrays need of the library of their parts, by NumPy on hosts. Other libraries change what differs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import atoll

from ..._device import is_tensor
from .._optional import scipy
from . import _numpy_warnings

Array = Any  # array type of the library
MERGED = 4  # runs that "stable", which finds them, merges faster than a new sort takes


def on_host(value: Any) -> Any:
    """Return an array of any library as a NumPy array; one of a GPU is copied. Other values stay what they are."""
    if isinstance(value, atoll.DeviceArray):
        return value.numpy()
    if is_tensor(value):
        return value.detach().resolve_conj().resolve_neg().cpu().numpy()
    return value.get() if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get") else value


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

    def has_device(self) -> bool:
        """Return whether arrays of the library are made where this PE's parts lie. On GPUs its first part decides it."""
        return True

    def signals(self, n: int) -> Array:
        """Return raw signal words. Collective over all PEs."""
        return atoll.signal(n)

    def view(self, raw: Array) -> Array:
        """Return a raw array as one of the library; no copy."""
        return raw

    def held(self, holder: Any, raw: Array) -> Array:
        """Return a raw array as one of the library that keeps `holder`, and so do its views; no copy."""
        return np.asarray(holder)

    def raw(self, x: Array) -> Array:
        """Return an array of the library as Atoll's calls take it at the local side; no copy."""
        return x

    def require(self, dtype: np.dtype[Any]) -> None:
        """Raise DtypeMismatch for a dtype that the library lacks."""

    def require_number(self, number: str, call: str) -> None:
        """Raise InvalidArgument unless the PE's GPU has a number, which a call was given."""

    def dtype_from(self, given: Any) -> Any:
        """Convert a caller's dtype to NumPy's."""
        return given

    # Arrays of this PE alone.

    def array(self, value: Any) -> Array:
        """Return a value as an array of the library where its parts lie; a copy only if needed."""
        return np.asarray(value)

    def assigned(self, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return a value as an array of the library; numbers of Python, lists and tuples in a dtype.

        Raises
        ------
        OverflowError, TypeError, ValueError
            If they do not fit the dtype, as by an assignment of NumPy. It casts arrays without an error.
        """
        if hasattr(value, "dtype") or self.takes(value):
            return self.array(_numpy_warnings.without_imaginary(value, dtype))
        try:
            return self.array(np.asarray(value, dtype))
        except (OverflowError, TypeError, ValueError) as error:
            kind = next(its for its in (OverflowError, TypeError, ValueError) if isinstance(error, its))
            raise kind(f"{value!r:.40} for elements of {dtype}: {error}.") from None

    def takes(self, value: Any) -> bool:
        """True for an array that `array` takes without a copy on the host: one of a GPU, or a tensor."""
        return False

    def to_numpy(self, x: Array) -> np.ndarray[Any, Any]:
        """Return an array as one of NumPy; a copy only if needed."""
        return np.asarray(x)

    def dtype(self, x: Array) -> np.dtype[Any]:
        """Return the dtype of an array, or of NumPy's scalar."""
        found: np.dtype[Any] = x.dtype
        return found

    def cast(self, x: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array in another dtype; no copy if it has it."""
        return _numpy_warnings.without_imaginary(x, dtype).astype(dtype, copy=False)

    def contiguous(self, x: Array, dtype: np.dtype[Any]) -> Array:
        """Return an array of that dtype in C order; no copy if it is so."""
        return x if self.is_plain(x, dtype) else np.ascontiguousarray(x, dtype).reshape(x.shape)

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
        if ufunc is np.signbit and outs is not None:  # NumPy 2.4 writes only some elements of strided arrays
            outs[0][...] = ufunc(*operands, **keywords)
            return outs[0]
        return ufunc(*operands, **keywords) if outs is None else ufunc(*operands, out=outs, **keywords)

    def elementwise(self, function: Any, operands: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Return the result of one of NumPy's functions that work element by element."""
        return function(*operands, **keywords)

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
        """Return the transform `name` (fft, ifft, rfft, irfft) of length `n` along an axis.

        It is SciPy's if that is installed, else the library's own. Only SciPy has `workers`. With `overwrite` x may be
        changed.
        """
        fast = scipy("fft")
        if fast is None:
            return np.asarray(getattr(np.fft, name)(x, n=n, axis=axis, norm=norm))
        return getattr(fast, name)(x, n=n, axis=axis, norm=norm, overwrite_x=overwrite, workers=workers)

    def require_product(self, dtype: np.dtype[Any]) -> None:
        """Raise Unsupported for a dtype of which the library has no product of matrices."""

    def product(self, x: Array, y: Array) -> Array:
        """Return the product of two matrices, or of a matrix and a vector."""
        return x @ y

    def inner(self, x: Array, y: Array, conjugate: bool) -> np.ndarray[Any, Any]:
        """Return the sum of the products of two vectors' elements as NumPy's, x conjugated if asked."""
        product: Any = np.vdot if conjugate else np.dot
        return np.asarray(product(x, y))

    def accumulate(self, ufunc: np.ufunc, x: Array, axis: int, out: Array) -> None:
        """Write cumulative sums (np.add) or products (np.multiply) along an axis to `out`, in its dtype; on hosts others, too."""
        is_logical = ufunc.__name__.startswith("logical")  # their loops have the dtype of the operands
        ufunc.accumulate(x, axis, None if is_logical else out.dtype, out)

    # Order of elements, and those that are chosen.

    def require_order(self, name: str, dtype: np.dtype[Any]) -> None:
        """Raise Unsupported for a dtype that the library does not sort."""

    def sorted(self, x: Array, axis: int) -> Array:
        """Return elements sorted along an axis, NaN last."""
        return np.sort(x, axis)

    def merge(self, x: Array, runs: int) -> None:
        """Sort a vector in place that consists of sorted runs; "stable" finds few of them and is faster then."""
        x.sort(kind="stable" if runs <= MERGED else None)

    def stable_order(self, x: Array, axis: int) -> Array:
        """Return the indices that sort along an axis, of equal elements the first one first."""
        return np.argsort(x, axis=axis, kind="stable")

    def search(self, x: Array, values: Array, side: str) -> np.ndarray[Any, Any]:
        """Return `numpy.searchsorted` of a sorted vector and values of NumPy."""
        return np.asarray(np.searchsorted(x, values, side))  # type: ignore[call-overload]

    def counted(self, x: Array, weights: Array | None, equal_nan: bool) -> tuple[Array, Array]:
        """Return a vector's distinct values, sorted, and the sum of each one's weights, by default its count."""
        if weights is None:
            return np.unique(x, return_counts=True, equal_nan=equal_nan)
        values, inverse = np.unique(x, return_inverse=True, equal_nan=equal_nan)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, inverse, weights)
        return values, counts

    def histogram(self, x: Array, bins: Any, edges: Array, range: Any) -> np.ndarray[Any, Any]:
        """Return how many elements of a vector lie in each bin of `numpy.histogram`, whose edges are given, too."""
        return np.asarray(np.histogram(x, bins, range)[0])

    def bincount(self, x: Array, length: int) -> np.ndarray[Any, Any]:
        """Return how often each number below `length` occurs in a vector, as NumPy's int64."""
        return np.bincount(x, minlength=length).astype(np.int64)

    def nonzero(self, x: Array) -> Array:
        """Return the numbers of the elements of a vector that are not zero."""
        return np.flatnonzero(x)

    # With others.

    def tensor(self, x: Array) -> Array:
        """Return an array as a tensor of PyTorch; no copy."""
        import torch

        return torch.from_numpy(x)

    # Order.

    def finish(self) -> None:
        """Wait for the work that this thread enqueued on the library's current stream."""

    def current_stream(self) -> int:
        """Return the handle of the library's current stream; hosts have none."""
        return 0

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which the library computes on a stream."""
        return contextlib.nullcontext()
