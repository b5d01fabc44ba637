"""Functions of each element, and reductions without NaN, under a mask or with a start."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .._compared import collective
from .._libraries import on_host
from .._teams import _current
from .._together import before_barrier, together
from . import _moves
from ._combined import combine, there, wide
from ._moments import mean_of_some, require_mask, variance_of_some, without_nan

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def _of_part(x: DistArray, function: Callable[[Array], Any]) -> DistArray:
    with before_barrier():
        part = np.asarray(function(x.local))
    return type(x)._from_part(x._layout, part)


@collective()
def fix(x: DistArray, /) -> DistArray:
    """Return the elements rounded towards zero. Collective."""
    return _of_part(x, np.fix)


@collective()
def isreal(x: DistArray, /) -> DistArray:
    """Return True where an element has no imaginary part. Collective."""
    return _of_part(x, np.isreal)


@collective()
def iscomplex(x: DistArray, /) -> DistArray:
    """Return True where an element has an imaginary part. Collective."""
    return _of_part(x, np.iscomplex)


@collective()
def sinc(x: DistArray, /) -> DistArray:
    """Return sin(pi x) / (pi x). Collective."""
    return _of_part(x, np.sinc)


@collective()
def digitize(x: Any, bins: Any, right: bool = False) -> DistArray:
    """Return the number of the bin of each element. Collective; the bins are NumPy's, the same on every PE."""
    _require_plain("digitize", x, bins)
    return _of_part(x, lambda part: np.digitize(part, bins, right))


@collective()
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> DistArray:
    """Return linear interpolations at the elements. Collective; the points are NumPy's, the same on every PE."""
    _require_plain("interp", x, xp, fp)
    return _of_part(x, lambda part: np.interp(part, xp, fp, left, right, period))


def _require_plain(name: str, x: Any, *tables: Any) -> None:
    from .._array import DistArray

    if not isinstance(x, DistArray) or any(isinstance(each, DistArray) for each in tables):
        raise TypeError(
            f"{name}: the first argument alone may be distributed; pass the others as NumPy's, such as b.to_numpy()."
        )


@collective()
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Return elements of the first array whose condition is True. Collective."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(f"select: {len(condlist)} conditions for {len(choicelist)} arrays.")
    found = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        found = np.where(condition, choice, found)
    return found


def flatnonzero(a: DistArray) -> DistArray:
    """Return the numbers in C order of elements that are not zero, in blocks. Collective."""
    return _moves.nonzero(a if a.ndim == 1 else _moves.reshape(a, -1))[0]


def extract(condition: Any, arr: Any) -> Any:
    """Return the elements where a condition is True, in blocks. Collective."""
    from .._array import DistArray

    if not isinstance(condition, DistArray) or not isinstance(arr, DistArray):
        raise TypeError(
            "extract: the condition and the array must both be distributed; make one by from_array."
        )
    return arr[condition if condition.dtype == np.bool_ else condition != 0]


def _without_nan(a: DistArray, value: Any) -> Any:
    return np.where(np.isnan(a), a.dtype.type(value), a) if a.dtype.kind in "fc" else a


def nancumsum(a: DistArray, axis: int | None = None, dtype: Any = None) -> DistArray:
    """Return cumulative sums, NaN as 0. Collective."""
    found: DistArray = _without_nan(a, 0).cumsum(axis, dtype)
    return found


def nancumprod(a: DistArray, axis: int | None = None, dtype: Any = None) -> DistArray:
    """Return cumulative products, NaN as 1. Collective."""
    found: DistArray = _without_nan(a, 1).cumprod(axis, dtype)
    return found


def nanvar(a: DistArray, axis: Any = None, ddof: float = 0, *, keepdims: bool = False) -> Any:
    """Return variances of the elements that are not NaN. Collective."""
    if a.dtype.kind not in "fc":
        return a.var(axis, ddof=ddof, keepdims=keepdims)
    return without_nan(a, "var", axis, keepdims, ddof)


def nanstd(a: DistArray, axis: Any = None, ddof: float = 0, *, keepdims: bool = False) -> Any:
    """Return standard deviations of the elements that are not NaN. Collective."""
    if a.dtype.kind not in "fc":
        return a.std(axis, ddof=ddof, keepdims=keepdims)
    return without_nan(a, "std", axis, keepdims, ddof)


