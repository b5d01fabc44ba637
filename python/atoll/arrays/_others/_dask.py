"""Distributed arrays from arrays of Dask."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .._array import DistArray
from .._compared import collective
from .._teams import _current
from .._together import first_difference, raise_together, together


@collective("array")
def from_dask(array: Any, *, scheduler: Any = "synchronous", **distribution: Any) -> DistArray:
    """Return the elements of an array of Dask. Collective.

    Each PE computes every n-th chunk and puts it where it belongs. A value that several chunks depend on, such as the
    sum of all elements, is computed by each PE that needs it.

    Parameters
    ----------
    array
        A `dask.array.Array`; every PE makes the same one.
    scheduler
        Dask's, by which a PE computes a chunk: by default in this thread, since each PE has its share.
    distribution
        grid, dist, halo and team of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    TypeError
        If it is no array of Dask.
    ValueError
        If the PEs' arrays have different shapes, dtypes or chunks, or lengths that Dask does not know; on every PE.
    Exception
        If a chunk cannot be computed: on every PE, with the PE's number. An error of a kind that is not NumPy's or
        Python's own becomes a RuntimeError.

    Notes
    -----
    A PE needs memory for one chunk and for what it depends on.
    """
    raise_together(_problem(array))
    if difference := first_difference((tuple(array.chunks), str(array.dtype))):
        pe, first, other = difference
        raise ValueError(
            f"from_dask(): PE 0 passed chunks {first[0]} of {first[1]}, PE {pe} {other[0]} of {other[1]}; "
            "make the same array on every PE."
        )
    made = DistArray(array.shape, array.dtype, **distribution)
    starts = [list(itertools.accumulate(sizes, initial=0)) for sizes in array.chunks]
    numbers = itertools.product(*(range(len(sizes)) for sizes in array.chunks))
    with together("from_dask()"):
        for number in itertools.islice(numbers, _current.my_pe(), None, _current.n_pes()):
            box = tuple(slice(at[i], at[i + 1]) for at, i in zip(starts, number, strict=True))
            made.put(box, np.asarray(array.blocks[number].compute(scheduler=scheduler)))
    _current.barrier()
    return made


def _problem(array: Any) -> Exception | None:
    if not hasattr(array, "blocks") or not hasattr(array, "chunks"):
        return TypeError(
            f"from_dask(): PE {_current.my_pe()} passed {type(array).__name__}; expected an array of Dask."
        )
    if any(n != n for n in array.shape):
        return ValueError(
            f"from_dask(): shape {array.shape} has lengths that Dask does not know; call array.compute_chunk_sizes()."
        )
    return None
