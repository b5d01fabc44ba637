"""Boxes of a distributed array: one-sided reads and writes, which need no call of the owner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

import atoll

from . import _libraries, _replicated
from ._at import At, summand
from ._box_copy import read_only
from ._functions._indexed import elements, has_distributed, indices_of
from ._functions._moves import require_bool, select
from ._layout import Box
from ._parts import Parts, key_of
from ._settings import mixed
from ._together import in_place
from ._updates._atomic import accumulate
from ._updates._by_all import write_rows
from ._updates._chosen import (
    expanded,
    has_arrays,
    has_new_axes,
    put_chosen,
    with_virtual_axes,
    without_masks,
)

if TYPE_CHECKING:
    from ._array import DistArray

Array = np.ndarray[Any, Any]
STREAMED = 4 << 20  # bytes from which on a strided put bypasses the cache


class Boxes(Parts):
    """Reads and writes of boxes of an array. They are not collective."""

    # The base class has a[box], get and put. It does the common cases on hosts, and leaves the others to these methods.

    def _get_item(self, key: Any) -> Any:
        if isinstance(key, str):
            self._refuse_field(key)
        if has_distributed(key):
            return self._by_distributed(key)
        if not has_arrays(key) and has_new_axes(key):
            return self._with_new_axes(key)
        found = self._by_arrays(key) if has_arrays(key) else self._get(key)
        # Else a[0][1] = 5 would change a copy, and be lost.
        return read_only(found) if isinstance(found, np.ndarray) else found

    def _by_distributed(self, key: Any) -> Any:
        if isinstance(key, Parts) and key.dtype.kind not in "iu":
            return select(array_of(self), array_of(key))
        return elements(array_of(self), indices_of(self, key))

    def _by_arrays(self, key: Any) -> Any:
        if not has_new_axes(key):
            return self.at[without_masks(key, self.shape)].get()
        keys, longer, is_new = with_virtual_axes(key, self.shape)
        every = expanded(keys, longer, self._library)
        kept = tuple(each for each, new in zip(every, is_new, strict=True) if not new)
        shape = np.broadcast_shapes(*(np.shape(each) for each in every))
        return self.at[kept].get().reshape(shape)

    def _with_new_axes(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        found = self[tuple(each for each in keys if each is not None)]
        # Integers leave no axis in what was found.
        rest = [each for each in keys if each is None or each is ... or isinstance(each, slice)]
        axes = tuple(slice(None) if isinstance(each, slice) else each for each in rest)
        return read_only(np.asarray(found)[axes]) if self._library is _libraries.HOST else found[axes]

    def _refuse_field(self, name: str) -> NoReturn:
        names = self.dtype.names
        if names is None or name not in names:
            raise IndexError(f"a[{name!r}]: elements of {self.dtype} have no such field.")
        raise IndexError(
            f"a[{name!r}]: a field has no array of its own. Take a[box][{name!r}], a "
            f"copy, a.local[{name!r}] for this PE's part, also to write. a.map_blocks(lambda x: x[{name!r}]) makes an array "
            "of it."
        )

    def _set_item(self, key: Any, value: Any) -> None:
        if isinstance(key, Parts) and key.dtype.kind not in "iu":
            self._set_where(key, value)
        elif has_distributed(key):
            self.at[key].set(value)
        elif isinstance(key, str):
            self._refuse_field(key)
        elif has_arrays(key) and not has_new_axes(key):
            self.at[without_masks(key, self.shape)].set(value)
        elif has_new_axes(key):
            raise IndexError("a[key] = value: the key has None; leave it out, and give value that shape.")
        else:
            self._put(key, value)

    def _set_where(self, mask: Parts, value: Any) -> None:
        """Write where a mask of this distribution is True, or one of the first axes; each PE writes its own part."""
        require_bool(array_of(mask), "a[b] = value")
        if mask.ndim < self.ndim and mask.shape == self.shape[: mask.ndim]:
            write_rows(array_of(self), array_of(mask), value)
            return
        if mask.shape == self.shape and mixed.get() == "redistribute":
            mask = array_of(mask).redistribute(like=array_of(self))
        if not self._layout.same_distribution(mask._layout):
            raise IndexError(
                f"a[mask] = value: the mask is {mask!r}; expected elements of bool in the distribution of {self!r}."
            )
        if isinstance(value, Parts):
            put_chosen(array_of(self), array_of(mask), array_of(value))
            return
        if np.ndim(value):
            raise atoll.ShapeMismatch(
                "a[mask] = value takes a number or a distributed array; for an array use numpy.where."
            )
        _write_where(array_of(self), array_of(mask), value)

    def _get(self, box: Any, out: Array | None = None) -> Any:
        near = self._only_owner(box) if self._library.on_gpu else None
        if near is not None:
            found = self._copy_of(*near, out)
            if found is not None:
                return found
        wanted, its = self._layout.box(box), self._library
        if out is not None and not hasattr(out, "shape"):
            raise TypeError(
                f"a.get(): out is {out!r:.40}; expected an array of shape {wanted.visible} and dtype {self.dtype}."
            )
        if out is not None and (tuple(out.shape) != wanted.visible or its.dtype(out) != self.dtype):
            raise atoll.ShapeMismatch(
                f"a.get(): out has shape {tuple(out.shape)} and dtype {out.dtype}; the box has {wanted.visible} of {self.dtype}."
            )
        if its is not _libraries.HOST and isinstance(out, np.ndarray):
            out[...] = self._on_host(box)
            return out
        target = its.empty(wanted.shape, self.dtype) if out is None else out.reshape(wanted.shape)
        in_order = target
        if wanted.reversed:
            in_order = (
                its.empty(wanted.shape, self.dtype)
                if its.flips_by_copy
                else its.flip(target, wanted.reversed)
            )
        self._read(wanted, in_order)
        if wanted.reversed and its.flips_by_copy:
            target[...] = its.flip(in_order, wanted.reversed)
        if out is not None and 0 not in out.shape and not its.shares_memory(out, target):
            out[...] = target.reshape(out.shape)
        its.finish()
        if out is not None:
            return out
        found = target.reshape(wanted.visible)
        return found if wanted.visible or not wanted.dropped else found[()]

    def _only_owner(self, box: Any) -> tuple[int, tuple[Any, ...]] | None:
        """Return the PE that owns all of a box, and the place there; None for boxes of several PEs, and for copies."""
        return None if self._layout.has_copies else self._near(box)

    def _copy_of(self, pe: int, local: tuple[Any, ...], out: Array | None) -> Any:
        """Return a copy of a box within the part of one PE; None if `out` is of another kind or shape."""
        part, its = self._raw[local], self._library
        if out is None:
            found = its.empty(part.shape, self.dtype)
        elif type(out) is self._memory.kind and out.shape == part.shape and its.dtype(out) == self.dtype:
            found = out
        else:
            return None
        if pe == self._me:
            found[...] = self._block[local]
            its.finish()
        else:
            its.get(found, part, pe, team=self._team)
        return found if out is not None or part.shape else found[()]

    def _read(self, box: Box, target: Array) -> None:
        for piece in self._layout.pieces(box, self._me):
            if piece.pe == self._me:
                target[piece.target] = self._block[piece.local]
            else:
                self._library.get(target[piece.target], self._raw[piece.local], piece.pe, team=self._team)

    def _on_host(self, box: Any) -> Array:
        """Return a box as NumPy's array, as `get` does on hosts, without a copy on the GPU."""
        if self._library is _libraries.HOST:
            return cast(Array, self.get(box))
        wanted = self._layout.box(box)
        target = np.empty(wanted.shape, self.dtype)
        self._library.finish()  # the calls have no array of the library
        for piece in self._layout.pieces(wanted, self._me):
            self._library.get(target[piece.target], self._raw[piece.local], piece.pe, team=self._team)
        return np.flip(target, wanted.reversed).reshape(wanted.visible)

    def _put(self, box: Any, value: Any) -> None:
        if isinstance(value, Parts):
            self._assign(self._layout.box(box), value)
            return
        its = self._library
        given = its.assigned(value, self.dtype)
        near = self._only_owner(box)
        if near is not None:
            pe, local = near
            part = self._raw[local]
            if pe == self._me and (given.ndim == 0 or given.shape == part.shape):
                self._block[local] = given
                its.finish()
                return
            if given.shape == part.shape:
                its.put(part, its.contiguous(given, self.dtype), pe, team=self._team)
                return
        wanted = self._layout.box(box)
        self._write(wanted, _fitted("a[...] = value", given, wanted, its))
        its.finish()

    def _write(self, box: Box, given: Array) -> None:
        """Write a box. A GPU may still write when this returns; a barrier of this package waits for it."""
        its = self._library
        for piece in self._layout.pieces(box):
            values = given[piece.target]
            if values.nbytes >= STREAMED and its is _libraries.HOST and values.dtype == self.dtype:
                atoll.put(self._raw[piece.local], values, piece.pe, team=self._team)
                continue
            there = self._memory.view(piece.pe)
            if there is not None and (its.on_gpu or not its.is_plain(values, self.dtype)):
                there[piece.local] = values  # one copy, which also converts
            else:
                its.put(self._raw[piece.local], its.contiguous(values, self.dtype), piece.pe, team=self._team)

    def _assign(self, wanted: Box, value: Parts) -> None:
        if value._library is not self._library:
            raise atoll.InvalidArgument(
                f"a[...] = b: a is {self._library.text}, b {value._library.text}; bring b to the place of a by "
                "atoll.arrays.to_device(b, device)."
            )
        if wanted != self._layout.whole():
            raise atoll.ShapeMismatch(
                "a[box] = b of a distributed b takes the whole of a, as a[...] = b. Write a[box] = b[...], which reads all of b. "
                "If b has the shape of a, write a[box] = b[box]."
            )
        if not self._layout.same_distribution(value._layout):
            raise atoll.ShapeMismatch(
                f"a[...] = b: a is {self!r}, b is {value!r}; redistribute one: b.redistribute(like=a)."
            )
        _write_whole(array_of(self), array_of(value))

    def _accumulate(self, box: Any, value: Any, scale: Any, op: str) -> None:
        """Combine a box with values that the quick form does not take."""
        _replicated.refuse_updates("accumulate", self)
        if isinstance(box, Parts):
            raise IndexError(
                "a.accumulate(mask, x) takes boxes of integers and slices; for a mask write a[mask] += x."
            )
        if has_arrays(box):
            raise IndexError(
                f"a.accumulate({box!r:.40}, x) takes boxes of integers and slices; for arrays of indices use "
                "a.at[indices].add(x)."
            )
        accumulate(array_of(self), box, value, scale, op, _fitted)

    def get_nbi(self, box: Any, out: Array) -> None:
        """Read a box into an array, which has the elements after `atoll.quiet()`. Not collective.

        Parameters
        ----------
        box
            What indexing takes, without negative steps.
        out
            A NumPy array of the box's shape and this dtype; on GPUs one of the library.

        Raises
        ------
        ShapeMismatch
            If `out` does not fit.
        IndexError
            If the box has a negative step.
        """
        for part, own, pe in self._pieces_beside("get_nbi", box, "out", out, self._me):
            atoll.get_nbi(own, part, pe, team=self._team)

    def put_nbi(self, box: Any, value: Array) -> None:
        """Write an array into a box. Do not change the array before `atoll.quiet()`. Not collective.

        Visible to other PEs after a barrier, which completes it, too.

        Parameters
        ----------
        box
            What indexing takes, without negative steps.
        value
            A NumPy array of the box's shape and this dtype; on GPUs one of the library.

        Raises
        ------
        ShapeMismatch
            If the array does not fit.
        IndexError
            If the box has a negative step.
        """
        for part, own, pe in self._pieces_beside("put_nbi", box, "the value", value):
            atoll.put_nbi(part, own, pe, team=self._team)

    def _pieces_beside(
        self, call: str, box: Any, name: str, array: Array, near: int | None = None
    ) -> Iterator[tuple[Any, Any, int]]:
        """Yield the pieces of a box in the PEs' parts, those of an array of its shape, and the PEs."""
        wanted, its = self._forward(box, call), self._library
        if not hasattr(array, "shape"):
            raise TypeError(f"a.{call}(): {name} is {array!r}; expected an array of shape {wanted.visible}.")
        if tuple(array.shape) != wanted.visible or its.dtype(array) != self.dtype:
            raise atoll.ShapeMismatch(
                f"a.{call}(): {name} has shape {tuple(array.shape)} and dtype {array.dtype}; the box has "
                f"{wanted.visible} of {self.dtype}."
            )
        whole = array[tuple(None if axis in wanted.dropped else slice(None) for axis in range(self.ndim))]
        for piece in self._layout.pieces(wanted, near):
            yield self._raw[piece.local], its.raw(whole[piece.target]), piece.pe

    def _forward(self, box: Any, call: str) -> Box:
        wanted = self._layout.box(box)
        if wanted.reversed:
            raise IndexError(f"a.{call}() takes slices with positive steps.")
        return wanted

    @property
    def at(self) -> At:
        """Elements by arrays of indices: `a.at[rows, columns].get()`, `.set(x)`, `.add(x)`."""
        return At(array_of(self))

    def fetch_add(self, index: int | Sequence[int], value: Any) -> Any:
        """Add to one element atomically, and return its value before.

        Not collective.

        Parameters
        ----------
        index
            One integer for each axis.
        value
            A number.

        Returns
        -------
        Any
            A number of Python.

        Raises
        ------
        IndexError
            If it is not one element of the array.
        DtypeMismatch
            If this dtype is not an integer of 32 or 64 bits, float32 or float64.
        """
        if isinstance(value, (np.generic, np.ndarray)):
            value = summand(value, self.dtype).item()
        _replicated.refuse_updates("fetch_add", self)
        key = key_of(index)
        near = self._only_owner(key) if len(key) == self.ndim else None
        if near is None or self._raw[near[1]].ndim:
            raise IndexError(
                f"fetch_add({index}, ...): expected one integer for each of the {self.ndim} axes, in range."
            )
        pe, local = near
        number = 0
        for at, room in zip(local, self._block.shape, strict=False):  # `local` ends with "..."
            number = number * room + at
        self._library.finish()  # this PE's earlier writes
        return atoll.atomic_fetch_add(self._raw, value, pe, index=number, team=self._team)


def _fitted(call: str, given: Array, box: Box, its: _libraries.Library) -> Any:
    """Return values of a library in the shape and order of a box's ranges."""
    if (more := given.ndim - len(box.visible)) > 0 and all(n == 1 for n in given.shape[:more]):
        given = given.reshape(given.shape[more:])  # NumPy drops them, too
    try:
        given = its.broadcast(given, box.visible)
    except ValueError:
        raise atoll.ShapeMismatch(
            f"{call}: the value has shape {tuple(given.shape)}, which does not broadcast to the box, {box.visible}."
        ) from None
    return its.flip(given.reshape(box.shape), box.reversed)


def _write_where(a: DistArray, mask: DistArray, value: Any) -> None:
    """Write a number where a mask is True; each PE writes its own part. Collective."""

    def write() -> None:
        a.local[mask.local] = value

    in_place("a[mask] = x", (a, mask, value), {}, write)


def _write_whole(a: DistArray, b: DistArray) -> None:
    """Copy an array of the same distribution, each PE its own part. Collective."""

    def write() -> None:
        a.local[...] = b.local

    in_place("a[...] = b", (a, b), {}, write)


def array_of(parts: Parts) -> DistArray:
    """Return an array itself, as its class."""
    return cast("DistArray", parts)
