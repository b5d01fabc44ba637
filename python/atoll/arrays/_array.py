"""DistArray: one array distributed over all PEs, which every PE can read and write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import atoll

from . import _halo, _ufuncs
from ._layout import Box, Layout, Width, layout
from ._reductions import Reductions

Array = np.ndarray[Any, Any]
Dist = str | Sequence[int] | Sequence[str | Sequence[int]]


class DistArray(Reductions, np.lib.mixins.NDArrayOperatorsMixin):
    """An N-dimensional array whose parts lie in the symmetric memory of all PEs.

    Each PE owns a part, `local`, an ordinary NumPy array. Any PE reads and writes any box of the whole by indexing,
    without a call of the owner: `a[10:20, ::2]` returns a NumPy array, `a[box] = x` writes. Elementwise operations of
    NumPy between arrays of one distribution work on the parts and return a `DistArray`.

    Parameters
    ----------
    shape
        Global shape, at least one axis.
    dtype
        NumPy's, float64 by default.
    grid
        Number of parts along each axis; their product is the number of PEs. By default the grid whose parts touch the
        least. PEs are numbered in C order of the grid.
    dist
        How indices are distributed, one word for all axes or one entry for each: "block" (one range a PE), "cyclic"
        (dealt in turn), "cyclic(16)" (blocks of 16 dealt in turn), "whole" (not distributed), or a list of bounds:
        part i owns bounds[i] to bounds[i + 1].
    halo
        Width of the halo: rows of the neighbours that each part keeps a copy of. One number, or for each axis a number
        or a pair (before, after). An array of one axis takes its bounds, grid and pair without a list around them.

    Raises
    ------
    ValueError
        If grid, distribution or halo do not fit the shape or the number of PEs.
    OutOfMemory
        If the symmetric heap has no room.

    Notes
    -----
    Making an array is collective over all PEs. A block takes the room of the largest part and its halo on every PE.
    Reading and writing by index are not collective. A write is in place on return for this PE, and visible to others
    after a barrier, as for `atoll.put`. A read sees what the owner's last barrier or signal made visible, as for
    `atoll.get`.

    Examples
    --------
    >>> from atoll.arrays import DistArray
    >>> a = DistArray((4, 6))
    >>> a[1, 2:5] = 7
    >>> a[:2, 1:4]
    array([[0., 0., 0.],
           [0., 7., 7.]])
    """

    __array_priority__ = 1000

    def __init__(
        self,
        shape: int | Sequence[int],
        dtype: Any = None,
        *,
        grid: int | Sequence[int] | None = None,
        dist: Dist = "block",
        halo: int | Sequence[int | Width] = 0,
    ) -> None:
        self._make(
            layout(shape, atoll.n_pes(), grid, dist, halo), np.dtype(np.float64 if dtype is None else dtype)
        )

    def _make(self, its: Layout, dtype: np.dtype[Any]) -> None:
        self._layout = its
        self._block: Array = atoll.zeros(its.block_shape, dtype)
        self._exchange: _halo.Exchange | None = None

    @classmethod
    def _of(cls, its: Layout, dtype: Any) -> DistArray:
        """Return a new array of zeros with a layout. Collective."""
        made = cls.__new__(cls)
        made._make(its, np.dtype(dtype))
        return made

    @classmethod
    def _from_part(cls, its: Layout, part: Array) -> DistArray:
        """Return a new array with a layout, of which `part` is this PE's part. Collective."""
        made = cls._of(its, part.dtype)
        made.local[...] = part
        return made

    # Its shape, type and distribution.

    @property
    def shape(self) -> tuple[int, ...]:
        """Global shape."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        its: np.dtype[Any] = self._block.dtype
        return its

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._layout.axes)

    @property
    def size(self) -> int:
        """Number of elements in all parts together."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of parts along each axis."""
        return self._layout.grid

    @property
    def local(self) -> Array:
        """This PE's part, a view without the halo. Writes to it are writes to the array."""
        return self._block[self._layout.interior(atoll.my_pe())]

    @property
    def local_with_halo(self) -> Array:
        """This PE's part with its halo, a view."""
        return self._block[self._layout.padded(atoll.my_pe())]

    def owner(self, index: int | Sequence[int]) -> int:
        """Return the PE that owns an element, given by one index for each axis."""
        box = self._layout.box(_key(index))
        places = [int(axis.owner(r.start)) for axis, r in zip(self._layout.axes, box.ranges, strict=True)]
        return self._layout.pe_at(places)

    def bounds(self, pe: int | None = None) -> tuple[tuple[int, int], ...]:
        """Return the global indices of a PE's part as (start, stop) for each axis; of this PE by default.

        Raises
        ------
        ValueError
            If an axis is cyclic, so that the part is not one range; use `global_indices`.
        """
        for number, axis in enumerate(self._layout.axes):
            if not axis.is_contiguous:
                raise ValueError(
                    f"axis {number} is {axis.kind}: its parts are not ranges; use a.global_indices({number})."
                )
        places = self._layout.coordinates(self._pe(pe))
        axes = zip(self._layout.axes, places, strict=True)
        return tuple(
            (axis.bounds[part], axis.bounds[part + 1]) for axis, part in axes if axis.bounds is not None
        )

    def global_indices(self, axis: int, pe: int | None = None) -> Array:
        """Return the global indices along an axis of a PE's part, ascending; of this PE by default."""
        number = self._layout.axis_number(axis)
        return self._layout.axes[number].indices(self._layout.coordinates(self._pe(pe))[number])

    def _pe(self, pe: int | None) -> int:
        if pe is None:
            return int(atoll.my_pe())
        if not 0 <= pe < atoll.n_pes():
            raise atoll.PeError(f"PE {pe} does not exist; the job has PEs 0 to {atoll.n_pes() - 1}.")
        return pe

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "the truth value of a distributed array of more or less than one element is ambiguous; use a.any() or "
                "a.all()."
            )
        return bool(self[(0,) * self.ndim])

    def __copy__(self) -> DistArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> DistArray:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a distributed array cannot be pickled, since its parts lie on all PEs; use a.to_numpy(), or "
            "atoll.arrays.save."
        )

    def __repr__(self) -> str:
        kinds = " x ".join(axis.kind for axis in self._layout.axes)
        halo = f", halo={self._layout.halo}" if any(map(any, self._layout.halo)) else ""
        owns = ""
        if all(axis.is_contiguous for axis in self._layout.axes):
            owns = ", PE " + f"{atoll.my_pe()} owns [" + ", ".join(f"{a}:{b}" for a, b in self.bounds()) + "]"
        return (
            f"DistArray(shape={self.shape}, dtype={self.dtype}, {kinds} on a grid of {self.grid}{halo}{owns})"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise TypeError(
            "a distributed array does not become a NumPy array by itself, since that moves all of it to each PE. Ask for "
            "it: a.to_numpy(), a.gather(root), a[box], or a.local for this PE's part."
        )

    # Boxes: one-sided reads and writes.

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key)
        if isinstance(found, np.ndarray):
            found.flags.writeable = False  # else a[0][1] = 5 would change a copy, and be lost
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def get(self, box: Any, out: Array | None = None) -> Any:
        """Return the elements of a box, from the PEs that own them.

        Not collective. The elements are those that the owners' last barrier or signal made visible.

        Parameters
        ----------
        box
            What indexing takes: integers, slices (also with negative steps) and `...`.
        out
            An array of the box's shape and this dtype for the result. It is also returned.

        Returns
        -------
        numpy.ndarray or scalar
            A copy; a scalar if all indices are integers. `a[box]` is the same, but read-only: writes to it would not
            reach the array.

        Raises
        ------
        IndexError
            If an integer is out of range, or an index is not an integer, a slice or `...`.
        ShapeMismatch
            If `out` has another shape.
        """
        wanted = self._layout.box(box)
        if out is not None and (out.shape != wanted.visible or out.dtype != self.dtype):
            raise atoll.ShapeMismatch(
                f"a.get(): out has shape {out.shape} and dtype {out.dtype}; the box has {wanted.visible} of {self.dtype}."
            )
        target = np.empty(wanted.shape, self.dtype) if out is None else out.reshape(wanted.shape)
        in_order = np.flip(target, wanted.reversed)
        self._read(wanted, in_order)
        if out is not None:
            if not np.shares_memory(out, target) and out.size:
                out[...] = target.reshape(out.shape)
            return out
        found = target.reshape(wanted.visible)
        return found if wanted.visible or not wanted.dropped else found[()]

    def _read(self, box: Box, target: Array) -> None:
        me = atoll.my_pe()
        for piece in self._layout.pieces(box):
            part = self._block[piece.local]
            if piece.pe == me:
                target[piece.place] = part
            else:
                atoll.get(target[piece.place], part, piece.pe)

    def put(self, box: Any, value: Any) -> None:
        """Write a box, on the PEs that own its elements.

        Not collective. Visible to other PEs after a barrier. PEs that write the same element at once leave one of the
        values.

        Parameters
        ----------
        box
            What indexing takes.
        value
            A number or an array that broadcasts to the box's shape, converted to this dtype as by NumPy's assignment.
            Or a `DistArray` of the same distribution, if the box is everything: then each PE copies its own part.

        Raises
        ------
        IndexError
            As for `get`.
        ShapeMismatch
            If the value does not broadcast to the box, or is distributed in another way.
        """
        wanted = self._layout.box(box)
        if isinstance(value, DistArray):
            self._assign(wanted, value)
            return
        self._write(wanted, _fitted("a[...] = value", np.asarray(value), wanted))

    def _write(self, box: Box, given: Array) -> None:
        me = atoll.my_pe()
        for piece in self._layout.pieces(box):
            part = self._block[piece.local]
            if piece.pe == me:
                part[...] = given[piece.place]
            else:
                atoll.put(part, np.ascontiguousarray(given[piece.place], self.dtype), piece.pe)

    def _assign(self, wanted: Box, value: DistArray) -> None:
        if wanted != self._layout.whole():
            raise atoll.ShapeMismatch(
                "a[box] = b of a distributed b takes the whole of a; write a[...] = b, or a[box] = b[box]."
            )
        if not self._layout.same_distribution(value._layout):
            raise atoll.ShapeMismatch(
                f"a[...] = b: a is {self!r}, b is {value!r}; redistribute one: b.redistribute(like=a)."
            )
        self.local[...] = value.local

    def accumulate(self, box: Any, value: Any, scale: Any = 1) -> None:
        """Add `scale * value` to a box, each element atomically.

        Not collective. PEs that add to the same element at once lose nothing. Visible to other PEs after a barrier.

        Parameters
        ----------
        box
            What indexing takes.
        value
            A number or an array that broadcasts to the box's shape.
        scale
            A number.

        Raises
        ------
        DtypeMismatch
            If this dtype is not an integer of 32 or 64 bits, float32 or float64.
        """
        wanted = self._layout.box(box)
        given = _fitted("a.accumulate()", _summand(np.multiply(value, scale), self.dtype), wanted)
        for piece in self._layout.pieces(wanted):
            numbers = _numbers(self._block.shape, piece.local)
            atoll.add_at(
                self._block, numbers.ravel(), np.ascontiguousarray(given[piece.place]).ravel(), piece.pe
            )

    @property
    def at(self) -> At:
        """Elements by arrays of indices: `a.at[rows, columns].get()`, `.set(x)`, `.add(x)`."""
        return At(self)

    def fetch_add(self, index: int | Sequence[int], value: Any) -> Any:
        """Add to one element atomically, and return its value before.

        Not collective.

        Parameters
        ----------
        index
            One integer for each axis.
        value
            A number.
        """
        chosen = self.at[_key(index)]
        return atoll.atomic_fetch_add(self._block, value, int(chosen.pes), index=int(chosen.numbers))

    # Collective operations.

    def exchange_halo(self, border: str | Sequence[str] = "fixed") -> None:
        """Fill the halo of every part with the neighbours' elements, corners included.

        Collective over all PEs, but each waits for its neighbours only.

        Parameters
        ----------
        border
            What the halo has beyond the array's ends, one word or one for each axis. "fixed": what it had.
            "periodic": the elements of the other end. "reflect": the elements mirrored at the first one, which is
            not repeated (`numpy.pad` calls it so). An array keeps the border of its first exchange.

        Raises
        ------
        ValueError
            If the array has no halo, or a word is not known.
        """
        self.start_halo(border)
        self.finish_halo()

    def start_halo(self, border: str | Sequence[str] = "fixed") -> None:
        """Send the neighbours their halo. Until `finish_halo`, do not read this PE's halo and do not change `local`."""
        if self._exchange is None:
            if not any(map(any, self._layout.halo)):
                raise ValueError("this array has no halo; make it with halo=1, or wider.")
            self._exchange = _halo.Exchange(self._layout, self._block)
        self._exchange.start(border)

    def finish_halo(self) -> None:
        """Wait until this PE's halo has arrived."""
        if self._exchange is None:
            raise ValueError("finish_halo() without start_halo().")
        self._exchange.finish()

    def redistribute(
        self,
        dist: Dist = "block",
        *,
        grid: int | Sequence[int] | None = None,
        halo: int | Sequence[int | Width] = 0,
        like: DistArray | None = None,
    ) -> DistArray:
        """Return the same elements in another distribution. Collective; each PE puts what it has.

        Parameters
        ----------
        dist, grid, halo
            As for `DistArray`.
        like
            An array of the same shape, whose distribution and halo are taken instead.
        """
        if like is not None and not isinstance(like, DistArray):
            raise TypeError(f"redistribute(like=b): b is {type(like).__name__}, not a distributed array.")
        if like is not None and like.shape != self.shape:
            raise atoll.ShapeMismatch(
                f"redistribute(like=b): b has shape {like.shape}, this array {self.shape}."
            )
        its = like._layout if like is not None else layout(self.shape, atoll.n_pes(), grid, dist, halo)
        made = DistArray._of(its, self.dtype)
        for local, box in self._layout.owned(atoll.my_pe()):
            made._write(box, self._block[local])
        atoll.barrier_all()
        return made

    def to_numpy(self) -> Array:
        """Return the whole array on every PE. Collective."""
        atoll.barrier_all()
        found: Array = self[...]
        atoll.barrier_all()
        return found

    def gather(self, root: int = 0) -> Array | None:
        """Return the whole array on PE `root`, and None on the others. Collective."""
        self._pe(root)
        atoll.barrier_all()
        found: Array | None = self[...] if atoll.my_pe() == root else None
        atoll.barrier_all()
        return found

    def copy(self) -> DistArray:
        """Return a copy of the same distribution. Collective."""
        return self.astype(self.dtype)

    def astype(self, dtype: Any) -> DistArray:
        """Return a copy of another dtype. Collective."""
        made = DistArray._of(self._layout, dtype)
        made._block[...] = self._block
        return made

    def map_blocks(self, function: Callable[[Array], Array], *, halo: bool = False) -> DistArray:
        """Return an array whose parts are a function of these parts. Collective.

        Parameters
        ----------
        function
            Takes this PE's part and returns an array of the same shape.
        halo
            Pass the part with its halo. `exchange_halo` must have filled it.

        Raises
        ------
        ShapeMismatch
            If the function returns another shape.
        """
        result = np.asarray(function(self.local_with_halo if halo else self.local))
        if result.shape != self.local.shape:
            raise atoll.ShapeMismatch(
                f"map_blocks: the function returned shape {result.shape}; this PE's part has {self.local.shape}."
            )
        return DistArray._from_part(self._layout, result)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _ufuncs.apply(ufunc, method, inputs, keywords)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        return _ufuncs.call(function, arguments, keywords)


