"""A CuPy made of NumPy, once this is imported, whose arrays lie in the memory of the simulated GPU or of the host.

It works as far as distributed arrays use CuPy. A write is delayed as on a GPU, until the program or Atoll asks for the
current stream, or a computation needs the result. So a missing wait shows stale elements. An array does not become one
of NumPy by itself, and the two do not mix, as in CuPy.
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

cupy: Any = types.ModuleType("cupy")
cupy.__version__ = "14.2"
sys.modules["cupy"] = cupy
pending: list[Callable[[], None]] = []


def flush() -> None:
    while pending:
        pending.pop(0)()


def later(write: Callable[[], None]) -> None:
    pending.append(write)


class Memory:
    """A pointer to memory of CuPy's own, or of others."""

    def __init__(self, ptr: int, device_id: int, owner: Any) -> None:
        self.ptr, self.device_id, self.owner = ptr, device_id, owner


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    __array_priority__ = 100

    def __init__(self, shape: Any, dtype: Any, memptr: Memory, strides: Any) -> None:
        low = high = memptr.ptr
        for n, stride in zip(shape, strides, strict=True):
            reach = max(n - 1, 0) * stride
            low, high = low + min(reach, 0), high + max(reach, 0)
        size = max(high - low + np.dtype(dtype).itemsize, 1)
        memory = (ctypes.c_char * size).from_address(low)
        self._of(np.ndarray(shape, dtype, memory, memptr.ptr - low, strides), memptr.owner)

    def _of(self, x: np.ndarray[Any, Any], owner: Any = None) -> None:
        self._x, self._owner = x, owner
        self.data = Memory(x.__array_interface__["data"][0], 0, x)
        self.shape, self.dtype, self.strides = x.shape, x.dtype, x.strides
        self.device = cupy.cuda.Device(0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.data.ptr, False),
            "strides": self.strides,
            "version": 3,
        }

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if any(not isinstance(x, (ndarray, np.generic, int, float, complex)) for x in inputs):
            return NotImplemented
        if (outs := keywords.pop("out", None)) is None:
            return compute(getattr(ufunc, method), inputs, keywords)
        given = [unwrapped(x) for x in inputs]  # which do not keep their memory, as on a GPU
        later(lambda: getattr(ufunc, method)(*given, out=tuple(out._x for out in outs), **keywords))
        return outs[0]

    def __array_function__(self, function: Any, kinds: Any, inputs: Any, keywords: Any) -> Any:
        return compute(function, inputs, keywords) if kinds in ((ndarray,), {ndarray}) else NotImplemented

    def __getitem__(self, key: Any) -> Any:
        found = self._x[index_of(key)]
        if np.shares_memory(found, self._x):
            return wrapped(found, self._owner)  # a view
        flush()
        return wrapped(self._x[index_of(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = index_of(key), unwrapped(value)

        def write() -> None:
            self._x[key] = value

        later(write)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def get(self) -> Any:
        flush()
        return self._x.copy()

    def item(self) -> Any:
        return self.get().item()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._x, name)
        if isinstance(found, np.ndarray):
            return wrapped(found, self._owner)
        if not callable(found):
            return found
        return lambda *arguments, **keywords: compute(found, arguments, keywords, self)


def wrapped(x: Any, owner: Any = None) -> Any:
    if not isinstance(x, (np.ndarray, np.generic)):
        return x
    made = ndarray.__new__(ndarray)
    made._of(np.asarray(x), owner)
    return made


def unwrapped(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError(f"Unsupported type {type(x)}")
    if isinstance(x, (tuple, list)):
        return type(x)(unwrapped(each) for each in x)
    return x._x if isinstance(x, ndarray) else x


def index_of(key: Any) -> Any:
    return tuple(map(unwrapped, key)) if isinstance(key, tuple) else unwrapped(key)


def compute(function: Any, inputs: Any, keywords: Any, of: Any = None) -> Any:
    """Return a function's result. A function that reads no elements does not wait for arrays, as on a GPU."""
    given = {name: unwrapped(x) for name, x in keywords.items()}
    plain = [*map(unwrapped, inputs)]
    found = function(*plain, **given)
    sources = [x for x in (*plain, getattr(of, "_x", None)) if isinstance(x, np.ndarray)]
    is_view = isinstance(found, np.ndarray) and any(np.shares_memory(found, x) for x in sources)
    if not is_view and function not in (np.empty, np.shares_memory):
        flush()
        found = function(*plain, **given)
    keeps = tuple(x._owner for x in (*inputs, of) if isinstance(x, ndarray))  # owners of views
    return wrapped(found, keeps)


def asarray(x: Any, dtype: Any = None) -> Any:
    flush()
    if isinstance(interface := getattr(x, "__cuda_array_interface__", None), dict) and not isinstance(
        x, ndarray
    ):
        memory = Memory(interface["data"][0], 0, x)
        shape, kind = interface["shape"], np.dtype(interface["typestr"])
        return ndarray(shape, kind, memory, interface["strides"] or np.empty(shape, kind).strides)
    return (
        x
        if isinstance(x, ndarray) and dtype in (None, x.dtype)
        else wrapped(np.array(getattr(x, "_x", x), dtype))
    )


class Stream:
    """The only stream."""

    @property
    def ptr(self) -> int:
        flush()
        return 0

    def synchronize(self) -> None:
        flush()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def function(name: str, module: Any = np) -> Any:
    found = getattr(module, name)  # an AttributeError for what NumPy lacks
    if isinstance(found, type):
        return found
    return lambda *arguments, **keywords: compute(found, arguments, keywords)


def argsort(x: Any, axis: int = -1) -> Any:
    return compute(np.argsort, (x, axis), {"kind": "stable"})  # CuPy's sort is stable, too


cupy.ndarray, cupy.asarray, cupy.array = ndarray, asarray, asarray
cupy.argsort = argsort
cupy.fft = types.SimpleNamespace(
    **{name: function(name, np.fft) for name in ("fft", "ifft", "rfft", "irfft")}
)
cupy.cuda = types.SimpleNamespace(
    UnownedMemory=lambda address, size, owner, device: Memory(address, device, owner),
    MemoryPointer=lambda memory, offset: Memory(memory.ptr + offset, memory.device_id, memory.owner),
    get_current_stream=Stream,
    ExternalStream=lambda number: Stream(),
    Stream=lambda **_: Stream(),
    Device=lambda number: types.SimpleNamespace(use=lambda: None),
)
cupy.__getattr__ = function


class csr_matrix:
    """A sparse matrix that takes what CuPy's takes: arrays on the GPU, of which no axis is empty."""

    def __init__(self, parts: tuple[ndarray, ndarray, ndarray], shape: tuple[int, int]) -> None:
        data, indices, indptr = parts
        assert data.dtype.char in "?fdFD" and indices.dtype == indptr.dtype == np.int32
        assert min(shape) >= 1 and len(data) and indptr.shape == (shape[0] + 1,)
        self._parts = data, indices, indptr
        self.shape = shape

    def dot(self, x: ndarray) -> ndarray:
        assert x.shape == self.shape[1:] and x.dtype == self._parts[0].dtype, (x.shape, x.dtype)
        found: ndarray = compute(self._product, (*self._parts, x), {})
        return found

    def _product(self, data: Any, indices: Any, indptr: Any, x: Any) -> Any:
        found = np.zeros(self.shape[0], data.dtype)
        np.add.at(found, np.repeat(np.arange(self.shape[0]), np.diff(indptr)), data * x[indices])
        return found


for name in ("cupyx", "cupyx.scipy", "cupyx.scipy.sparse"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["cupyx.scipy.sparse"].csr_matrix = csr_matrix  # type: ignore[attr-defined]
