"""PyTorch's tensors in the symmetric memory of GPUs, and in that of hosts."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import atoll

from ..._device import numpy_dtype, special_name
from ..._versions import need
from ._cupy import CuPy
from ._library import Array
from ._torch_functions import apply, elementwise


class Torch(CuPy):
    """PyTorch's tensors. On GPUs they are computed on PyTorch's current stream, as CuPy's arrays on CuPy's."""

    name = "torch"
    flips_by_copy = True

    def __init__(self, device: str) -> None:
        self.device = device
        self.xp = need("xp='torch'", "torch", atoll.Unsupported)
        self.on_gpu = device != "cpu"
        self.text = "on GPUs (PyTorch)" if self.on_gpu else "tensors of PyTorch"
        self._device = self.xp.device("cpu")
        self._number = None
        self._asked = None
        self._dtypes: dict[Any, Any] = {}

    def symmetric(self, shape: tuple[int, ...], dtype: np.dtype[Any], zero: bool) -> Array:
        if not self.on_gpu:
            return (atoll.zeros if zero else atoll.empty)(shape, dtype)
        return super().symmetric(shape, dtype, zero)

    def _use(self, number: int) -> None:
        self._take(number)
        self._device = self.xp.device("cuda", number)
        self.xp.cuda.set_device(self._device)

    def held(self, holder: Any, raw: Array) -> Array:
        if not self.on_gpu:
            return self.xp.from_numpy(np.asarray(holder))
        self._use(raw.device)
        return self.xp.as_tensor(holder, device=self._device)

    def signals(self, n: int) -> Array:
        return atoll.signal(n, device=self.device, xp=self.xp) if self.on_gpu else atoll.signal(n)

    def view(self, raw: Array) -> Array:
        return raw.torch() if self.on_gpu else self.xp.from_numpy(raw)

    def raw(self, x: Array) -> Array:
        return x if self.on_gpu else x.numpy()

    def get(self, target: Array, part: Array, pe: int, *, team: atoll.Team) -> None:  # type: ignore[override]
        atoll.get(target if isinstance(target, np.ndarray) else self.raw(target), part, pe, team=team)

    def put(self, part: Array, values: Array, pe: int, *, team: atoll.Team) -> None:  # type: ignore[override]
        atoll.put(part, self.raw(values), pe, team=team)

    def require(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind not in "biufc" or not hasattr(self.xp, dtype.name) or special_name(dtype):
            raise atoll.DtypeMismatch(
                f"elements of {dtype} cannot be in a distributed array of tensors; use numbers of NumPy that PyTorch has."
            )

    def _torch_dtype(self, dtype: Any) -> Any:
        return getattr(self.xp, np.dtype(dtype).name)

    def empty(self, shape: Any, dtype: Any) -> Array:
        return self.xp.empty(tuple(shape), dtype=self._torch_dtype(dtype), device=self._device)

    def array(self, value: Any) -> Array:
        if isinstance(value, self.xp.Tensor):
            is_there = value.device == self._device and not value.requires_grad
            return value if is_there else value.detach().to(self._device)
        if isinstance(value, atoll.DeviceArray):
            return value.torch()
        if hasattr(value, "__cuda_array_interface__"):
            return self.xp.from_dlpack(value).to(self._device)
        given = np.asarray(value)
        if not (given.flags.c_contiguous and given.flags.writeable):
            given = given.copy()
        return self.xp.from_numpy(given).to(self._device)

    def dtype(self, x: Array) -> np.dtype[Any]:
        its = x.dtype
        if isinstance(its, np.dtype):
            return its
        if its not in self._dtypes:
            self._dtypes[its] = numpy_dtype(its)
        found: np.dtype[Any] = self._dtypes[its]
        return found

    def cast(self, x: Array, dtype: np.dtype[Any]) -> Array:
        return x.to(self._torch_dtype(dtype))

    def contiguous(self, x: Array, dtype: np.dtype[Any]) -> Array:
        return x if self.is_plain(x, dtype) else self.cast(x, dtype).resolve_conj().resolve_neg().contiguous()

    def is_plain(self, x: Array, dtype: np.dtype[Any]) -> bool:
        return bool(x.is_contiguous() and self.dtype(x) == dtype and not x.is_conj() and not x.is_neg())

    def broadcast(self, x: Array, shape: tuple[int, ...]) -> Array:
        try:
            return self.xp.broadcast_to(x, shape)
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    def permuted(self, x: Array, order: Sequence[int]) -> Array:
        return x.permute(tuple(order))

    def shares_memory(self, x: Array, y: Array) -> bool:
        return bool(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr())

    def arange(self, start: int, stop: int, step: int) -> Array:
        return self.xp.arange(start, stop, step, dtype=self.xp.int64, device=self._device)

    def as_bytes(self, x: Array) -> Array:
        return x.view(self.xp.uint8)

    def _reduced(self, name: str, x: Array, axes: tuple[int, ...], dtype: Any) -> Array:
        torch = self.xp
        kind = None if dtype is None else self._torch_dtype(dtype)
        if name == "sum":
            return torch.sum(x, dim=axes, keepdim=True, dtype=kind)
        if name == "prod":
            for axis in axes:
                x = torch.prod(x, dim=axis, keepdim=True, dtype=kind)
            return x
        if name in ("min", "max"):
            return (torch.amin if name == "min" else torch.amax)(x, dim=axes, keepdim=True)
        return (torch.any if name == "any" else torch.all)(x != 0, dim=axes, keepdim=True)

    def _transformed(self, name: str, x: Array, axis: int, n: int, norm: str | None) -> Array:
        numbers = self.cast(x, np.dtype(np.float64)) if self.dtype(x).kind in "biu" else x
        return getattr(self.xp.fft, name)(numbers, n=n, dim=axis, norm=norm)

    def require_product(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind == "b" or (self.on_gpu and dtype.kind in "iu"):
            raise atoll.Unsupported(
                f"PyTorch multiplies no matrices of {dtype} {'on GPUs' if self.on_gpu else ''}; use a.astype(float), or "
                "xp='cupy'."
            )

    def compressed(self, indptr: Array, indices: Array, data: Array, columns: int) -> Any:
        with warnings.catch_warnings():  # PyTorch warns once that its sparse matrices are new
            warnings.simplefilter("ignore")
            return self.xp.sparse_csr_tensor(indptr, indices, data, (len(indptr) - 1, columns))

    def times(self, matrix: Any, x: Array) -> Array:
        return matrix @ x

    def _accumulated(self, name: str, x: Array, axis: int, dtype: np.dtype[Any]) -> Array:
        return getattr(self.xp, name)(x, dim=axis, dtype=self._torch_dtype(dtype))

    def require_order(self, name: str, dtype: np.dtype[Any]) -> None:
        super().require_order(name, dtype)
        if dtype.kind == "u" and dtype.itemsize > 1:
            raise atoll.Unsupported(
                f"{name}() of {dtype} works on hosts and with xp='cupy', and this array is {self.text}; use "
                "a.astype(int)."
            )

    def _sorted(self, x: Array, axis: int) -> Array:
        return self.xp.sort(x, dim=axis).values

    def _order(self, x: Array, axis: int) -> Array:
        return self.xp.argsort(x, dim=axis, stable=True)

    def nonzero(self, x: Array) -> Array:
        return self.xp.nonzero(x).reshape(-1)

    def apply(
        self,
        ufunc: np.ufunc,
        operands: Sequence[Any],
        outs: tuple[Array, ...] | None,
        keywords: dict[str, Any],
    ) -> Any:
        return apply(self, ufunc, operands, outs, keywords)

    def elementwise(self, function: Any, operands: Sequence[Any], keywords: dict[str, Any]) -> Any:
        return elementwise(self, function, operands, keywords)

    def finish(self) -> None:
        if self._number is not None:
            self.xp.cuda.current_stream().synchronize()

    def tensor(self, x: Array) -> Array:
        return x

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        cuda = self.xp.cuda
        if stream == self.current_stream():
            return contextlib.nullcontext()
        if isinstance(stream, int):  # for the handle 0 ExternalStream would make another stream
            stream = (
                cuda.ExternalStream(stream, device=self._device)
                if stream
                else cuda.default_stream(self._device)
            )
        found: contextlib.AbstractContextManager[Any] = cuda.stream(stream)
        return found
