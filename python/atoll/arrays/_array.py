"""DistArray: one array distributed over all PEs, which every PE can read and write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import atoll

from . import _libraries, _replicated, _ufuncs
from ._compared import collective, under_one_name
from ._dtypes import dtype_from
from ._layout import Box, Dist, Layout, Width, layout
from ._methods._copies import Copies
from ._methods._halos import Halos
from ._methods._operations import Operations
from ._methods._outputs import Outputs
from ._methods._reductions import Reductions
from ._methods._scalars import Scalars
from ._teams import _current

Array = np.ndarray[Any, Any]


@under_one_name
class DistArray(Halos, Copies, Reductions, Operations, Scalars, Outputs, np.lib.mixins.NDArrayOperatorsMixin):
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
    Making an array is collective over its team. Results of collective calls are visible to every PE. A block takes the room of the largest part and its halo on every PE.
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

    def __setattr__(self, name: str, value: Any) -> None:
        if type(self) is DistArray and not name.startswith("_") and not hasattr(DistArray, name):
            raise AttributeError(
                f"'DistArray' has no attribute {name!r} to set. Write elements by a[...] = value, and keep other "
                "things in a variable of your own."
            )
        super().__setattr__(name, value)

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

    def _relayout(self, its: Layout) -> None:
        """Take another layout, whose block fits the memory of this array. Its elements are to be written. Collective."""
        if self._exchange is not None:
            self._exchange.free()
            self._exchange = None
        self._layout = its
        _replicated.note(its.has_copies)
        self._memory.reshape(its.block_shape)
        self._show_block()

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
        position = self._layout.ranges_text(self._me)
        is_over = self._over._is_destroyed
        team = f" of a {'destroyed ' if is_over else ''}team of {self._n_pes}"
        of = team if is_over or self._over != atoll.WORLD else ""
        owns = f", PE {self._me}{of} owns {position}" if position else of and f", PE {self._me}{of}"
        where = "" if self._library is _libraries.HOST else f", {self._library.text}"
        return (
            f"DistArray(shape={self.shape}, dtype={self.dtype}, {self._layout.kinds} on a grid of {self.grid}{halo}{where}"
            f"{owns})"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise TypeError(
            "a distributed array does not become a NumPy array by itself, since that moves all of it to each PE. Ask for "
            "it: a.to_numpy(), a.gather(root), a[box], or a.local for this PE's part. To look up its elements in NumPy's x "
            "write a.map_blocks(lambda part: x[part])."
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
