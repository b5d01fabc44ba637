"""Allocation of symmetric arrays. Every function here is collective over all PEs."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _atoll

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._makers import copier, full_like_maker, full_maker, like_maker, maker
    from ._types import Hint, Order, Shape
else:

    def maker(function):
        return function

    full_maker = copier = like_maker = full_like_maker = maker


class _Where:
    """The arguments device= and xp= of a call, checked before any collective operation."""

    def __init__(self, device: Any, xp: Any, name: str) -> None:
        self.on_device = False
        self.number = ""
        self.library = ""
        if device in (None, "cpu") and xp in (None, np):
            return
        from . import _device

        self.on_device = _device.device_of("cpu" if device is None else device, name)
        self.number = str(device).partition(":")[2]
        self.library = _device.library_of(xp, self.on_device, name)
        if self.on_device:
            _device.check_library(self.library)

    def convert(self, x: Any, name: str) -> Any:
        """Return x as an array of the library that the caller chose."""
        if not self.on_device:
            return x
        from . import _device

        if self.number:
            _device.check_number(self.number, x.device, name)
        return _device.as_library(x, self.library)


def _kind(dtype: Any, on_device: bool) -> Any:
    if dtype is None:
        return float
    if not on_device:
        try:
            return np.dtype(dtype)
        except TypeError:
            cure = "arrays in host memory take NumPy's; for bfloat16 and float8 pass device='cuda', or one of ml_dtypes."
            if isinstance(dtype, int):
                cure = "pass all lengths as one tuple, as in zeros((2, 3))."
            raise _atoll.DtypeMismatch(f"dtype is {dtype!r}; {cure}") from None
    from . import _device

    return _device.numpy_dtype(dtype)


def _allocate(
    shape: Shape,
    dtype: Any,
    order: str,
    align: int,
    hints: Sequence[str],
    where: _Where,
    zero: bool,
    name: str,
) -> Any:
    if order not in ("C", "F"):
        raise _atoll.InvalidArgument(f"{name}(): order is {order!r}; pass 'C' or 'F'.")
    if hints is None or isinstance(hints, str) or not set(hints) <= {"atomics", "signal"}:
        raise _atoll.InvalidArgument(
            f"{name}(): hints is {hints!r}; pass a sequence of 'atomics' and 'signal', such as ('atomics',)."
        )
    if where.on_device and align == 0:
        align = 256  # CUDA's own alignment
    kind = _kind(dtype, where.on_device)
    atomics, is_signal = "atomics" in hints, "signal" in hints
    return _atoll._empty(shape, kind, order == "F", align, atomics, is_signal, zero, name, where.on_device)


@maker
def empty(
    shape: Shape,
    dtype: Any = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return a new symmetric array whose contents are arbitrary.

    The array has the same offset on every PE, so that any PE can address any other's copy. It is a plain
    numpy.ndarray, and every view of it (slice, reshape, transpose, field) is symmetric too.

    Parameters
    ----------
    shape
        An int or a sequence of ints.
    dtype
        Any NumPy dtype without Python objects, in native byte order; None is float64. On a GPU also torch's
        dtypes, or the name 'bfloat16', 'float8_e4m3fn' or 'float8_e5m2' (CuPy has none of these).
    order
        'C' or 'F'.
    align
        Bytes, a power of two; at least 64 is used.
    hints
        'atomics', 'signal': the operations that other PEs mostly use on it.
    device
        'cpu' (None), or 'cuda': this PE's GPU.
    xp
        On a GPU, the module cupy or torch: the array is one of that library. None: an atoll.DeviceArray.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory
        The symmetric heap has too little room; on every PE.
    CollectiveMismatch
        The PEs passed different arguments. Bytes, align and hints are always compared.
    DtypeMismatch, InvalidArgument, NotInitialized
        An argument is wrong, or there is no job.

    Notes
    -----
    Collective over all PEs, which call it with equal arguments in the same order. Free the array with
    atoll.free(x), or let every PE's garbage collector drop it: then a later collective allocation reuses the
    memory. Source: OpenSHMEM 1.6, section 9.3 (shmem_malloc).
    """
    where = _Where(device, xp, "empty")
    return where.convert(_allocate(shape, dtype, order, align, hints, where, False, "empty"), "empty")


