"""The methods of a distributed array that copy all of it: other distributions, other dtypes, ordinary arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _libraries
from .._boxes import Boxes, array_of
from .._compared import collective
from .._layout import Dist, Layout, Width, layout
from .._libraries import _numpy_warnings
from .._teams import _current
from .._together import before_barrier

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
# Kinds of two dtypes between which casts of any halo succeed.
_CAST = {to + was for to in "biufc" for was in "biufc"}


class Copies(Boxes):
    """Copies of a whole array. Each is collective."""

    @collective(on_gpus=True, on_copies=True)
    def redistribute(
        self,
        dist: Dist = "block",
        *,
        grid: int | Sequence[int] | None = None,
        halo: int | Sequence[int | Width] = 0,
        like: DistArray | None = None,
        out: DistArray | None = None,
    ) -> DistArray:
        """Return the same elements in another distribution. Collective; each PE puts what it has.

        Parameters
        ----------
        dist, grid, halo
            As for `DistArray`.
        like
            An array of the same shape, whose distribution and halo are taken instead.
        out
            An array of the same shape and dtype, into which the elements go; its distribution stays. It is returned.
            With `out=a` this array itself gets the new distribution, in the memory that it has. Meanwhile each PE keeps
            a copy of its part in ordinary memory. Views such as an earlier `a.local` are over.

        Returns
        -------
        DistArray
            `out`, or a new array; this one stays.

        Raises
        ------
        TypeError, ShapeMismatch
            If `like` is not a distributed array of the same shape.
        ValueError
            If the distribution does not fit the shape. With `out=a`, if a part is larger than the memory of this array.
        Unsupported
            With `out=a`, if the array is on GPUs.
        """
        from .._array import DistArray

        has_own = dist != "block" or grid is not None or halo != 0
        if has_own and (like is not None or (out is not None and out is not self)):
            name = "like" if out is None or out is self else "out"
            raise TypeError(
                f"redistribute({name}=b): b gives the distribution; leave out dist, grid and halo, or {name}."
            )
        if like is not None and out is not None and out is not self:
            raise TypeError("redistribute(like=b, out=c): out has a distribution of its own; leave out like.")
        if out is not None and out is not self:
            return self._redistributed_into(out)
        if like is not None and not isinstance(like, DistArray):
            raise TypeError(f"redistribute(like=b): b is {type(like).__name__}, not a distributed array.")
        if like is not None and like.shape != self.shape:
            raise atoll.ShapeMismatch(
                f"redistribute(like=b): b has shape {like.shape}, this array {self.shape}."
            )
        its = like._layout if like is not None else layout(self.shape, self._n_pes, grid, dist, halo)
        if out is self:
            return self._redistributed_in_place(its)
        return DistArray._moved(self._layout, self.local, its)

    def _redistributed_in_place(self, its: Layout) -> DistArray:
        if self._library is not _libraries.HOST:
            raise atoll.Unsupported(
                f"redistribute(out=a) of an array itself works on hosts, and this one is {self._library.text}; leave out "
                "`out` for a new array."
            )
        needed, room = math.prod(its.block_shape), self._memory.room
        if needed > room:
            raise ValueError(
                f"redistribute(out=a): a part of the new distribution has up to {needed} elements. This array has memory for "
                f"{room} on each PE; leave out `out` for a new array."
            )
        was, part = self._layout.without_halo(), np.array(self.local)
        _current.barrier()  # no PE reads this array any more
        array_of(self)._relayout(its)
        if its.has_halo:
            self._block[...] = np.zeros((), self.dtype)
            _current.barrier()
        for local, box in was.owned(self._me):
            self._write(box, part[local])
        _current.barrier()
        return array_of(self)

    def _redistributed_into(self, out: DistArray) -> DistArray:
        from .._array import DistArray

        if not isinstance(out, DistArray):
            raise TypeError(f"redistribute(out=b): b is {type(out).__name__}, not a distributed array.")
        if out.shape != self.shape or out.dtype != self.dtype:
            raise atoll.ShapeMismatch(
                f"redistribute(out=b): b has shape {out.shape} and dtype {out.dtype}; expected {self.shape} and {self.dtype}."
            )
        _current.barrier()  # others may still read what it had
        for local, box in self._layout.without_halo().owned(self._me):
            out._write(box, self.local[local])
        _current.barrier()
        return out

    @collective(on_gpus=True, on_copies=True)
    def to_numpy(self) -> Array:
        """Return the whole array on every PE. Collective.

        Returns
        -------
        numpy.ndarray
            A copy in host memory, from GPUs, too.
        """
        _current.barrier()
        found = self._on_host(...)
        _current.barrier()
        return found

    @collective(on_gpus=True, on_copies=True)
    def gather(self, root: int = 0) -> Array | None:
        """Return the whole array on PE `root` of the team, and None on the others. Collective.

        Parameters
        ----------
        root
            A PE number within the array's team.

        Returns
        -------
        numpy.ndarray or None
            A copy in host memory, from GPUs, too.

        Raises
        ------
        PeError
            If the root is no PE of the team.
        """
        self._pe(root)
        _current.barrier()
        found = self._on_host(...) if self._me == root else None
        _current.barrier()
        return found

    @collective("array", on_gpus=True, on_copies=True)
    def scatter(self, array: Any = None, root: int = 0) -> None:
        """Set all elements to those of an ordinary array of PE `root`, the inverse of `gather`. Collective.

        Afterwards every PE sees the new elements.

        Parameters
        ----------
        array
            An array of this shape, of any library. It is read on the root alone; others may leave it out.
        root
            A PE number within the array's team.

        Raises
        ------
        ShapeMismatch, ValueError
            On every PE, if the array of the root has another shape, or the root has none.
        PeError
            If the root is no PE of the team.
        """
        self._pe(root)
        _current.barrier()  # others may still read what it had
        with before_barrier():
            if self._me == root:
                self._set_all(array)

    def _set_all(self, array: Any) -> None:
        if array is None:
            raise ValueError(f"the root passed no array; expected one of shape {self.shape}.")
        given = np.asarray(_libraries.on_host(array))
        if given.shape != self.shape:
            raise atoll.ShapeMismatch(f"the root's array has shape {given.shape}; expected {self.shape}.")
        self[...] = given

    @collective(on_gpus=True, on_copies=True)
    def copy(self, order: str = "C") -> DistArray:
        """Return a copy of the same distribution. Collective.

        Parameters
        ----------
        order
            "C", "K" or "A", which are the same here.

        Returns
        -------
        DistArray

        Raises
        ------
        TypeError
            If it is another order.
        """
        from .._functions._moves import require_c_order

        require_c_order("a.copy", order)
        return self.astype(self.dtype)

    @collective(on_gpus=True, on_copies=True)
    def astype(self, dtype: Any, order: str = "K", *, copy: bool = True) -> DistArray:
        """Return a copy of another dtype. Collective.

        Parameters
        ----------
        dtype
            NumPy's. Numbers are cast as by `numpy.ndarray.astype`.
        order
            "C", "K" or "A", which are the same here.
        copy
            False: the array itself, if it has the dtype.

        Returns
        -------
        DistArray
            Of the same distribution and halo. Numbers in the halo are cast, too; of other dtypes it has zeros.

        Raises
        ------
        TypeError
            If it is another order.
        """
        from .._array import DistArray
        from .._functions._moves import require_c_order

        require_c_order("a.astype", order)
        if not copy and self.dtype == np.dtype(dtype):
            return array_of(self)
        made = DistArray._of(self._layout, dtype, zero=False)
        if self._layout.has_halo and (made.dtype == self.dtype or made.dtype.kind + self.dtype.kind in _CAST):
            with np.errstate(all="ignore"):  # elements beyond may be anything
                made.local_with_halo[...] = self.local_with_halo
        made.local[...] = _numpy_warnings.without_imaginary(self.local, made.dtype)
        _current.barrier()
        return made

    def _copy_on(self, to: _libraries.Library) -> DistArray:
        from .._array import DistArray

        its, made = self._library, DistArray._of(self._layout, self.dtype, zero=False, library=to)
        part = self.local_with_halo
        made.local_with_halo[...] = to.array(part if its.on_gpu and to.on_gpu else its.to_numpy(part))
        _current.barrier()
        return made
