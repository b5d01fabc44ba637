"""Allocation of symmetric arrays. Every function here is collective over all PEs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _atoll

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._types import Array, Hint, Order, Shape


def _allocate(
    shape: Shape,
    dtype: npt.DTypeLike | None,
    order: str,
    align: int,
    hints: Sequence[str],
    device: str | None,
    zero: bool,
    name: str,
) -> Array:
    if device not in (None, "cpu"):
        raise _atoll.Unsupported(
            f"{name}(): device={device!r}: this build of Atoll has symmetric memory on 'cpu' only."
        )
    if order not in ("C", "F"):
        raise _atoll.InvalidArgument(f"{name}(): order is {order!r}; pass 'C' or 'F'.")
    if hints is None or isinstance(hints, str) or not set(hints) <= {"atomics", "signal"}:
        raise _atoll.InvalidArgument(
            f"{name}(): hints is {hints!r}; pass a sequence of 'atomics' and 'signal', such as ('atomics',)."
        )
    kind = float if dtype is None else dtype
    return _atoll._empty(shape, kind, order == "F", align, "atomics" in hints, "signal" in hints, zero, name)


def empty(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: str | None = None,
) -> Array:
    """Return a new symmetric array whose contents are arbitrary.

    Collective over all PEs, which call it with equal arguments in equal order: the array then stands
    at the same offset on each, so that any PE can name any other's. It is a plain numpy.ndarray;
    every view of it (slice, reshape, transpose, field) is symmetric too.

    shape: an int or a sequence of ints.
    dtype: any NumPy dtype without Python objects, in native byte order; None is float64.
    order: 'C' or 'F'.
    align: bytes, a power of two; at least 64 is used.
    hints: 'atomics', 'signal': what other PEs will mostly do with it.
    device: 'cpu' or None.

    Free it with atoll.free(x), or let every PE's garbage collector drop it: then the memory comes back
    at a later collective allocation. Raises OutOfMemory (on every PE alike), CollectiveMismatch
    (bytes, align and hints are always compared), DtypeMismatch, InvalidArgument, NotInitialized.
    Source: OpenSHMEM 1.6, section 9.3 (shmem_malloc).
    """
    return _allocate(shape, dtype, order, align, hints, device, False, "empty")


def zeros(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: str | None = None,
) -> Array:
    """Return a new symmetric array of zeros; zero on all PEs before any PE returns.

    Collective; arguments and errors as for atoll.empty.
    Source: OpenSHMEM 1.6, section 9.3 (shmem_calloc).
    """
    return _allocate(shape, dtype, order, align, hints, device, True, "zeros")


def full(
    shape: Shape,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: str | None = None,
) -> Array:
    """Return a new symmetric array filled with fill_value, on all PEs before any PE returns.

    fill_value may differ between PEs; its dtype, taken where dtype is None, may not.
    Collective; other arguments and errors as for atoll.empty.
    """
    return _full(shape, fill_value, dtype, order, align, hints, device, "full")


def _full(
    shape: Shape,
    fill_value: Any,
    dtype: npt.DTypeLike | None,
    order: str,
    align: int,
    hints: Sequence[Hint],
    device: str | None,
    name: str,
) -> Array:
    # What does not fit is said before the allocation: there, the other PEs would wait for this one.
    try:
        value = np.asarray(fill_value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise _atoll.DtypeMismatch(f"{name}(): fill_value is {fill_value!r}: {error}.") from None
    if value.ndim > 0:
        try:
            np.broadcast_to(value, shape)
        except ValueError:
            raise _atoll.ShapeMismatch(
                f"{name}(): fill_value has shape {value.shape}, which does not broadcast to {shape!r}."
            ) from None
    x = _allocate(shape, value.dtype, order, align, hints, device, False, name)
    x[...] = value
    _atoll.sync_all()
    return x


def ones(
    shape: Shape,
    dtype: npt.DTypeLike | None = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: str | None = None,
) -> Array:
    """Return a new symmetric array of ones, on all PEs before any PE returns.

    Collective; arguments and errors as for atoll.empty.
    """
    kind = np.dtype(float if dtype is None else dtype)
    return _full(shape, 1, kind, order, align, hints, device, "ones")


def array(
    object: npt.ArrayLike,
    dtype: npt.DTypeLike | None = None,
    order: Order = "C",
    *,
    align: int = 0,
    hints: Sequence[Hint] = (),
    device: str | None = None,
) -> Array:
    """Return a new symmetric array with this PE's copy of `object`, complete before any PE returns.

    The contents may differ between PEs; shape and dtype may not.
    Collective; other arguments and errors as for atoll.empty.
    """
    contents = np.asarray(object, dtype)
    x = _allocate(contents.shape, contents.dtype, order, align, hints, device, False, "array")
    x[...] = contents
    _atoll.sync_all()
    return x


def _like(a: npt.ArrayLike, dtype: npt.DTypeLike | None, order: str) -> tuple[tuple[int, ...], Any, Any]:
    model = np.asanyarray(a)
    fortran = order == "F" or (order in "AK" and model.flags.fnc)
    return model.shape, model.dtype if dtype is None else dtype, "F" if fortran else "C"


def empty_like(
    a: npt.ArrayLike, dtype: npt.DTypeLike | None = None, order: Literal["C", "F", "A", "K"] = "K"
) -> Array:
    """Return atoll.empty of a's shape and dtype (a may be any array). Collective."""
    return empty(*_like(a, dtype, order))


def zeros_like(
    a: npt.ArrayLike, dtype: npt.DTypeLike | None = None, order: Literal["C", "F", "A", "K"] = "K"
) -> Array:
    """Return atoll.zeros of a's shape and dtype (a may be any array). Collective."""
    return zeros(*_like(a, dtype, order))


def ones_like(
    a: npt.ArrayLike, dtype: npt.DTypeLike | None = None, order: Literal["C", "F", "A", "K"] = "K"
) -> Array:
    """Return atoll.ones of a's shape and dtype (a may be any array). Collective."""
    return ones(*_like(a, dtype, order))


def full_like(
    a: npt.ArrayLike,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F", "A", "K"] = "K",
) -> Array:
    """Return atoll.full of a's shape and dtype (a may be any array). Collective."""
    shape, kind, layout = _like(a, dtype, order)
    return full(shape, fill_value, kind, layout)


def signal(n: int | Sequence[int] = 1) -> Array:
    """Return n zeroed signal words (uint64) in symmetric memory, for put_signal, signal_add, signal_wait_until.

    A tuple gives them a shape. Collective over all PEs. Source: OpenSHMEM 1.6, section 9.10.
    """
    count = n if isinstance(n, int | str) else math.prod(n)
    return _allocate(n, np.uint64, "C", 0, ("signal",) if count else (), None, True, "signal")
