"""Symmetric memory. Allocation and free are collective over all PEs, which call them alike and in the same
order.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _atoll

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._types import Array, Number, Shape


class MALLOC(enum.IntFlag):
    """Hints of an allocation: the later use of the memory; combine by |.

    ATOMICS_REMOTE: other PEs' atomics. SIGNAL_REMOTE: signals. Source: OpenSHMEM 1.6, section 9.3.
    """

    ATOMICS_REMOTE = 1
    SIGNAL_REMOTE = 2


MALLOC_ATOMICS_REMOTE: MALLOC = MALLOC.ATOMICS_REMOTE
MALLOC_SIGNAL_REMOTE: MALLOC = MALLOC.SIGNAL_REMOTE


def _allocate(
    name: str, shape: Any, dtype: Any, order: str, align: int | None, hints: int | None, clear: bool
) -> Array:
    if order not in ("C", "F"):
        raise _atoll.InvalidArgument(f"{name}(): order is {order!r}; pass 'C' or 'F'.")
    bits = hints or 0
    if bits & ~3:
        raise _atoll.InvalidArgument(f"{name}(): hints is {hints!r}; combine shmem.MALLOC's by |.")
    atomics, signal = bool(bits & MALLOC.ATOMICS_REMOTE), bool(bits & MALLOC.SIGNAL_REMOTE)
    made: Array = _atoll._empty(shape, dtype, order == "F", align or 0, atomics, signal, clear, name)
    return made


def alloc(
    count: int, size: int = 1, align: int | None = None, hints: int | None = None, clear: bool = True
) -> memoryview:
    """Return count * size bytes of symmetric memory.

    Parameters
    ----------
    count, size
        The number of elements, and the bytes of each.
    align
        Bytes, a power of two; at least 64 is used.
    hints
        MALLOC_ATOMICS_REMOTE and the like, combined by |.
    clear
        Zero the memory, on all PEs before any PE returns.

    Raises
    ------
    OutOfMemory
        The symmetric heap has too little room; on every PE.
    CollectiveMismatch, InvalidArgument, NotInitialized
        The PEs called differently, an argument is wrong, or there is no job.

    Notes
    -----
    fromalloc makes an array of it, and free frees it. Memory that all PEs have dropped is reused. Collective
    over all PEs. Source: OpenSHMEM 1.6, section 9.3 (shmem_malloc, shmem_align, shmem_calloc,
    shmem_malloc_with_hints).
    """
    block: Any = _allocate("alloc", count * size, np.uint8, "C", align, hints, clear)
    return memoryview(block)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _owner(mem: memoryview | Array) -> Array:
    """Return the array that was allocated, from a memoryview or array made of it."""
    owner: Any = mem.obj if isinstance(mem, memoryview) else mem
    if not isinstance(owner, np.ndarray):
        raise TypeError(f"free(): mem is {mem!r}; pass the result of alloc, new_array or the like.")
    start = _address(np.asarray(mem)) if isinstance(mem, memoryview) else _address(mem)
    while True:
        base = owner.base.obj if isinstance(owner.base, memoryview) else owner.base
        if not isinstance(base, np.ndarray):
            break
        owner = base
    if start != _address(owner):
        raise _atoll.InvalidArgument("free(): mem is a part of an allocation; pass the whole allocation.")
    found: Array = owner
    return found


def free(mem: memoryview | Array) -> None:
    """Free memory from alloc, new_array and the like. Collective over all PEs, in the same order on all.

    Afterwards calls refuse it and all its views. Outstanding puts into it must be complete. Raises
    UseAfterFree, NotSymmetric, InvalidArgument (a part of an array), TypeError. Source: OpenSHMEM 1.6,
    section 9.3 (shmem_free).
    """
    _atoll.free(_owner(mem))


def fromalloc(
    mem: memoryview,
    shape: Shape | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] = "C",
) -> Array:
    """Return an array over memory that alloc returned.

    Parameters
    ----------
    mem
        The result of alloc.
    shape
        None: one axis, as long as mem allows.
    dtype
        None: float64.
    order
        'C' or 'F'.

    Raises
    ------
    ValueError, DtypeMismatch
        `mem` holds another number of elements, or dtype does not fit.

    Notes
    -----
    Local.
    """
    if not isinstance(mem, memoryview):
        raise TypeError(f"fromalloc(): mem is {mem!r}; pass the result of alloc.")
    kind = np.dtype(dtype)
    if kind.hasobject or kind.itemsize == 0:
        what = "holds Python objects, which mean nothing to other PEs" if kind.hasobject else "has no size"
        raise _atoll.DtypeMismatch(f"fromalloc(): dtype {kind!r} {what}; pass one of numbers or bytes.")
    if mem.nbytes % kind.itemsize != 0:
        raise _atoll.ShapeMismatch(
            f"fromalloc(): mem has {mem.nbytes} bytes, not a multiple of the {kind.itemsize} bytes of {kind}; pass a dtype that fits."
        )
    # If mem is the whole array, use the array itself: calls find its owner sooner than through a memoryview.
    whole = isinstance(mem.obj, np.ndarray) and mem.obj.nbytes == mem.nbytes
    buffer: Any = mem.obj if whole else mem
    flat: Array = np.ndarray((mem.nbytes // kind.itemsize,), kind, buffer)
    return flat if shape is None else flat.reshape(shape, order=order)


def new_array(
    shape: Shape,
    dtype: npt.DTypeLike = float,
    order: Literal["C", "F"] = "C",
    *,
    align: int | None = None,
    hints: int | None = None,
    clear: bool = True,
) -> Array:
    """Return a new symmetric array: a numpy.ndarray at the same offset on every PE; its views are symmetric,
    too.

    Parameters
    ----------
    shape
        An int or a sequence of ints, equal on all PEs.
    dtype
        A dtype without Python objects, in native byte order.
    order
        'C' or 'F'.
    align, hints, clear
        As for alloc.

    Raises
    ------
    DtypeMismatch
        The dtype cannot be in symmetric memory; and the errors of alloc.

    Notes
    -----
    Collective over all PEs. Source: OpenSHMEM 1.6, section 9.3.
    """
    return _allocate("new_array", shape, np.dtype(dtype), order, align, hints, clear)


def del_array(a: Array) -> None:
    """Free an array; as free(a). Collective over all PEs."""
    if not isinstance(a, np.ndarray):
        raise TypeError(f"del_array(): a is {a!r}; pass an array that new_array or the like returned.")
    free(a)


def array(
    obj: Any,
    dtype: npt.DTypeLike | None = None,
    *,
    order: Literal["K", "A", "C", "F"] = "K",
    align: int | None = None,
    hints: int | None = None,
) -> Array:
    """Return a new symmetric array with this PE's copy of obj, complete before any PE returns.

    Parameters
    ----------
    obj, dtype, order
        As for numpy.array. Shape and dtype are equal on all PEs; contents need not be.
    align, hints
        As for alloc.

    Notes
    -----
    Collective over all PEs. Raises as new_array does.
    """
    model = np.asarray(obj, dtype)
    strides = np.empty_like(model, order=order, subok=False).strides
    flat = _allocate("array", model.size, model.dtype, "C", align, hints, False)
    made: Array = np.ndarray(model.shape, model.dtype, flat, 0, strides)
    np.copyto(made, model, casting="no")
    _atoll.sync_all()
    return made


def empty(
    shape: Shape,
    dtype: npt.DTypeLike = float,
    order: Literal["C", "F"] = "C",
    *,
    align: int | None = None,
    hints: int | None = None,
) -> Array:
    """Return a new symmetric array whose contents are arbitrary. Collective; arguments as for new_array."""
    return _allocate("empty", shape, np.dtype(dtype), order, align, hints, False)


def zeros(
    shape: Shape,
    dtype: npt.DTypeLike = float,
    order: Literal["C", "F"] = "C",
    *,
    align: int | None = None,
    hints: int | None = None,
) -> Array:
    """Return a new symmetric array of zeros, on all PEs before any returns. Collective; arguments as for new_array."""
    return _allocate("zeros", shape, np.dtype(dtype), order, align, hints, True)


def _filled(
    name: str, shape: Shape, value: Any, dtype: Any, order: str, align: int | None, hints: int | None
) -> Array:
    # Refuse a wrong value before the collective allocation, where the other PEs would wait for this one.
    contents = np.asarray(value).astype(dtype, casting="unsafe")
    if contents.ndim > 0:
        np.broadcast_to(contents, shape)
    made = _allocate(name, shape, contents.dtype, order, align, hints, False)
    made[...] = contents
    _atoll.sync_all()
    return made


def ones(
    shape: Shape,
    dtype: npt.DTypeLike = float,
    order: Literal["C", "F"] = "C",
    *,
    align: int | None = None,
    hints: int | None = None,
) -> Array:
    """Return a new symmetric array of ones, on all PEs before any returns. Collective; arguments as for new_array."""
    return _filled("ones", shape, 1, np.dtype(dtype), order, align, hints)


def full(
    shape: Shape,
    fill_value: Number,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] = "C",
    *,
    align: int | None = None,
    hints: int | None = None,
) -> Array:
    """Return a new symmetric array filled with fill_value, on all PEs before any PE returns.

    fill_value may differ between PEs. If dtype is `None`, it is fill_value's, which then may not differ.
    Collective; other arguments as for new_array.
    """
    kind = np.asarray(fill_value).dtype if dtype is None else np.dtype(dtype)
    return _filled("full", shape, fill_value, kind, order, align, hints)


def addr_accessible(addr: Array, pe: int) -> bool:
    """Return True if addr is symmetric and can be a target or source on PE pe. Local. Raises PeError.

    Source: OpenSHMEM 1.6, section 9.1 (shmem_addr_accessible).
    """
    if not isinstance(addr, np.ndarray):
        raise TypeError(f"addr_accessible(): addr is {addr!r}; pass a NumPy array.")
    return _atoll.addr_accessible(addr, pe)


def ptr(target: Array, pe: int) -> Array | None:
    """Return PE pe's copy of target, to be read and written by plain loads and stores, or None.

    The result has target's shape, dtype and strides. It is `None` if target is not symmetric, or if loads and
    stores cannot reach PE pe's memory. Order such accesses by barriers, signals or atomics. Local. Raises
    PeError. Source: OpenSHMEM 1.6, section 9.3 (shmem_ptr).
    """
    if not isinstance(target, np.ndarray):
        raise TypeError(f"ptr(): target is {target!r}; pass a NumPy array.")
    try:
        found = _atoll.peer(target, pe)
    except (_atoll.Unsupported, _atoll.NotSymmetric):
        return None
    if not target.flags.writeable:
        found.flags.writeable = False
    return found


def flat(function: str, which: str, a: Array) -> Array:
    """Return a contiguous array's elements in memory order, as a view of one axis."""
    if not isinstance(a, np.ndarray):
        raise TypeError(f"{function}(): {which} is {a!r}; pass a NumPy array.")
    if a.flags.c_contiguous:
        return a if a.ndim == 1 else a.reshape(-1)
    if a.flags.f_contiguous:
        return a.T.reshape(-1)
    raise _atoll.InvalidArgument(
        f"{function}(): {which} is not contiguous; pass an array with adjacent elements "
        f"(atoll.{function} takes any view)."
    )


def size_within(function: str, size: Any, limits: Sequence[tuple[str, int]]) -> int:
    """Return `size` as a count that fits each of (name, most); None: the smallest of them."""
    least = min(most for _, most in limits)
    if size is None:
        return least
    if not 0 <= size <= least:
        names = " and ".join(f"{name} takes {most}" for name, most in limits)
        raise _atoll.ShapeMismatch(
            f"{function}(): size is {size!r}, but {names}; pass at least 0 and at most that."
        )
    return int(size)