def nanargmin(a: DistArray, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the places of the smallest elements that are not NaN. Collective."""
    return _nanplace(a, axis, keepdims, np.inf, "argmin")


def nanargmax(a: DistArray, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return the places of the largest elements that are not NaN. Collective."""
    return _nanplace(a, axis, keepdims, -np.inf, "argmax")


def _nanplace(a: DistArray, axis: int | None, keepdims: bool, worst: float, name: str) -> Any:
    if a.dtype.kind in "fc" and np.any(np.isnan(a).all(axis)):
        raise ValueError("All-NaN slice encountered")
    return getattr(_without_nan(a, worst), name)(axis, keepdims=keepdims)


@collective()
def trapezoid(y: DistArray, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return integrals along an axis by the trapezoidal rule. Collective; `x` are coordinates of that axis.

    Each PE reads the coordinates of its part. A cyclic axis is redistributed.
    """
    number = y._layout.axis_number(axis)
    n = y.shape[number]
    given: Any = x if x is None or hasattr(x, "_layout") else np.asarray(x)
    if x is not None and given.shape != (n,):
        raise ValueError(f"trapezoid: x has shape {given.shape}; expected ({n},), one axis.")
    y = _moves.straight_along(y, number)
    ends = y._layout.axes[number].ends(y._layout.coordinates(_current.my_pe())[number])
    _current.barrier()
    with together("numpy.trapezoid"):
        weights = _weights(n, *ends, given, dx)
        part = y.local * weights.reshape([-1 if i == number else 1 for i in range(y.ndim)])
        if n == 1:  # no interval: NaN would stay NaN
            part[...] = 0
    del weights
    sums = y._library.reduced(np.add, part, (number,), wide(part.dtype))
    found = combine(y, sums, number, False, atoll.sum_reduce, 0)
    step = dx if x is None else np.zeros(1, given.dtype)
    return found.astype((np.zeros(1, y.dtype) * step / 2.0).dtype)


def _weights(n: int, start: int, stop: int, x: Any, dx: float) -> Array:
    """Return half of the intervals beside each of some coordinates."""
    if x is None or start >= stop:
        found = np.full(max(stop - start, 0), dx, np.result_type(np.float64, np.asarray(dx).dtype))
        if start == 0:
            found[:1] /= 2
        if stop == n:
            found[-1:] /= 2
        return found
    steps = np.diff(np.asarray(x[max(start - 1, 0) : stop + 1])) / 2
    found = np.zeros(stop - start, np.result_type(steps.dtype, np.float64))
    low, high = int(start == 0), len(found) - int(stop == n)  # the ends of the axis have one interval
    found[low:] += steps[: len(found) - low]
    found[:high] += steps[len(steps) - high :]
    return found


# For each reduction the element that leaves it as it is, and the function that combines its result with a start.
_STARTS: dict[str, tuple[Any, Any]] = {
    "sum": (0, np.add),
    "prod": (1, np.multiply),
    "any": (False, np.logical_or),
    "all": (True, np.logical_and),
    "min": (None, np.minimum),
    "max": (None, np.maximum),
    "mean": (0, None),
}


@functools.cache
def reduction(name: str) -> Callable[..., Any]:
    """Return a reduction of NumPy with its `where=` and `initial=`.

    Raises
    ------
    TypeError
        If ours takes none.
    """
    if name in ("var", "std"):
        return functools.partial(_spread_of_some, name)
    if name not in _STARTS:
        raise TypeError(f"numpy.{name} of a distributed array takes no where= or initial=; use numpy.where.")
    return functools.partial(_reduced, name)


def _reduced(
    name: str,
    a: DistArray,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    where: Any = True,
    initial: Any = None,
) -> Any:
    neutral, ufunc = _STARTS[name]
    rest = {"keepdims": keepdims} if dtype is None else {"keepdims": keepdims, "dtype": dtype}
    if initial is not None:  # NumPy converts it, or raises its error
        more = {} if dtype is None else {"dtype": dtype}
        initial = getattr(np, name)(np.empty(0, a.dtype), initial=initial, **more)
        neutral = initial if neutral is None else neutral
    if where is True:
        kept: Any = a
    elif neutral is None:
        raise ValueError(f"numpy.{name}(where=mask): no initial= for elements without True in the mask.")
    elif name == "mean":
        return mean_of_some(a, axis, keepdims, where, dtype)
    else:
        require_mask(a, where)
        kept = np.where(where, a, neutral)
    if initial is not None and not kept.size:
        return getattr(np, name)(np.empty(kept.shape, kept.dtype), axis, initial=initial, **rest)
    found = getattr(kept, name)(axis, **rest)
    if initial is None:
        return found
    found = np.asarray(on_host(found))
    return there(a, ufunc(found, initial)[()])


def _spread_of_some(
    name: str,
    a: DistArray,
    axis: Any = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    correction: float | None = None,
) -> Any:
    if a.dtype.kind not in "biufc":
        raise TypeError(f"numpy.{name}: elements of {a.dtype}; expected numbers.")
    return variance_of_some(
        a, axis, keepdims, ddof if correction is None else correction, where, is_root=name == "std"
    )