class At:
    """Elements of a `DistArray` chosen by arrays of indices, as JAX's `x.at`."""

    def __init__(self, array: DistArray) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Chosen:
        return Chosen(self._array, key if isinstance(key, tuple) else (key,))


class Chosen:
    """Elements by one array of indices for each axis, which broadcast against each other."""

    def __init__(self, array: DistArray, key: tuple[Any, ...]) -> None:
        its = array._layout
        if len(key) != len(its.axes):
            raise IndexError(
                f"a.at[...] takes one array of indices for each of the {len(its.axes)} axes, not {len(key)}."
            )
        self._array = array
        pes, numbers = np.int64(0), np.int64(0)
        for axis, given, (low, _), room in zip(its.axes, key, its.halo, its.block_shape, strict=True):
            index = _wrapped(given, axis.length)
            pes = pes * axis.parts + axis.owner(index)
            numbers = numbers * room + axis.local(index) + low
        self.pes, self.numbers = np.broadcast_arrays(pes, numbers)

    def get(self, out: Array | None = None) -> Array:
        """Return the elements, from the PEs that own them. Not collective."""
        return atoll.take(self._array._block, self.numbers, self.pes, out)

    def set(self, values: Any) -> None:
        """Write the elements. Not collective; visible after a barrier. Of equal indices one value remains."""
        atoll.put_at(self._array._block, self.numbers, np.asarray(values, self._array.dtype), self.pes)

    def add(self, values: Any) -> None:
        """Add to the elements, each atomically, so that equal indices get every value. Not collective.

        Raises
        ------
        TypeError
            If the values are not of this kind of numbers, such as 1.5 for integers.
        """
        atoll.add_at(self._array._block, self.numbers, _summand(values, self._array.dtype), self.pes)


