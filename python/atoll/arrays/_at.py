"""Elements of a distributed array by arrays of indices: gather, scatter and scatter-add."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from . import _libraries, _replicated
from ._updates import _chosen

if TYPE_CHECKING:
    from ._array import DistArray
    from ._axis import Axis

Array = np.ndarray[Any, Any]

# Indices are converted in chunks that stay in the cache.
CHUNK = 16 * 1024


class At:
    """Elements of a `DistArray` chosen by arrays of indices, as JAX's `x.at`.

    Parameters
    ----------
    array
        The array; `array.at` makes this object.
    """

    def __init__(self, array: DistArray) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        from ._functions._indexed import ChosenByAll, has_distributed

        _ = self._array._team  # an error if it is destroyed
        if has_distributed(key):
            return ChosenByAll(self._array, key)
        return Chosen(self._array, key if isinstance(key, tuple) else (key,))


class Chosen:
    """Elements by arrays of indices, which broadcast against each other, and slices, in NumPy's order of the axes.

    Parameters
    ----------
    array
        The array.
    key
        The indices; `array.at[key]` makes this object.

    Raises
    ------
    IndexError
        If an index is out of range or not an integer, or there are more than axes.
    """

    def __init__(self, array: DistArray, key: tuple[Any, ...]) -> None:
        its = array._layout
        key = tuple(_chosen.expanded(key, its.shape, array._library))
        self._array = array
        where = array._library
        self._key = [wrapped(given, axis.length, where) for given, axis in zip(key, its.axes, strict=True)]
        self._shape = np.broadcast_shapes(*(tuple(index.shape) for index in self._key))

    def get(self, out: Array | None = None) -> Array:
        """Return the elements, from the PEs that own them. Not collective.

        Parameters
        ----------
        out
            A contiguous array of the indices' shape and this dtype for the result. It is also returned.

        Returns
        -------
        Array
            `out`, or a new array of the indices' shape, of the library of the parts.

        Raises
        ------
        ShapeMismatch
            If `out` does not fit.
        """
        array, its = self._array, self._array._library
        found: Array = its.empty(self._shape, array.dtype) if out is None else out
        if not hasattr(found, "shape"):
            raise TypeError(f"a.at[...].get(): out is {out!r:.60}; expected an array of {self._shape}.")
        if tuple(found.shape) != self._shape or not its.is_plain(found, array.dtype):
            raise atoll.ShapeMismatch(
                f"a.at[...].get(): out has shape {found.shape} and dtype {found.dtype}; expected a contiguous array of "
                f"{self._shape} and {array.dtype}."
            )
        flat, window = found.reshape(-1), array._memory.window()
        for chunk_slice, pes, numbers in self._chunks():
            if window is None:
                atoll.take(
                    array._raw, its.raw(numbers), _raw(its, pes), its.raw(flat[chunk_slice]), team=array._team
                )
            else:
                memory, distance = window
                memory.take(
                    _address(numbers, pes, distance), out=flat[chunk_slice], mode="clip"
                )  # no copy, unlike "raise"
        return found

    def set(self, values: Any) -> None:
        """Write the elements. Not collective; visible after a barrier. If indices repeat, one of the values is kept.

        Parameters
        ----------
        values
            A number or an array that broadcasts to the indices. It is cast to this dtype.

        Raises
        ------
        ShapeMismatch
            If they do not broadcast.
        OverflowError, TypeError, ValueError
            If a number of Python does not fit this dtype, as by an assignment of NumPy.
        """
        array, its = self._array, self._array._library
        converted = its.cast(its.assigned(values, array.dtype), array.dtype)
        given, window = self._values(converted), array._memory.window()
        for copy in array._layout.copies(array._me):
            for chunk_slice, pes, numbers in self._chunks(copy):
                if window is None:
                    atoll.put_at(
                        array._raw,
                        its.raw(numbers),
                        its.raw(given[chunk_slice]),
                        _raw(its, pes),
                        team=array._team,
                    )
                else:
                    memory, distance = window
                    memory[_address(numbers, pes, distance)] = given[chunk_slice]

    def add(self, values: Any) -> None:
        """Add to the elements, each atomically, so that equal indices get every value. Not collective.

        Parameters
        ----------
        values
            A number or an array that broadcasts to the indices.

        Raises
        ------
        TypeError
            If the values are not of this kind of numbers, such as 1.5 for integers.
        DtypeMismatch
            If this dtype is not an integer of 32 or 64 bits, float32 or float64; on hosts also complex64 and complex128.
        ShapeMismatch
            If they do not broadcast.

        Notes
        -----
        Of complex numbers each part is added atomically.
        """
        array, its = self._array, self._array._library
        _replicated.refuse_updates("at[...].add", array)
        given = summand(values, array.dtype, its)
        is_on_host = its is _libraries.HOST and array.dtype.kind in "iuf" and array.dtype.isnative
        if is_on_host and array.dtype.itemsize in (4, 8):
            axes = array._layout.axes
            if len(axes) == 1 and axes[0].bounds is not None and array._memory.window() is not None:
                flat = given if given.ndim == 0 else self._values(given)
                low = array._layout.halo[0][0]
                atoll._atoll._add_in_blocks(array._raw[low:], self._key[0], flat, axes[0].bounds)
                return
            # Without another PE or thread no addition has to be atomic.
            if atoll.WORLD.n_pes() == 1 and threading.active_count() == 1:
                self._add_alone(self._values(given))
                return
        flat = self._values(given)
        if array.dtype.kind == "c" and its is _libraries.HOST and array.dtype.itemsize > 16:
            raise atoll.DtypeMismatch(
                f"a.at[...].add(): elements of {array.dtype}; expected complex64 or complex128."
            )
        for chunk_slice, pes, numbers in self._chunks():
            add_at(array, numbers, flat[chunk_slice], pes)

    def _add_alone(self, given: Array) -> None:
        memory = self._array._block.reshape(-1)
        for chunk_slice, _, numbers in self._chunks():
            np.add.at(memory, numbers, given[chunk_slice])

    def _values(self, given: Array) -> Any:
        """Return values as one flat array of the indices' shape."""
        its = self._array._library
        try:
            flat = its.broadcast(given, self._shape).reshape(-1)
        except ValueError:
            raise atoll.ShapeMismatch(
                f"a.at[...]: values of shape {tuple(given.shape)} do not broadcast to the indices, {self._shape}."
            ) from None
        return flat if its is _libraries.HOST else its.contiguous(flat, its.dtype(flat))

    def _chunks(self, copy: Sequence[int] = ()) -> Iterator[tuple[slice, Any, Array]]:
        """Yield chunks: their place in the flat result, the PEs, and the elements' numbers in the PEs' blocks.

        `copy` is the place in the grid of the copies that are meant, by default this PE's.
        """
        its, size = self._array._layout, math.prod(self._shape)
        library = self._array._library
        keys = [library.broadcast(index, self._shape).reshape(-1) for index in self._key]
        rooms, positions = its.block_shape, copy or its.coordinates(self._array._me)
        is_whole = library.on_gpu or (len(keys) == 1 and its.axes[0].parts == 1)  # nothing is converted
        chunk = max(size, 1) if is_whole else CHUNK
        for start in range(0, size, chunk):
            chunk_slice = slice(start, start + chunk)
            pes: Any = 0
            numbers: Any = 0
            for axis, index, (low, _), room, at in zip(
                its.axes, keys, its.halo, rooms, positions, strict=True
            ):
                part, local = (at, index[chunk_slice]) if axis.has_copies else split(axis, index[chunk_slice])
                pes = pes * axis.parts + part
                numbers = numbers * room + (local + low if low else local)
            yield chunk_slice, pes, numbers


