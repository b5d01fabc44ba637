"""Functions of NumPy that programs call now and then: polynomials, correlation, deletion, copies into an array."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from .. import _axis
from .._compared import collective
from .._layout import Layout
from .._libraries import _numpy_warnings
from .._teams._exchange import gathered
from .._together import in_place, together
from . import _along, _composed, _factors, _matrices, _moves, _picking

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


@collective()
def vander(x: DistArray, N: int | None = None, increasing: bool = False) -> DistArray:
    """Return the powers of a vector's elements in columns, in blocks. Collective; each PE reads what its block needs.

    Parameters
    ----------
    x
        A vector.
    N
        The number of columns; by default that of the elements.
    increasing
        True: powers from 0 on. False: down to 0.
    """
    if x.ndim != 1:
        raise atoll.ShapeMismatch(f"vander: an array of shape {x.shape}; expected a vector.")
    if N is not None and N < 0:
        raise ValueError(f"vander: N is {N}; expected 0 columns or more.")
    powers = np.arange(len(x) if N is None else N)
    column = _picking.expand_dims(x.astype(np.promote_types(x.dtype, int)), 1)
    found: DistArray = column ** (powers if increasing else powers[::-1])
    return found


@collective()
def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None) -> Array:
    """Return the coefficients of a polynomial of least squares, highest power first, on every PE. Collective.

    It calls `linalg.lstsq` with the powers of x, so it needs more points than coefficients.

    Parameters
    ----------
    x
        A vector.
    y
        Values at these points, or several such in columns. One of `x` and `y` may be NumPy's, the same on every PE.
    deg
        The degree, 0 or more.
    rcond
        Singular values up to this times the largest count as 0. By default rounding errors times the number of points.
    """
    if deg < 0:
        raise ValueError(f"polyfit: deg is {deg}; expected 0 or more.")
    (points,) = _matrices.distributed([x])
    precision = np.finfo(
        np.result_type(points.dtype, 0.0)
    ).eps  # that of x, as in NumPy; the powers have more
    powers = vander(points.astype(np.float64) if points.dtype.kind in "biu" else points, deg + 1)
    scales = np.sqrt((powers * powers).sum(0))
    bound = len(points) * precision if rcond is None else rcond
    found, _, rank, _ = _factors.lstsq(powers / scales, y, bound)
    if rank != deg + 1:
        _numpy_warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning)
    return np.asarray((found.T / scales).T)


@collective()
def correlate(a: Any, v: Any, mode: str = "valid") -> DistArray:
    """Return the correlation of two vectors in blocks, the second one conjugated. Collective; as `convolve`."""
    if len(v) > len(a):
        return _moves.flip(correlate(v, a, mode).conj())
    reverse = _moves.flip(v) if hasattr(v, "_layout") else np.asarray(v)[::-1]
    return _composed.convolve(a, reverse.conj(), mode)


def delete(arr: DistArray, obj: Any, axis: int | None = None) -> DistArray:
    """Return the elements without some along an axis, in blocks. Collective; indices are the same on every PE.

    For a mask, a slice with a step, or more than 64 integers, each PE makes all remaining indices of that axis, 8 bytes each.
    """
    if hasattr(obj, "_layout"):
        raise TypeError("delete: the indices are distributed; pass b.to_numpy(), or a[~mask] of a mask.")
    flat = _moves.reshape(arr, -1) if axis is None and arr.ndim != 1 else arr
    number = flat._layout.axis_number(axis or 0)
    return _picking.picked_along(flat, number, _along.without(flat.shape[number], obj))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Return True if two arrays broadcast to each other and are equal. Collective."""
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return bool(np.equal(a1, a2).all())


def fill_diagonal(a: DistArray, val: Any) -> None:
    """Write a number to the diagonal of a matrix in place. Collective; each PE writes its own part."""
    from .._methods._derived import require_own

    require_own(a, "np.fill_diagonal(b, x)")
    if a.ndim != 2 or np.ndim(val):
        raise ValueError(f"fill_diagonal: shape {a.shape} and {val!r:.40}; expected a matrix and a number.")

    def write() -> None:
        _, rows, columns = np.intersect1d(a.global_indices(0), a.global_indices(1), return_indices=True)
        a.local[rows, columns] = val

    in_place("numpy.fill_diagonal", (a, val), {}, write)


def copyto(dst: DistArray, src: Any) -> None:
    """Write numbers, which broadcast, or an array of the same distribution to an array. Collective."""
    if not hasattr(dst, "_layout"):
        raise TypeError("copyto: only the source is distributed; pass b.to_numpy().")
    src = np.asarray(src) if isinstance(src, (list, tuple)) else src
    is_weak = isinstance(src, (bool, int, float, complex))
    if not np.can_cast(np.min_scalar_type(src) if is_weak else src.dtype, dst.dtype, "same_kind"):
        raise TypeError(f"copyto: {src!r:.40} cannot be cast to {dst.dtype} by the rule 'same_kind'.")
    if hasattr(src, "_layout"):
        dst[...] = src
    else:
        dst.fill(src)


def insert(arr: DistArray, obj: Any, values: Any, axis: int | None = None) -> DistArray:
    """Return the elements with others before one index along an axis, in blocks. Collective.

    Parameters
    ----------
    arr
        The array.
    obj
        One index; before it come the others.
    values
        A number, or an array that broadcasts as in NumPy: its first axis is meant along `axis`.
    axis
        The axis. None: that of the flat array.
    """
    if np.ndim(obj) or isinstance(obj, slice):
        raise TypeError(f"insert: the index is {obj!r:.40}; expected one integer.")
    obj = operator.index(obj)
    flat = _moves.reshape(arr, (-1,)) if axis is None else arr
    number = flat._layout.axis_number(axis or 0)
    n = flat.shape[number]
    if not -n <= obj <= n:
        raise IndexError(f"insert: index {obj} is out of bounds for axis {number} with size {n}.")
    before, after = _matrices.split(flat, [obj % n if obj < 0 else obj], number)
    return _moves.concatenate(_matrices.distributed([before, _inserted(flat, values, number), after]), number)


