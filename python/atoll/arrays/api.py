"""The names of the array API standard for distributed arrays: NumPy's functions, with makers of distributed arrays.

>>> from atoll import arrays
>>> a = arrays.ones((4, 6))
>>> xp = a.__array_namespace__()
>>> float(xp.sum(xp.zeros(5)))
0.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import DistArray
from ._compared import collective
from ._makers import arange, from_array, from_function, full, ones, zeros

__all__ = ["arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros"]

VERSIONS = ("2022.12", "2023.12", "2024.12")
_MISSING = {"from_dlpack"}


@collective()
def asarray(obj: Any, dtype: Any = None, *, copy: bool | None = None, **distribution: Any) -> DistArray:
    """Return a distributed array from numbers that are the same on every PE, or the array itself. Collective.

    Parameters
    ----------
    obj
        A distributed array, or what `numpy.asarray` takes.
    dtype
        By default that of the numbers.
    copy
        True: copy a distributed array, too. False: an error if a copy is needed.
    **distribution
        grid, dist, halo, team, device and xp of `DistArray`, for numbers.

    Returns
    -------
    DistArray
        Of one axis or more.

    Raises
    ------
    ValueError
        If `copy` is False and the elements must be copied.
    """
    if isinstance(obj, DistArray):
        is_same = dtype is None or obj.dtype == np.dtype(dtype)
        if is_same and not copy:
            return obj
        if copy is False:
            raise ValueError("asarray(copy=False): another dtype needs a copy.")
        return obj.astype(obj.dtype if dtype is None else dtype)
    if copy is False:
        raise ValueError("asarray(copy=False): numbers must be copied into symmetric memory.")
    return from_array(np.atleast_1d(np.asarray(obj, dtype)), **distribution)


def empty(shape: Any, dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array of any elements; they are zeros. Collective.

    Parameters
    ----------
    shape, dtype
        As for `DistArray`.
    **distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.
    """
    return zeros(shape, dtype, **distribution)


@collective(on_gpus=True)
def linspace(
    start: float, stop: float, num: int, *, dtype: Any = None, endpoint: bool = True, **distribution: Any
) -> DistArray:
    """Return numbers at even distances. Collective.

    Parameters
    ----------
    start, stop
        The first number and the last one, or the one behind it.
    num
        How many.
    dtype
        By default float64, or complex128.
    endpoint
        True: `stop` is the last one.
    **distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        Of one axis. Numbers are those of `numpy.linspace`.
    """
    gaps = num - 1 if endpoint else num
    its = np.result_type(np.asarray(start), np.asarray(stop), np.float64)

    def number(i: Any) -> Any:
        step = (stop - start) / gaps if gaps > 0 else np.nan
        found = i * its.type(step) + start if gaps > 0 else i * 0 + its.type(start)
        return np.where(i == num - 1, its.type(stop), found) if endpoint and num > 1 else found

    made = from_function(number, (num,), its, **distribution)
    return made if dtype is None or np.dtype(dtype) == its else made.astype(dtype)


@collective(on_gpus=True)
def eye(
    n_rows: int, n_cols: int | None = None, *, k: int = 0, dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return a matrix with ones on a diagonal. Collective.

    Parameters
    ----------
    n_rows, n_cols
        The shape; by default square.
    k
        The diagonal: that many places to the right of the main one.
    dtype
        float64 by default.
    **distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.
    """
    shape = n_rows, n_rows if n_cols is None else n_cols
    return from_function(
        lambda i, j: j - i == k, shape, np.float64 if dtype is None else dtype, **distribution
    )


def __getattr__(name: str) -> Any:
    if name in _MISSING or name.startswith("__") or not hasattr(np, name):
        raise AttributeError(
            f"atoll.arrays.api has no {name}; docs/arrays.md lists what of the array API exists."
        )
    return getattr(np, name)
