"""Functions that make distributed arrays. Each is collective over the team and takes the keywords of `DistArray`.

On return all members see all elements.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._objects import check_pe
from ._array import DistArray
from ._compared import are_compared, checksum, collective
from ._functions._moves import require_keywords
from ._layout import is_one
from ._libraries import on_host, refuse_masked
from ._teams import _current
from ._teams._exchange import gathered
from ._together import before_barrier, first_difference, together
from ._ufuncs import fill
from ._updates._joined import joined

DRAWN = 1 << 16  # random numbers drawn at a time
PHILOX_BYTES = 32  # random bytes per count of the generator


@collective()
def zeros(shape: int | Sequence[int], dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array of zeros. Collective.

    Parameters
    ----------
    shape, dtype
        As for `DistArray`.
    distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    ValueError, InvalidArgument, OutOfMemory
        As for `DistArray`.
    """
    require_keywords("zeros", distribution)
    return DistArray(shape, dtype, **distribution)


@collective()
def full(shape: int | Sequence[int], value: Any, dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array filled with a value; its dtype is the value's by default. Collective.

    Parameters
    ----------
    shape
        As for `DistArray`.
    value
        A number, a record as a tuple, or an array that broadcasts to the shape.
    dtype
        None: that of the value.
    **distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    OverflowError, TypeError, ValueError
        If a number of Python does not fit the dtype, as by an assignment of NumPy.
    """
    require_keywords("full", distribution)
    wanted = np.asarray(value).dtype if dtype is None else dtype
    if dtype is None and np.dtype(wanted).hasobject:
        raise TypeError(f"full(): the value {value!r} has no dtype of NumPy; pass a number, or dtype=.")
    made = DistArray(shape, wanted, **distribution)
    fill(made, value)
    _current.barrier()
    return made


@collective()
def ones(shape: int | Sequence[int], dtype: Any = None, **distribution: Any) -> DistArray:
    """Return a distributed array of ones. Collective.

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
    return full(shape, 1, np.float64 if dtype is None else dtype, **distribution)


def _require_fit(numbers: range, dtype: np.dtype[Any]) -> None:
    """Raise for integers that a dtype does not have; NumPy's arange does likewise."""
    if dtype.kind == "b" and len(numbers) > 2:
        raise TypeError(f"arange(dtype=bool): {len(numbers)} elements; expected two at most.")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        for each in (numbers[0], numbers[-1]) if numbers else ():
            if not limits.min <= each <= limits.max:
                raise OverflowError(
                    f"arange(): {each} is out of bounds for {dtype}, {limits.min} to {limits.max}; pass a wider dtype=."
                )


@collective()
def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return evenly spaced numbers from `start` to before `stop`, those of `numpy.arange`. Collective.

    Parameters
    ----------
    start, stop, step
        Integers, or real numbers; one argument is the stop. With steps such as 0.1 rounding decides the number of elements.
    dtype
        By default int64 for integers, else float64.
    **distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        Of one axis.

    Raises
    ------
    ValueError
        If the step is 0.
    OverflowError
        If an integer does not fit the dtype.
    """
    require_keywords("arange", distribution)
    first, end = (0, start) if stop is None else (start, stop)
    if not step:
        raise ValueError("arange(step=0): a step is another number than 0.")
    are_integers = all(map(is_one, (first, end, step)))
    for each in (first, end, step):
        if not is_one(each) and not isinstance(each, (float, np.floating)):
            raise TypeError(
                f"arange(): {each!r} is a {type(each).__name__}; expected integers or real numbers."
            )
    every = range(int(first), int(end), int(step)) if are_integers else range(0)
    if are_integers:
        length = len(every)
    else:
        length = max(0, math.ceil((end - first) / step))
        first, step = float(first), float(step)
        step = (first + step) - first  # numpy.arange has the distance of its first two elements
    made = DistArray(
        length, (np.int64 if are_integers else np.float64) if dtype is None else dtype, **distribution
    )
    places = made.global_indices(0)
    _require_fit(every, made.dtype)
    if are_integers and made.dtype.kind == "u":  # unsigned arithmetic modulo 2**64 gives the right values
        numbers: Any = np.uint64(every.step % 2**64) * places.astype(np.uint64) + np.uint64(
            every.start % 2**64
        )
    else:
        numbers = first + step * places
    made.local[...] = made._library.array(numbers)
    _current.barrier()
    return made


@collective()
def from_function(
    function: Callable[..., Any], shape: int | Sequence[int], dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return an array whose elements are a function of their global indices. Collective.

    Parameters
    ----------
    function
        Takes an array of global indices for each axis, which broadcast against each other (as from `numpy.ix_`), and
        returns the elements. With `device="cuda"` they are arrays of CuPy or PyTorch.
    shape, dtype, distribution
        As for `zeros`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    Exception
        If the function raises one on any PE; then on every PE, with the number of that PE.

    Examples
    --------
    >>> from atoll import arrays
    >>> arrays.from_function(lambda i, j: 10 * i + j, (2, 3), int)[1]
    array([10, 11, 12])
    """
    require_keywords("from_function", distribution)
    made = DistArray(shape, dtype, **distribution)
    its = made._library
    with before_barrier():
        made.local[...] = its.array(function(*map(its.array, made._layout.mesh(_current.my_pe()))))
    return made


@collective()
def random(
    shape: int | Sequence[int], *more: Any, seed: int = 0, dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return uniform random numbers in [0, 1), the same for any number of PEs and any distribution. Collective.

    Parameters
    ----------
    shape
        As for `zeros`, one argument.
    *more
        Nothing: a seed is passed by name.
    seed
        An integer from 0 on. Each row along the last axis has its own stream of NumPy's Philox generator.
    dtype
        float64 (by default) or float32.
    distribution
        grid, dist, halo, team, device and xp of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    TypeError
        If there are more arguments without a name, as in `random(3, 3)`: write `random((3, 3))` or
        `random(3, seed=3)`. Also for a dtype that is neither float32 nor float64.
    """
    if more:
        _refuse_more(shape, more)
    require_keywords("random", distribution)
    _require_seed("random", seed)
    _require_real("random", dtype)
    made = DistArray(shape, dtype, **distribution)
    part = made.local
    is_in_place = isinstance(part, np.ndarray) and part.flags.c_contiguous
    filled = part if is_in_place else np.empty(tuple(part.shape), made.dtype)
    starts = np.zeros(1, np.int64)
    if made.ndim > 1:
        own = [made.global_indices(axis) for axis in range(made.ndim - 1)]
        starts = np.asarray(np.ravel_multi_index(np.ix_(*own), made.shape[:-1])).ravel()
    along, number = made._layout.axes[-1], made._layout.coordinates(_current.my_pe())[-1]
    indices = range(*along.ends(number)) if along.is_contiguous else along.indices(number)
    if filled.size:
        for target, row in zip(filled.reshape(-1, filled.shape[-1]), starts, strict=True):
            _draw(target, seed, int(row), indices)
    if not is_in_place:
        part[...] = made._library.array(filled)
    _current.barrier()
    return made


def _refuse_more(shape: Any, more: tuple[Any, ...]) -> None:
    """Raise a TypeError for arguments without names, as of random(3, 3): the second 3 may be a length or a seed."""
    options = []
    if all(map(is_one, (shape, *more))):
        options.append(f"random({(shape, *more)}) for {1 + len(more)} axes")
    if len(more) == 1:
        options.append(f"random({shape}, seed={more[0]})")
    called = ", ".join(map(str, (shape, *more)))
    raise TypeError(
        f"random({called}): the shape is one argument, and the others have names. Write "
        f"{' or '.join(options) or 'random(shape, seed=..., dtype=...)'}."
    )


def _require_seed(call: str, seed: Any) -> None:
    if not is_one(seed):
        raise TypeError(
            f"{call}(seed={seed!r}): a seed is an integer from 0 on, the same on every PE. For other numbers in each run "
            "pass seed=atoll.bcast_object(secrets.randbits(64))."
        )
    if seed < 0:
        raise ValueError(f"{call}(seed={seed}): a seed is 0 or more.")


def _require_real(call: str, dtype: Any) -> None:
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise TypeError(
            f"{call}(dtype={np.dtype(dtype)}): the numbers are float64 or float32, from 0 to 1. For integers below k write "
            f"({call}(shape) * k).astype({str(np.dtype(dtype))!r})."
        )


def _draw(target: np.ndarray[Any, Any], seed: int, row: int, indices: range | np.ndarray[Any, Any]) -> None:
    """Draw the numbers of a row's stream at ascending indices, in chunks from the first index to the last."""
    a_count = PHILOX_BYTES // target.itemsize
    done = 0
    while done < len(indices):
        counts = int(indices[done]) // a_count
        start = counts * a_count
        end = bisect.bisect_left(indices, start + DRAWN)
        philox = np.random.Philox(key=seed, counter=[0, 0, 0, row])
        philox.advance(counts)
        drawn = np.random.Generator(philox).random(int(indices[end - 1]) + 1 - start, target.dtype.type)
        some = indices[done:end]
        target[done:end] = drawn[some.start - start :] if isinstance(some, range) else drawn[some - start]
        done = end


@collective("array", "local")
def from_array(
    array: Any = None, root: int | None = None, *, local: Any = None, **distribution: Any
) -> DistArray:
    """Return a distributed copy of a NumPy array, or of one on a GPU through the host. Collective.

    Parameters
    ----------
    array
        The whole array: the same on every PE, or, with `root`, only there.
    root
        The PE whose array is taken; what the others pass is ignored.
    local
        In place of `array`: this PE's part of an array that is already split. Parts lie along the first axis in the order
        of the PEs, or on `grid`. Their shapes decide the bounds; parts in one row of the grid have one length there.
    distribution
        grid, dist, halo, team, device and xp of `DistArray`; `dist` not with `local`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    ValueError
        If a PE that needs an array has none. If the parts do not fit, or a PE has none. If the arrays of two PEs differ; they are compared by shape, dtype and a
        checksum, unless ATOLL_CHECK=none.
    """
    require_keywords("from_array", distribution)
    both = ValueError("from_array(): pass either local= for this PE's part, or the whole array.")
    if root is None:
        refuse_masked("from_array()", array)
    else:
        with together("from_array()"):
            refuse_masked("from_array()", array)
    if array is None and root is None:
        return joined(None if local is None else _native(local), distribution)
    if root is None:
        given = _native(array)
        _compare(given if local is None else None)
        if local is not None:
            raise both
        made = DistArray(given.shape, given.dtype, **distribution)
        made.local[...] = made._library.array(given[made._layout.mesh(_current.my_pe())])
        _current.barrier()
        return made
    described = None
    if _current.my_pe() == root:
        array = None if array is None else _native(array)
        described = ("nothing", None) if array is None else (array.shape, array.dtype)
    check_pe("from_array", "root", root, _current.team())
    every = gathered((described, local is not None))
    if any(has_local for _, has_local in every):
        raise both
    shape, dtype = every[root][0]
    if shape == "nothing":
        raise ValueError(f"from_array(root={root}): PE {root} passed no array.")
    made = DistArray(shape, dtype, **distribution)
    if _current.my_pe() == root:
        made[...] = array
    _current.barrier()
    return made


def _native(array: Any) -> np.ndarray[Any, Any]:
    """Return an array of NumPy in this machine's byte order; a copy only if it was in another one, or on a GPU."""
    given = np.asarray(on_host(array))
    return given if given.dtype.isnative else given.astype(given.dtype.newbyteorder("="))


def _compare(given: np.ndarray[Any, Any] | None) -> None:
    """Raise on every PE if the PEs' arrays differ; None for one that is of no use."""
    if not are_compared():
        return
    mine = None if given is None else (given.shape, given.dtype.str, checksum(given))
    difference = first_difference(mine)
    if difference is None:
        return
    pe, first, other = difference
    if first is None or other is None or len(first) != len(other):
        raise ValueError("from_array(): some PEs passed an array, others none or a part. All pass the same.")
    what = f"the arrays of PE 0 and PE {pe} have different elements"
    if other[:2] != first[:2]:
        what = f"PE 0 passed an array of shape {first[0]} and dtype {first[1]}, PE {pe} one of {other[0]} and {other[1]}"
    raise ValueError(
        f"from_array(): {what}. Pass the same array on every PE, or root= for the array of one PE."
    )


@collective(on_gpus=True, on_copies=True)
def shuffle(array: DistArray, seed: int = 0) -> None:
    """Permute the rows along the first axis in place, by the same permutation for any number of PEs. Collective.

    Every PE makes the whole permutation, 8 bytes a row, and reads its new rows before it writes them. Afterwards all
    PEs see the new order.

    Parameters
    ----------
    array
        The array, of any distribution.
    seed
        An integer from 0 on, the same on every PE, for NumPy's Philox generator.
    """
    _require_seed("shuffle", seed)
    order = np.random.Generator(np.random.Philox(key=seed)).permutation(array.shape[0])
    mesh = list(array._layout.mesh(_current.my_pe()))
    mesh[0] = order[mesh[0]]
    _current.barrier()
    rows = array.at[tuple(mesh)].get()
    _current.barrier()
    array.local[...] = rows
    _current.barrier()