def _inserted(a: DistArray, values: Any, number: int) -> Any:
    """Return the values of `insert` in the array's dtype, with its length along other axes than one."""
    is_ours = hasattr(values, "_layout")
    given: Any = values.astype(a.dtype) if is_ours else np.array(values, a.dtype, ndmin=a.ndim)
    if given.ndim > a.ndim:
        raise atoll.ShapeMismatch(
            f"insert: values of shape {np.shape(values)} into an array of shape {a.shape}; expected at most as many axes."
        )
    if given.ndim < a.ndim:
        given = _picking.expand_dims(given, list(range(a.ndim - given.ndim)))
    given = np.moveaxis(given, 0, number) if number else given
    shape = [given.shape[i] if i == number else n for i, n in enumerate(a.shape)]
    return given if list(given.shape) == shape else np.broadcast_to(given, shape)


def atleast_1d(*arys: Any) -> Any:
    """Return the arrays themselves; those of NumPy become distributed. Collective."""
    return _one_or_several(_matrices.distributed(arys))


def atleast_2d(*arys: Any) -> Any:
    """Return arrays of two axes or more: vectors become rows. Collective."""
    from .._methods._derived import derived

    every = _matrices.distributed(arys)
    return _one_or_several(
        [
            derived(given, _picking.expand_dims(each, 0), "np.atleast_2d(a)") if each.ndim == 1 else each
            for given, each in zip(arys, every, strict=True)
        ]
    )


def _one_or_several(found: Sequence[DistArray]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def piecewise(x: DistArray, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> DistArray:
    """Return numbers or functions of the elements where conditions hold; of several the last counts. Collective.

    Each function gets the whole array, and its results are used where its condition holds, in the dtype of the array.

    Parameters
    ----------
    x
        The array.
    condlist
        Arrays of bool in the distribution of `x`, or of NumPy; one with an axis more than `x` has a condition in each row.
    funclist
        A number or a function for each; one more is for elements without a condition, by default 0.
    *args, **kw
        Further arguments of the functions.
    """
    conditions = _conditions(x, condlist)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {len(funclist)} functions for {len(conditions)} conditions.")

    def computed(function: Any) -> Any:
        value = function(x, *args, **kw) if callable(function) else function
        if hasattr(value, "_layout"):
            return value.astype(x.dtype)
        made = np.empty(np.shape(value), x.dtype)
        made[...] = value  # by the rules of an assignment
        return made

    found = computed(funclist[-1] if len(funclist) > len(conditions) else 0)
    for condition, function in zip(conditions, funclist, strict=False):
        found = np.where(condition, computed(function), found)
    return cast("DistArray", found)


def _conditions(x: Any, given: Any) -> list[Any]:
    """Return the conditions of `piecewise` by NumPy's rule: one for x, or a list of such."""
    if hasattr(given, "_layout"):
        return [given] if given.ndim <= x.ndim else [_picking.take(given, i, 0) for i in range(len(given))]
    is_list = isinstance(given, (list, tuple, np.ndarray))
    if not is_list or not (hasattr(given[0], "_layout") or isinstance(given[0], (list, np.ndarray))):
        given = [given]
    return [each if hasattr(each, "_layout") else np.asarray(each, bool) for each in given]


@collective("func1d")
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: DistArray, *args: Any, **kwargs: Any) -> Any:
    """Return the results of a function of the vectors along an axis. Collective; that axis becomes whole.

    Parameters
    ----------
    func1d
        A function of a vector of NumPy, with a number or an array as its result.
    axis
        The axis of the vectors, in whose place the result has the axes of the function's.
    arr
        The array.
    *args, **kwargs
        Further arguments of the function.

    Returns
    -------
    DistArray or number
        The other axes are distributed as in `arr`, or in blocks if the axis had several parts. Every PE computes the whole of
        a vector; a result without axes is a number.

    Raises
    ------
    ValueError
        If there are no vectors, or results of different shapes.
    """
    number = arr._layout.axis_number(axis)
    if arr.ndim == 1:
        with together("numpy.apply_along_axis"):
            found = np.apply_along_axis(func1d, 0, arr.to_numpy(), *args, **kwargs)
        return _matrices.distributed([found])[0] if found.ndim else found[()]
    arr = _moves.whole_along(arr, number)
    part: Any = None
    with together("numpy.apply_along_axis"):
        if all(n for axis, n in enumerate(arr.local.shape) if axis != number):
            part = np.apply_along_axis(func1d, number, arr.local, *args, **kwargs)
    more = arr.ndim - 1
    kinds = {(each[0], str(each[1])) for each in gathered(_kind(part, number, more)) if each}
    if len(kinds) != 1:
        raise ValueError(
            f"apply_along_axis: results of {sorted(kinds)} of an array of {arr.shape}; expected one shape and dtype."
        )
    ((shape, dtype),) = kinds
    axes = list(arr._layout.axes)
    axes[number : number + 1] = [_axis.block(n, 1) for n in shape]
    its = Layout.bare(*axes)
    made = type(arr)._of(its, np.dtype(dtype), zero=False)
    if part is not None:
        made.local[...] = part
    made.barrier()
    return made


def _kind(part: Any, number: int, others: int) -> Any:
    """Return the shape of a function's result, and the dtype."""
    return None if part is None else (part.shape[number : number + part.ndim - others], part.dtype)
