"""Distributed arrays from and to those of mpi4py-fft, whose parts lie in the memory of MPI's processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import atoll

from .._array import DistArray
from .._compared import collective
from .._layout import layout
from .._optional import required
from .._teams import _current
from .._together import first_difference, raise_together, together


@collective("array")
def from_mpi4py_fft(array: Any, **distribution: Any) -> DistArray:
    """Return the elements of a `mpi4py_fft.DistArray`. Collective; each PE puts its part.

    Parameters
    ----------
    array
        The array; all PEs pass their parts of one.
    **distribution
        grid, dist, halo and team of `DistArray`; by default the blocks of its pencil, so that parts stay where they are if PEs
        are numbered as MPI's processes.

    Returns
    -------
    DistArray
        All PEs see its elements. It shares no memory with the argument.

    Raises
    ------
    TypeError
        If it is no such array, or of one axis, of which mpi4py-fft has the whole on every process. On every PE.
    ShapeMismatch
        If the PEs' arrays have different shapes, dtypes or grids; on every PE.
    """
    is_one = all(hasattr(array, name) for name in ("pencil", "local_slice", "global_shape", "commsizes"))
    problem: Exception | None = None
    if not is_one or np.ndim(array) < 2:
        problem = TypeError(
            f"from_mpi4py_fft(): PE {_current.my_pe()} passed {type(array).__name__}; expected an array of mpi4py-fft of two or "
            "more axes."
        )
    raise_together(problem)
    shape = tuple(map(int, array.global_shape))
    sizes = tuple(map(int, array.commsizes))
    grid = (1,) * (len(shape) - len(sizes)) + sizes  # the first axes may be components of vectors
    if difference := first_difference((shape, array.dtype.str, grid)):
        pe, first, other = difference
        raise atoll.ShapeMismatch(
            f"from_mpi4py_fft(): PE 0 passed shape {first[0]}, dtype {first[1]} and grid {first[2]}, PE {pe} {other[0]}, "
            f"{other[1]} and {other[2]}."
        )
    if not {"grid", "dist"} & distribution.keys() and np.prod(grid) == _current.n_pes():
        distribution["grid"] = grid
    made = DistArray(shape, array.dtype, **distribution)
    with together("from_mpi4py_fft()"):
        made[array.local_slice()] = np.asarray(array)
    _current.barrier()
    return made


@collective("comm")
def to_mpi4py_fft(a: DistArray, axis: int | None = None, *, comm: Any = None) -> Any:
    """Return the elements as a `mpi4py_fft.DistArray`. Collective.

    It shares the memory of `a`, if each part is the one that it has on that process, without a halo and without gaps. Else each
    PE reads its part of the pencil.

    Parameters
    ----------
    a
        The array, of two or more axes.
    axis
        An axis that becomes whole, the alignment of the pencil. None: the last one that is whole in `a`, or the last axis.
    comm
        A communicator of mpi4py of as many processes as `a` has PEs; by default MPI.COMM_WORLD.

    Returns
    -------
    mpi4py_fft.DistArray
        While it shares the memory of `a`, writes to one are writes to the other.

    Raises
    ------
    ImportError
        If mpi4py-fft is not installed.
    ValueError
        If `a` has one axis, or the communicator another number of processes.
    """
    name = "to_mpi4py_fft()"
    with together(name):
        library, pencils = required(name, "mpi4py_fft"), required(name, "mpi4py_fft.pencil")
        comm = required(name, "mpi4py.MPI").COMM_WORLD if comm is None else comm
        if a.ndim < 2:
            raise ValueError("the array has one axis; an array of mpi4py-fft has two or more.")
        if comm.Get_size() != _current.n_pes():
            raise ValueError(
                f"the communicator has {comm.Get_size()} processes, and the array {_current.n_pes()} PEs."
            )
        grid, aligned = _grid(a, axis)
        subcomm = pencils.Subcomm(comm, list(grid))
        made = library.DistArray(a.shape, subcomm, dtype=a.dtype, alignment=aligned)
        box = made.local_slice()
    is_own = all(each.is_contiguous for each in a._layout.axes) and a.bounds() == tuple(
        (each.start, each.stop) for each in box
    )
    shares = atoll.min_reduce(np.array([is_own and a.local.flags.c_contiguous], int), team=_current.team())[0]
    _current.barrier()
    if shares:
        made = library.DistArray(a.shape, subcomm, dtype=a.dtype, buffer=a.local, alignment=aligned)
    else:
        made[...] = a.get(box)
    _current.barrier()
    return made


def _grid(a: DistArray, axis: int | None) -> tuple[Sequence[int], int]:
    """Return the grid of a pencil that is whole along an axis, and the axis. The grid is that of `a`, if it fits."""
    whole = [number for number, parts in enumerate(a.grid) if parts == 1]
    number = (whole or [a.ndim - 1])[-1] if axis is None else a._layout.axis_number(axis)
    if a.grid[number] == 1:
        return a.grid, number
    dist = ["whole" if i == number else "block" for i in range(a.ndim)]
    return layout(a.shape, _current.n_pes(), None, dist).grid, number