def split(axis: Axis, index: Array) -> tuple[Any, Array]:
    """Return the owning part of each index and its position there. A single part is the number 0."""
    if axis.parts == 1:
        return 0, index
    if axis.bounds is None:
        return axis.owner(index), axis.local(index)
    if axis.parts > 4 and isinstance(index, np.ndarray):
        part = axis.owner(index)
        return part, index - np.asarray(axis.bounds).take(part)
    # Comparisons are faster than a search.
    is_past: Any = index >= axis.bounds[1]
    part = is_past * 1
    local = index - is_past * axis.bounds[1]
    for before, bound in zip(axis.bounds[1:-2], axis.bounds[2:-1], strict=True):
        is_past = index >= bound
        part += is_past
        local -= is_past * (bound - before)
    return part, local


def _address(numbers: Array, pes: Any, distance: int) -> Array:
    return numbers if isinstance(pes, int) and pes == 0 else numbers + pes * distance


def _raw(library: _libraries.Library, pes: Any) -> Any:
    return pes if isinstance(pes, int) else library.raw(pes)


def add_at(array: DistArray, numbers: Any, values: Any, pes: Any) -> None:
    """Add values to elements of PEs' blocks, each atomically; of complex numbers each part."""
    its, raw = array._library, array._raw
    if its is _libraries.HOST and array.dtype in (np.complex64, np.complex128):
        halves = np.dtype(f"f{array.dtype.itemsize // 2}")
        raw, values = raw.view(halves), np.ascontiguousarray(values).view(halves)
        numbers = (2 * numbers[:, None] + np.arange(2)).reshape(-1)
        pes = pes if isinstance(pes, int) else np.repeat(pes, 2)
    atoll.add_at(raw, its.raw(numbers), its.raw(values), _raw(its, pes), team=array._team)


