"""DistArray: one array distributed over all PEs, which every PE can read and write."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import atoll

from . import _halo, _libraries, _ufuncs
from ._compared import collective
from ._dtypes import agreed_dtype, converted, dtype_from
from ._layout import Box, Layout, Width, layout
from ._methods import Operations
from ._outputs import Outputs
from ._parts import Parts
from ._reductions import Reductions
from ._scalars import Scalars
from ._teams import _current
from ._teams._exchange import gathered

Array = np.ndarray[Any, Any]
# Kinds of two dtypes between which casts of any halo succeed.
_CAST = {to + was for to in "biufc" for was in "biufc"}
Dist = str | Sequence[int] | Sequence[str | Sequence[int]]


class DistArray(Parts, Reductions, Operations, Scalars, Outputs, np.lib.mixins.NDArrayOperatorsMixin):
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
        Number of parts along each axis; their product is the number of PEs of the team. By default the grid whose parts touch the
        least. PEs are numbered in C order of the grid.
    dist
        How indices are distributed, one word for all axes or one entry for each: "block" (one range a PE), "cyclic"
        (dealt in turn), "cyclic(16)" (blocks of 16 dealt in turn), "whole" (not distributed), "replicated" (each part has all), or bounds:
        part i owns bounds[i] to bounds[i + 1].
    halo
        Width of the halo: rows of the neighbours that each part keeps a copy of. One number, or for each axis a number
        or a pair (before, after). An array of one axis takes its bounds, grid and pair without a list around them.
    team
        The PEs that have the array, all by default. Only its members make the array, and calls of it that are
        collective are so over the team. PE numbers of `bounds`, `owner`, `gather` are those within the team. Memory
        comes from `arrays.reserve`.
    device
        "cpu" (None), or "cuda": the parts lie on the PEs' GPUs. An array made within a call on arrays is where they are.
    xp
        The library of the parts: "cupy" (by default on GPUs) or "torch", or the module.

    Raises
    ------
    ValueError
        If grid, distribution or halo do not fit the shape or the number of PEs.
    InvalidArgument
        If this PE is not a member of the team.
    OutOfMemory
        If the symmetric heap has no room, or too little of it is reserved for teams.

    Notes
    -----
    Making an array is collective over its team. What collective calls return is visible to every PE. A block takes the room of the largest part and its halo on every PE.
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

    _exchange: _halo.Exchange | None = None  # once the halo was exchanged

    @collective("self", name="DistArray", on_gpus=True, on_copies=True)
    def __init__(
        self,
        shape: int | Sequence[int],
        dtype: Any = None,
        *,
        grid: int | Sequence[int] | None = None,
        dist: Dist = "block",
        halo: int | Sequence[int | Width] = 0,
        team: atoll.Team | None = None,
        device: Any = None,
        xp: Any = None,
    ) -> None:
        if team is not None and team != _current.team():
            raise atoll.InvalidArgument(
                "DistArray(team=...): an array over another team within a collective call; make it by a separate call."
            )
        library = _current.library()
        if device is not None or xp is not None:
            library = _libraries.chosen(device, xp, "DistArray")
        kind = dtype_from(library.dtype_from(dtype))
        self._make(layout(shape, _current.n_pes(), grid, dist, halo), kind, True, library)

    @classmethod
    def _of(
        cls, its: Layout, dtype: Any, zero: bool = True, library: _libraries.Library | None = None
    ) -> DistArray:
        """Return a new array with a layout; without `zero` its part has anything, and is to be filled. Collective.

        Its parts are of the library of the call that runs, unless one is given.
        """
        made = cls.__new__(cls)
        made._make(its, np.dtype(dtype), zero, library)
        return made

    @classmethod
    def _from_part(cls, its: Layout, part: Array) -> DistArray:
        """Return a new array with a layout, of which `part` is this PE's part; all PEs see all of it. Collective."""
        made = cls._of(its, _current.library().dtype(part), zero=False)
        made.local[...] = part
        _current.barrier()
        return made

    @classmethod
    def _moved(cls, was: Layout, part: Array, its: Layout, order: Sequence[int] | None = None) -> DistArray:
        """Return a new array with a layout from the PEs' parts of another one; each PE puts what it has. Collective.

        Parameters
        ----------
        was
            The layout of the elements now. Its halo is not looked at.
        part
            This PE's part, any array.
        its
            The layout of the result.
        order
            Permutation of the axes, as for `numpy.transpose`.
        """
        made = cls._of(its, _current.library().dtype(part), zero=False)
        for local, box in was.without_halo().owned(_current.my_pe()):
            if order is None:
                made._write(box, part[local])
            else:
                made._write(
                    Box(tuple(box.ranges[axis] for axis in order)), made._library.permuted(part[local], order)
                )
        _current.barrier()
        return made

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
            "a distributed array cannot be pickled, since its parts lie on all PEs; use a.to_numpy(), or a.save(path)."
        )

    def __repr__(self) -> str:
        if not self._memory.exists:
            return f"DistArray(shape={self.shape}, dtype={self.dtype}, freed)"
        halo = f", halo={self._layout.halo}" if self._layout.has_halo else ""
        place = self._layout.ranges_text(self._me)
        is_over = self._over._is_destroyed
        team = f" of a {'destroyed ' if is_over else ''}team of {self._n_pes}"
        of = team if is_over or self._over != atoll.WORLD else ""
        owns = f", PE {self._me}{of} owns {place}" if place else of and f", PE {self._me}{of}"
        where = "" if self._library is _libraries.HOST else f", {self._library.text}"
        return (
            f"DistArray(shape={self.shape}, dtype={self.dtype}, {self._layout.kinds} on a grid of {self.grid}{halo}{where}"
            f"{owns})"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise TypeError(
            "a distributed array does not become a NumPy array by itself, since that moves all of it to each PE. Ask for "
            "it: a.to_numpy(), a.gather(root), a[box], or a.local for this PE's part."
        )

    # Collective operations.

    @collective(on_gpus=True, on_copies=True)
    def free(self) -> None:
        """Free the memory of the array on all its PEs. Collective; waits for all of them.

        An array without references is freed, too, but later, with an allocation. Afterwards every access is an error.
        NumPy's views that were taken before, such as `x = a.local`, cannot be found: they show other memory.

        Raises
        ------
        UseAfterFree
            If it is freed already; also every later access raises it. The text says what array it was, and the line that
            made it.
        """
        _ = self._block
        self._library.finish()
        if self._exchange is not None:
            self._exchange.free()
        self._end()
        self._memory.free()

    def _copy_on(self, to: _libraries.Library) -> DistArray:
        its, made = self._library, DistArray._of(self._layout, self.dtype, zero=False, library=to)
        part = self.local_with_halo
        made.local_with_halo[...] = to.array(part if its.on_gpu and to.on_gpu else its.to_numpy(part))
        _current.barrier()
        return made

    def exchange_halo(self, border: str | Sequence[str] | None = None, stream: Any = None) -> None:
        """Fill the halo of every part with the neighbours' elements, corners included.

        Collective over the team, but each PE waits for its neighbours only.

        Parameters
        ----------
        border
            What the halo has beyond the array's ends, one word or one for each axis. "fixed": what it had.
            "periodic": the elements of the other end. "reflect": the elements mirrored at the first one, which is
            not repeated (`numpy.pad` calls it so). By default that of the array's first exchange, or "fixed"; an array
            keeps its border.
        stream
            For arrays on GPUs: enqueue the exchange on this stream of CuPy or PyTorch, or on the "current" one, and return
            at once. None waits for it. A CUDA graph may capture it after the first exchange.

        Raises
        ------
        ValueError
            If the array has no halo, or a word is not known. If it is on hosts, and a stream is given.
        """
        self.start_halo(border, stream)
        self.finish_halo()

    def start_halo(self, border: str | Sequence[str] | None = None, stream: Any = None) -> None:
        """Send the neighbours their halo. Until `finish_halo`, do not read this PE's halo.

        On hosts `local` may change meanwhile, unless a border reflects: the neighbours get what it had. On GPUs, change it on
        the same stream.

        With a stream it enqueues that, and `finish_halo` continues on the same stream.

        Parameters
        ----------
        border, stream
            As for `exchange_halo`.

        Raises
        ------
        ValueError
            As for `exchange_halo`.
        """
        _ = self._block
        if stream is not None and not self._library.on_gpu:
            raise ValueError(
                f"exchange_halo(stream=...): this array is {self._library.text}; leave the stream out."
            )
        if self._exchange is None:
            if not self._layout.has_halo:
                raise ValueError("this array has no halo; make it with halo=1, or wider.")
            self._exchange = _halo.Exchange(self._layout, self._team, self._memory.raw, self._library)
        self._exchange.start(border, stream)

    def finish_halo(self) -> None:
        """Wait until this PE's halo has arrived.

        Raises
        ------
        ValueError
            If `start_halo` was not called before.
        """
        if self._exchange is None:
            raise ValueError("finish_halo() without start_halo().")
        self._exchange.finish()

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

        Returns
        -------
        DistArray
            `out`, or a new array; this one stays.

        Raises
        ------
        TypeError, ShapeMismatch
            If `like` is not a distributed array of the same shape.
        ValueError
            If the distribution does not fit the shape.
        """
        if out is not None:
            return self._redistributed_into(out)
        if like is not None and not isinstance(like, DistArray):
            raise TypeError(f"redistribute(like=b): b is {type(like).__name__}, not a distributed array.")
        if like is not None and like.shape != self.shape:
            raise atoll.ShapeMismatch(
                f"redistribute(like=b): b has shape {like.shape}, this array {self.shape}."
            )
        its = like._layout if like is not None else layout(self.shape, self._n_pes, grid, dist, halo)
        return DistArray._moved(self._layout, self.local, its)

    def _redistributed_into(self, out: DistArray) -> DistArray:
        if not isinstance(out, DistArray) or out is self:
            raise TypeError("redistribute(out=b): expected another distributed array.")
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

    @collective(on_gpus=True, on_copies=True)
    def copy(self) -> DistArray:
        """Return a copy of the same distribution. Collective.

        Returns
        -------
        DistArray
        """
        return self.astype(self.dtype)

    @collective(on_gpus=True, on_copies=True)
    def astype(self, dtype: Any) -> DistArray:
        """Return a copy of another dtype. Collective.

        Parameters
        ----------
        dtype
            NumPy's. Numbers are cast as by `numpy.ndarray.astype`.

        Returns
        -------
        DistArray
            Of the same distribution and halo. Numbers in the halo are cast, too; of other dtypes it has zeros.
        """
        made = DistArray._of(self._layout, dtype, zero=False)
        if self._layout.has_halo and (made.dtype == self.dtype or made.dtype.kind + self.dtype.kind in _CAST):
            with np.errstate(all="ignore"):  # what lies beyond may be anything
                made.local_with_halo[...] = self.local_with_halo
        made.local[...] = self.local
        _current.barrier()
        return made

    @collective(on_gpus=True, on_copies=True)
    def map_blocks(
        self,
        function: Callable[..., Array],
        *others: DistArray,
        halo: bool | int | Sequence[int | Width] = False,
        border: str | Sequence[str] | None = None,
        **keywords: Any,
    ) -> DistArray:
        """Return an array whose parts are a function of these parts. Collective.

        Parameters
        ----------
        function
            Takes this PE's part, then those of the other arrays, and returns an array of the same shape.
        *others
            Arrays of the same distribution, whose parts the function gets, too. They may have other halos.
        halo
            A width, as for `DistArray`: exchange halos of that width, and pass the part with its halo. True: pass parts
            with the halos that the arrays have. `exchange_halo` must have filled them.
        border
            With a width, as for `exchange_halo`. With "fixed" the halo has zeros beyond the ends of the array.
        **keywords
            Passed to the function.

        Returns
        -------
        DistArray
            Of the same distribution and halo as this array.

        Raises
        ------
        ShapeMismatch
            If the function returns another shape on any PE; then on every PE. If another array is distributed in another
            way.
        TypeError
            If one of the others is no distributed array.
        ValueError
            If a width is more than a part has. If there is a border without a width.

        Notes
        -----
        The dtype is one that has the results of all parts with elements. With a width, each array is copied once with its
        halo. Its own halo stays as it is.
        """
        its = self._library
        for other in others:
            if not isinstance(other, DistArray):
                raise TypeError(
                    f"map_blocks: {type(other).__name__} is no distributed array; pass it by name."
                )
        _ufuncs._common_layout("map_blocks", [self, *others], strict=True)
        result = its.array(function(*(each._block_for(halo, border) for each in (self, *others)), **keywords))
        has, expected = tuple(result.shape), tuple(self.local.shape)
        problem = None
        if has != expected:
            problem = (
                f"map_blocks: the function returned shape {has} on PE {self._me}, whose part has "
                f"{expected}; expected the shape of the part."
            )
        every = gathered((problem, its.dtype(result), math.prod(has)))
        for found, _, _ in every:
            if found is not None:
                raise atoll.ShapeMismatch(found)
        dtype = agreed_dtype([(dtype, size) for _, dtype, size in every])
        return DistArray._from_part(self._layout, converted(result, dtype, its))

    def _block_for(
        self, halo: bool | int | Sequence[int | Width], border: str | Sequence[str] | None
    ) -> Array:
        """Return this PE's part as `map_blocks` passes it. Collective if `halo` is a width."""
        if isinstance(halo, bool):
            if border is not None:
                raise ValueError("map_blocks: a border needs a width, such as halo=1.")
            return self.local_with_halo if halo else self.local
        made = DistArray._of(self._layout.with_halo(halo), self.dtype)
        made.local[...] = self.local
        if made._layout.has_halo:
            made.exchange_halo(border)
        return made.local_with_halo

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the module that has the array API's functions for distributed arrays.

        Parameters
        ----------
        api_version
            The version of the standard; 2024.12 is followed as far as docs/arrays.md says.

        Returns
        -------
        module
            `atoll.arrays.api`.

        Raises
        ------
        ValueError
            If the version is not known.
        """
        from . import api

        if api_version not in (None, *api.VERSIONS):
            raise ValueError(f"api_version {api_version!r} is not one of {', '.join(api.VERSIONS)}.")
        return api

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _ufuncs.apply(ufunc, method, inputs, keywords)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        return _ufuncs.call(function, arguments, keywords)