def _key(index: Any) -> tuple[Any, ...]:
    """Return one index for each axis as a tuple; an array of one axis takes an integer."""
    return tuple(index) if isinstance(index, (tuple, list, np.ndarray)) and np.ndim(index) else (index,)


def _fitted(call: str, given: Array, box: Box) -> Array:
    """Return values in the shape and order of a box's ranges."""
    try:
        given = np.broadcast_to(given, box.visible)
    except ValueError:
        raise atoll.ShapeMismatch(
            f"{call}: the value has shape {given.shape}, which does not broadcast to the box, {box.visible}."
        ) from None
    return np.flip(given.reshape(box.shape), box.reversed)


def _summand(values: Any, dtype: np.dtype[Any]) -> Array:
    """Return values to add as numbers of a dtype, if they are of its kind."""
    given = np.asarray(values)
    converted = given.astype(dtype)
    integers = given.dtype.kind in "iub" and dtype.kind in "iu"
    if np.can_cast(given.dtype, dtype, "same_kind") or (integers and np.array_equal(converted, given)):
        return converted
    raise TypeError(
        f"values of {given.dtype} cannot be added to elements of {dtype} without loss; convert them first."
    )


def _wrapped(given: Any, length: int) -> Any:
    if isinstance(given, slice):
        raise IndexError("a.at[...] takes integers and arrays of integers, not slices; a[box] takes those.")
    index = np.asarray(given)
    if index.size == 0:
        index = index.astype(np.int64)
    if index.dtype.kind not in "iu":
        raise IndexError(f"a.at[...] takes integers, not {index.dtype}.")
    if index.size and (index.min() < -length or index.max() >= length):
        wrong = index[(index < -length) | (index >= length)].flat[0]
        raise IndexError(f"index {wrong} is out of bounds for an axis of size {length}")
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + length, index)


def _numbers(shape: tuple[int, ...], local: tuple[slice, ...]) -> Array:
    """Return the numbers in C order of the elements of a box of a block."""
    numbers: Array = np.zeros((1,) * len(shape), np.int64)
    stride = 1
    for axis in reversed(range(len(shape))):
        along = np.arange(local[axis].start, local[axis].stop, local[axis].step, dtype=np.int64) * stride
        numbers = numbers + along.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        stride *= shape[axis]
    return numbers
