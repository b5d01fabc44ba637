"""Functions of NumPy that programs call now and then: polynomials, correlation, deletion, copies into an array."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._compared import collective
from .._together import in_place
from . import _composed, _factors, _matrices, _moves, _picking

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
    powers = np.arange(len(x) if N is None else N)
    column = _picking.expand_dims(x.astype(np.promote_types(x.dtype, int)), 1)
    found: DistArray = column ** (powers if increasing else powers[::-1])
    return found


@collective()
def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None) -> Array:
    """Return the coefficients of a polynomial of least squares, highest power first, on every PE. Collective.

    It is `linalg.lstsq` of the powers of x, so there are more points than coefficients.

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
    powers = vander(points.astype(np.float64) if points.dtype.kind in "biu" else points, deg + 1)
    scales = np.sqrt((powers * powers).sum(0))
    bound = len(points) * np.finfo(powers.dtype).eps if rcond is None else rcond
    found, _, rank, _ = _factors.lstsq(powers / scales, y, bound)
    if rank != deg + 1:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    return np.asarray((found.T / scales).T)


@collective()
def correlate(a: Any, v: Any, mode: str = "valid") -> DistArray:
    """Return the correlation of two vectors in blocks, the second one conjugated. Collective; as `convolve`."""
    if len(v) > len(a):
        return _moves.flip(correlate(v, a, mode).conj())
    reverse = _moves.flip(v) if hasattr(v, "_layout") else np.asarray(v)[::-1]
    return _composed.convolve(a, reverse.conj(), mode)


def delete(arr: DistArray, obj: Any, axis: int | None = None) -> DistArray:
    """Return the elements without some along an axis, in blocks. Collective; indices are the same on every PE."""
    if hasattr(obj, "_layout"):
        raise TypeError("delete: the indices are distributed; pass b.to_numpy(), or a[~mask] of a mask.")
    n = arr.size if axis is None else arr.shape[arr._layout.axis_number(axis)]
    found: DistArray = _picking.take(arr, np.delete(np.arange(n), obj), axis)
    return found


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
    is_weak = isinstance(src, (bool, int, float, complex))
    if not np.can_cast(np.min_scalar_type(src) if is_weak else src.dtype, dst.dtype, "same_kind"):
        raise TypeError(f"copyto: {src!r:.40} cannot be cast to {dst.dtype} by the rule 'same_kind'.")
    if hasattr(src, "_layout"):
        dst[...] = src
    else:
        dst.fill(src)