def summand(values: Any, dtype: np.dtype[Any], library: _libraries.Library = _libraries.HOST) -> Any:
    """Return values to add as numbers of a dtype, if they are of its kind, as an array of a library.

    Raises
    ------
    OverflowError
        If an integer of Python does not fit the dtype.
    TypeError
        If they are not.
    """
    if hasattr(values, "_layout"):
        raise TypeError(
            f"{values!r} cannot be added to a box, which is the call of one PE. Pass numbers, such as b.local or b[box]; "
            "for two whole distributed arrays write a += b."
        )
    values = _numbers(values, dtype) if not hasattr(values, "dtype") and not library.takes(values) else values
    given = library.array(values)
    was = library.dtype(given)
    if was.kind not in "iufcb":
        raise TypeError(f"values of {was} cannot be added; expected numbers.")
    if was == dtype:
        return given
    converted = library.cast(given, dtype)
    integers = was.kind in "iub" and dtype.kind in "iu"
    if np.can_cast(was, dtype, "same_kind") or (integers and bool((converted == given).all())):
        return converted
    raise TypeError(
        f"values of {was} cannot be added to elements of {dtype} without loss; convert them first."
    )


def multiplied(value: Any, scale: Any) -> Any:
    """Return the product of two operands on the host; integers of Python stay exact."""
    if isinstance(value, int) and isinstance(scale, int):
        return value * scale
    factors = [each for each in (value, scale) if not isinstance(each, int)]
    if any(np.asarray(each).dtype.kind not in "iufcb" for each in factors):
        raise TypeError(f"a.accumulate(): {value!r:.40} times {scale!r:.40}: expected numbers.")
    return np.multiply(value, scale)


def _numbers(values: Any, dtype: np.dtype[Any]) -> Any:
    """Convert Python numbers to an array. Integers take `dtype` if it holds them."""
    given = np.asarray(values)
    if given.dtype.kind == "O" and not all(isinstance(value, int) for value in given.flat):
        raise TypeError(f"values of {type(values).__name__} cannot be added; expected numbers.")
    is_whole = given.dtype.kind in "iu" and dtype.kind in "iu"
    return np.asarray(values, dtype) if is_whole or given.dtype.kind == "O" else given


def wrapped(given: Any, length: int, library: _libraries.Library = _libraries.HOST) -> Any:
    """Return indices of an axis as numbers from 0 of 64 bits, as an array of a library.

    Raises
    ------
    IndexError
        If one is out of range, or they are not integers.
    """
    if library is not _libraries.HOST:
        return _wrapped_by(library, given, length)
    index = np.asarray(given)
    if index.size == 0:
        return index.astype(np.int64)
    if index.dtype.kind not in "iu":
        raise IndexError(f"a.at[...] takes integers, not {index.dtype}.")
    if index.dtype == np.int64 and int(index.view(np.uint64).max()) < length:
        return index  # negative numbers would be large ones
    if index.min() < -length or index.max() >= length:
        wrong = index[(index < -length) | (index >= length)].flat[0]
        raise IndexError(f"index {wrong} is out of bounds for an axis of size {length}")
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + length, index)


def _wrapped_by(library: _libraries.Library, given: Any, length: int) -> Any:
    """Return the same; indices that are not on the GPU are checked before they go there."""
    if not library.takes(given):
        return library.array(wrapped(given, length))
    index = library.array(given)
    kind = library.dtype(index).kind
    if 0 in index.shape:
        return library.cast(index, np.dtype(np.int64))
    if kind not in "iu":
        raise IndexError(f"a.at[...] takes integers, not {index.dtype}.")
    least, most = int(index.min()), int(index.max())
    if least < -length or most >= length:
        wrong = least if least < -length else most
        raise IndexError(f"index {wrong} is out of bounds for an axis of size {length}")
    index = library.cast(index, np.dtype(np.int64))
    return library.chosen(index < 0, index + length, index) if least < 0 else index
