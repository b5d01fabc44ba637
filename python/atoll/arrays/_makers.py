"""Functions that make distributed arrays. Each is collective over all PEs and takes `DistArray`'s grid, dist, halo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import atoll

from ._array import DistArray


def zeros(shape: int | Sequence[int], dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array of zeros. Collective.

    Parameters
    ----------
    shape, dtype
        As for `DistArray`.
    distribution
        grid, dist and halo of `DistArray`.
    """
    return DistArray(shape, dtype, **distribution)


def full(shape: int | Sequence[int], value: Any, dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array filled with a number; its dtype is the number's by default. Collective."""
    made = DistArray(shape, np.asarray(value).dtype if dtype is None else dtype, **distribution)
    made.local[...] = value
    return made


def ones(shape: int | Sequence[int], dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array of ones. Collective."""
    return full(shape, 1, np.float64 if dtype is None else dtype, **distribution)


def arange(
    start: int, stop: int | None = None, step: int = 1, dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return the integers that `range` of the same arguments has. Collective."""
    numbers = range(start) if stop is None else range(start, stop, step)
    made = DistArray(len(numbers), np.int64 if dtype is None else dtype, **distribution)
    made.local[...] = numbers.start + numbers.step * made.global_indices(0)
    return made


def from_function(
    function: Callable[..., Any], shape: int | Sequence[int], dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return an array whose elements are a function of their global indices. Collective.

    Parameters
    ----------
    function
        Takes an array of global indices for each axis, which broadcast against each other (as from `numpy.ix_`), and
        returns the elements.
    shape, dtype, distribution
        As for `zeros`.

    Examples
    --------
    >>> from atoll import arrays
    >>> arrays.from_function(lambda i, j: 10 * i + j, (2, 3), int)[1]
    array([10, 11, 12])
    """
    made = DistArray(shape, dtype, **distribution)
    made.local[...] = function(*made._layout.mesh(atoll.my_pe()))
    return made


def random(shape: int | Sequence[int], seed: int = 0, dtype: Any = None, **distribution: Any) -> DistArray:
    """Return uniform random numbers in [0, 1), the same for any number of PEs and any distribution. Collective.

    Parameters
    ----------
    shape
        As for `zeros`.
    seed
        An integer. Each row along the last axis has its own stream of NumPy's Philox generator.
    dtype
        float64 (by default) or float32.
    distribution
        grid, dist and halo of `DistArray`.
    """
    if seed < 0:
        raise ValueError(f"random(seed={seed}): a seed is 0 or more.")
    made = DistArray(shape, dtype, **distribution)
    own = [made.global_indices(axis) for axis in range(made.ndim)]
    rows = made.local.reshape(-1, len(own[-1])) if made.ndim > 1 else made.local[np.newaxis]
    filled = np.empty(rows.shape, made.dtype)
    starts = np.zeros(1, np.int64)
    if made.ndim > 1:
        starts = np.asarray(np.ravel_multi_index(np.ix_(*own[:-1]), made.shape[:-1])).ravel()
    for target, row in zip(filled, starts, strict=True):
        stream = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, int(row)]))
        target[...] = stream.random(made.shape[-1], made.dtype.type)[own[-1]]
    made.local[...] = filled.reshape(made.local.shape)
    return made


def from_array(array: Any = None, root: int | None = None, **distribution: Any) -> DistArray:
    """Return a distributed copy of a NumPy array. Collective.

    Parameters
    ----------
    array
        The whole array: the same on every PE, or, with `root`, only there.
    root
        The PE whose array is taken; what the others pass is ignored.
    distribution
        grid, dist and halo of `DistArray`.

    Raises
    ------
    ValueError
        If a PE that needs an array has none.
    """
    if root is None:
        if array is None:
            raise ValueError("from_array() needs an array on every PE, or root= and an array there.")
        given = np.asarray(array)
        made = DistArray(given.shape, given.dtype, **distribution)
        made.local[...] = given[made._layout.mesh(atoll.my_pe())]
        return made
    described = None
    if atoll.my_pe() == root:
        described = ("nothing", None) if array is None else (np.asarray(array).shape, np.asarray(array).dtype)
    shape, dtype = atoll.bcast_object(described, root=root)
    if shape == "nothing":
        raise ValueError(f"from_array(root={root}): PE {root} passed no array.")
    made = DistArray(shape, dtype, **distribution)
    if atoll.my_pe() == root:
        made[...] = array
    atoll.barrier_all()
    return made


def load(path: str | Path, **distribution: Any) -> DistArray:
    """Return the array of a .npy file, of which each PE reads its own part. Collective.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, or is not a .npy file.
    """
    whole = np.lib.format.open_memmap(path, mode="r")
    made = DistArray(whole.shape, whole.dtype.newbyteorder("="), **distribution)
    for local, box in made._layout.owned(atoll.my_pe()):
        made._block[local] = whole[tuple(given.slice for given in box.ranges)]
    return made


def save(path: str | Path, array: DistArray) -> None:
    """Write an array to a .npy file, each PE its own part. Collective; all PEs see one file system.

    Raises
    ------
    OSError
        If the file cannot be written. The PEs that cannot raise it.
    """
    if not isinstance(array, DistArray):
        raise TypeError(
            f"save(path, array): the second argument is {type(array).__name__}, not a distributed array."
        )
    problem = None
    if atoll.my_pe() == 0:
        try:
            np.lib.format.open_memmap(path, mode="w+", dtype=array.dtype, shape=array.shape).flush()
        except OSError as error:
            problem = error
    problem = atoll.bcast_object(problem, root=0)
    if problem is not None:
        raise problem
    whole = np.load(path, mmap_mode="r+")
    for local, box in array._layout.owned(atoll.my_pe()):
        whole[tuple(given.slice for given in box.ranges)] = array._block[local]
    whole.flush()
    atoll.barrier_all()