@maker
def zeros(
    shape: Shape,
    dtype: Any = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return a new symmetric array of zeros; zero on all PEs before any PE returns.

    Collective over all PEs, with equal arguments.

    Parameters
    ----------
    shape, dtype, order, align, hints, device, xp
        As for atoll.empty.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.3 (shmem_calloc).

    Examples
    --------
    >>> grid = atoll.zeros((4, 8), np.float32)  # on every PE
    """
    where = _Where(device, xp, "zeros")
    return where.convert(_allocate(shape, dtype, order, align, hints, where, True, "zeros"), "zeros")


@full_maker
def full(
    shape: Shape,
    fill_value: Any,
    dtype: Any = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return a new symmetric array filled with fill_value, on all PEs before any PE returns.

    Collective over all PEs, with equal arguments apart from fill_value.

    Parameters
    ----------
    fill_value
        A number, or an array that broadcasts to the shape. It may differ between PEs; its dtype, which is used
        if dtype is None, may not.
    shape, dtype, order, align, hints, device, xp
        As for atoll.empty.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    ShapeMismatch
        fill_value does not broadcast to the shape.
    """
    return _full(shape, fill_value, dtype, order, align, hints, _Where(device, xp, "full"), "full")


def _full(
    shape: Shape,
    fill_value: Any,
    dtype: Any,
    order: str,
    align: int,
    hints: Sequence[str],
    where: _Where,
    name: str,
) -> Any:
    # Refuse a wrong fill_value before the collective allocation, where the other PEs would wait for this one.
    special = where.on_device and _special(dtype)
    try:
        value = np.asarray(
            fill_value, None if special else dtype if dtype is None else _kind(dtype, where.on_device)
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise _atoll.DtypeMismatch(f"{name}(): fill_value is {fill_value!r}: {error}.") from None
    if value.ndim > 0:
        try:
            np.broadcast_to(value, shape)
        except ValueError:
            raise _atoll.ShapeMismatch(
                f"{name}(): fill_value has shape {value.shape}, which does not broadcast to {shape!r}."
            ) from None
    x = _allocate(shape, dtype if special else value.dtype, order, align, hints, where, False, name)
    x[...] = value
    _atoll.sync_all()
    return where.convert(x, name)


def _contents(object: Any, dtype: Any, on_device: bool) -> npt.NDArray[Any]:
    if on_device and _special(getattr(object, "dtype", None) if dtype is None else dtype):
        from . import _device

        kind = _device.numpy_dtype(getattr(object, "dtype", None) if dtype is None else dtype)
        return _device.on_host(kind, object)
    return np.asarray(object, dtype if dtype is None else _kind(dtype, on_device))


def _special(dtype: Any) -> bool:
    """Return whether NumPy has no name for this dtype."""
    from . import _device

    return dtype is not None and _device.special_name(_device.numpy_dtype(dtype)) is not None


@maker
def ones(
    shape: Shape,
    dtype: Any = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return a new symmetric array of ones, on all PEs before any PE returns.

    Collective over all PEs, with equal arguments.

    Parameters
    ----------
    shape, dtype, order, align, hints, device, xp
        As for atoll.empty.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    """
    where = _Where(device, xp, "ones")
    kind = _kind(dtype, where.on_device)
    return _full(shape, 1, kind if where.on_device else np.dtype(kind), order, align, hints, where, "ones")


@copier
def array(
    object: npt.ArrayLike,
    dtype: Any = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return a new symmetric array with this PE's copy of `object`, complete before any PE returns.

    Collective over all PEs, with equal arguments apart from the contents of `object`.

    Parameters
    ----------
    object
        A number, nested lists, or an array of the host or, with device="cuda", of any library on the GPU. Its
        contents may differ between PEs; its shape and dtype may not.
    dtype
        None: that of `object`.
    order, align, hints, device, xp
        As for atoll.empty.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    """
    where = _Where(device, xp, "array")
    if where.on_device and is_on_device(object):
        kind = _kind(getattr(object, "dtype", None) if dtype is None else dtype, True)
        x = _allocate(tuple(object.shape), kind, order, align, hints, where, False, "array")  # type: ignore[union-attr]
        _atoll.put(x, object, _atoll.my_pe())
    else:
        contents = _contents(object, dtype, where.on_device)
        x = _allocate(contents.shape, contents.dtype, order, align, hints, where, False, "array")
        x[...] = contents
    _atoll.sync_all()
    return where.convert(x, "array")


def is_on_device(a: Any) -> bool:
    """Return whether `a` is an array of any library in the memory of a GPU."""
    return (
        isinstance(a, _atoll.DeviceArray)
        or (not isinstance(a, np.ndarray) and hasattr(a, "__cuda_array_interface__"))
        or getattr(a, "is_cuda", False) is True
    )


def _like(a: Any, dtype: Any, order: str, where: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return shape, dtype and order for an array like `a`, and `where`. Values that the caller did not give are a's."""
    on_device = is_on_device(a)
    if not on_device:
        a = np.asanyarray(a)
        kind = a.dtype
    else:
        from . import _device

        kind = a.dtype if where["device"] is None else _device.numpy_dtype(a.dtype)
        if where["device"] is None:
            library = type(a).__module__.partition(".")[0]
            xp = sys.modules[library] if library in ("cupy", "torch") else None
            where.update(device="cuda", xp=where["xp"] or xp)
    fortran = order == "F" or (order in "AK" and _is_fortran(a))
    return (tuple(a.shape), kind if dtype is None else dtype, "F" if fortran else "C"), where


def _is_fortran(a: Any) -> bool:
    """Return whether the elements of `a` are in Fortran order and not in C order."""
    if isinstance(a, np.ndarray):
        return bool(a.flags.fnc)
    strides = tuple(a.stride()) if hasattr(a, "stride") else a.strides or ()
    return len(strides) > 1 and 0 not in a.shape and all(x < y for x, y in itertools.pairwise(strides))


@like_maker
def empty_like(
    a: Any,
    dtype: Any = None,
    order: Literal["C", "F", "A", "K"] = "K",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return atoll.empty of a's shape and dtype. Collective over all PEs.

    Parameters
    ----------
    a
        Any array, symmetric or not, of a library on the host or a GPU. Its contents are not read.
    dtype
        None: that of `a`.
    order
        'K' and 'A' take Fortran order if `a` has it, else C order.
    align, hints
        As for atoll.empty.
    device, xp
        As for atoll.empty, except that None takes the kind of memory of `a`, and on a GPU its library.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    """
    (shape, kind, layout), where = _like(a, dtype, order, {"device": device, "xp": xp})
    return empty(shape, kind, layout, align=align, hints=hints, **where)


@like_maker
def zeros_like(
    a: Any,
    dtype: Any = None,
    order: Literal["C", "F", "A", "K"] = "K",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return atoll.zeros of a's shape and dtype. Collective over all PEs.

    Parameters
    ----------
    a
        Any array, symmetric or not, of a library on the host or a GPU. Its contents are not read.
    dtype
        None: that of `a`.
    order
        'K' and 'A' take Fortran order if `a` has it, else C order.
    align, hints
        As for atoll.empty.
    device, xp
        As for atoll.empty, except that None takes the kind of memory of `a`, and on a GPU its library.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    """
    (shape, kind, layout), where = _like(a, dtype, order, {"device": device, "xp": xp})
    return zeros(shape, kind, layout, align=align, hints=hints, **where)


@like_maker
def ones_like(
    a: Any,
    dtype: Any = None,
    order: Literal["C", "F", "A", "K"] = "K",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return atoll.ones of a's shape and dtype. Collective over all PEs.

    Parameters
    ----------
    a
        Any array, symmetric or not, of a library on the host or a GPU. Its contents are not read.
    dtype
        None: that of `a`.
    order
        'K' and 'A' take Fortran order if `a` has it, else C order.
    align, hints
        As for atoll.empty.
    device, xp
        As for atoll.empty, except that None takes the kind of memory of `a`, and on a GPU its library.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    """
    (shape, kind, layout), where = _like(a, dtype, order, {"device": device, "xp": xp})
    return ones(shape, kind, layout, align=align, hints=hints, **where)


@full_like_maker
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Literal["C", "F", "A", "K"] = "K",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: Any = None,
    xp: Any = None,
) -> Any:
    """Return atoll.full of a's shape and dtype. Collective over all PEs.

    Parameters
    ----------
    a
        Any array, symmetric or not, of a library on the host or a GPU. Its contents are not read.
    fill_value
        As for atoll.full.
    dtype
        None: that of `a`.
    order
        'K' and 'A' take Fortran order if `a` has it, else C order.
    align, hints
        As for atoll.empty.
    device, xp
        As for atoll.empty, except that None takes the kind of memory of `a`, and on a GPU its library.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        The new array, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, DtypeMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.
    """
    (shape, kind, layout), where = _like(a, dtype, order, {"device": device, "xp": xp})
    return full(shape, fill_value, kind, layout, align=align, hints=hints, **where)


@overload
def signal(
    n: int | Sequence[int] = 1, *, device: Literal["cpu"] | None = None, xp: Any = None
) -> npt.NDArray[np.uint64]: ...
@overload
def signal(n: int | Sequence[int] = 1, *, device: Any, xp: None = None) -> _atoll.DeviceArray: ...
@overload
def signal(n: int | Sequence[int] = 1, *, device: Any, xp: Any) -> Any: ...
def signal(n: int | Sequence[int] = 1, *, device: Any = None, xp: Any = None) -> Any:
    """Return zeroed signal words in symmetric memory, for put_signal, signal_add, signal_wait_until.

    Collective over all PEs.

    Parameters
    ----------
    n
        Their number, or a tuple, which is their shape.
    device, xp
        As for atoll.empty.

    Returns
    -------
    numpy.ndarray, atoll.DeviceArray, cupy.ndarray or torch.Tensor
        Words of uint64, as device and xp choose.

    Raises
    ------
    OutOfMemory, CollectiveMismatch, InvalidArgument, NotInitialized
        As for atoll.empty.

    Notes
    -----
    Source: OpenSHMEM 1.6, section 9.10.
    """
    count = n if isinstance(n, int | str) else math.prod(n)
    where = _Where(device, xp, "signal")
    hints = ("signal",) if count else ()
    return where.convert(_allocate(n, np.uint64, "C", 0, hints, where, True, "signal"), "signal")
