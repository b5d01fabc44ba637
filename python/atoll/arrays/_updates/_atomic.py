"""Atomic updates of boxes: sums by add_at, bits by the atomic operations, others by compare-and-swap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _libraries
from .._at import add_at, multiplied, summand
from .._layout import numbers_in

if TYPE_CHECKING:
    from .._array import DistArray
    from .._layout import Box

Array = np.ndarray[Any, Any]
_BITS: dict[str, Callable[..., None]] = {
    "and": atoll.atomic_and,
    "or": atoll.atomic_or,
    "xor": atoll.atomic_xor,
}
_SWAPPED: dict[str, np.ufunc] = {"prod": np.multiply, "min": np.minimum, "max": np.maximum}
OPS = ("sum", *_SWAPPED, *_BITS)
ADDED_AT_ONCE = 1024  # elements between two checks for the end of the job


def accumulate(
    array: DistArray,
    box: Any,
    value: Any,
    scale: Any,
    op: str,
    fitted: Callable[[str, Any, Box, _libraries.Library], Any],
) -> None:
    """Combine a box with values, each element atomically; see `DistArray.accumulate`."""
    if isinstance(scale, str):
        raise TypeError(f"a.accumulate(box, x, {scale!r}): the operation is given by name: op={scale!r}.")
    if op not in OPS:
        raise ValueError(f"a.accumulate(op={op!r}): expected one of {', '.join(OPS)}.")
    its = array._library
    _require(array, op)
    if its is not _libraries.HOST:
        value = its.array(value) * scale
    elif not isinstance(scale, int) or scale != 1:
        value = multiplied(value, scale)
    elif isinstance(value, np.ndarray):
        value = np.array(value)  # the values may lie in the box, whose elements change meanwhile
    converted = summand(value, array.dtype, its)
    if op == "sum" and its is _libraries.HOST and array._add(box, np.asarray(converted)):
        return
    wanted = array._layout.box(box)
    given = fitted("a.accumulate()", converted, wanted, its)
    for piece in array._layout.pieces(wanted):
        numbers = numbers_in(tuple(array._block.shape), piece.local, its).reshape(-1)
        values = its.contiguous(given[piece.target], array.dtype).reshape(-1)
        if op == "sum":
            add_at(array, numbers, values, piece.pe)
        elif op in _BITS:
            for number, one in _watched(numbers, values.tolist()):
                _BITS[op](array._raw, one, piece.pe, index=number, team=array._team)
        else:
            for number, one in _watched(numbers, values):
                _swap(array, piece.pe, number, _SWAPPED[op], one)


def _watched(numbers: Any, values: Any) -> Iterator[tuple[int, Any]]:
    """Yield the elements of a loop that never waits, until the job has ended."""
    for start in range(0, len(values), ADDED_AT_ONCE):
        if reason := atoll._atoll._end_reason():
            raise atoll.PeDied(f"{reason} (noticed in accumulate)")
        some = slice(start, start + ADDED_AT_ONCE)
        yield from zip(numbers[some].tolist(), values[some], strict=True)


def _require(array: DistArray, op: str) -> None:
    dtype = array.dtype
    if op == "sum" and dtype in (np.complex64, np.complex128) and array._library is _libraries.HOST:
        return
    kinds = "iu" if op in _BITS else "iuf"
    if dtype.kind not in kinds or dtype.itemsize not in (4, 8) or not dtype.isnative:
        floats = "" if op in _BITS else ", float32 and float64"
        if op == "sum" and array._library is _libraries.HOST:
            floats = ", float32, float64, complex64 and complex128"
        raise atoll.DtypeMismatch(
            f"a.accumulate(op={op!r}): elements of {dtype} are not combined atomically; expected integers of 32 or 64 "
            f"bits{floats}. Let one PE at a time change the box, under an atoll.Lock: a[box] = a[box] + x."
        )
    if array._library.on_gpu and op != "sum":
        raise atoll.Unsupported(
            f"a.accumulate(op={op!r}) works on hosts, and this array is {array._library.text}; only op='sum' works there."
        )


def _swap(array: DistArray, pe: int, number: int, ufunc: np.ufunc, value: Any) -> None:
    """Replace one element by a function of it and a value; again if another PE came between."""
    dtype = array.dtype
    bits = np.dtype(f"i{dtype.itemsize}")
    words = array._raw.view(bits)
    old = np.asarray(atoll.atomic_fetch(words, pe, index=number, team=array._team), bits)
    while True:
        new = np.asarray(ufunc(old.view(dtype), value), dtype).view(bits)
        if new == old:
            return
        seen = atoll.atomic_compare_swap(words, int(old), int(new), pe, index=number, team=array._team)
        if seen == old:
            return
        old = np.asarray(seen, bits)
