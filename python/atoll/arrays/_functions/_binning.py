"""The numbers of bins that names such as "auto" mean for a histogram, by NumPy's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._libraries import _numpy_warnings
from . import _moves, _quantiles, _sorting

if TYPE_CHECKING:
    from .._array import DistArray

Range = tuple[Any, Any] | None


def _extent(a: DistArray) -> Any:
    least, most = a.min(), a.max()
    return most - least if a.dtype.kind == "f" else int(most) - int(least)


def _sqrt(a: DistArray, range: Range) -> Any:
    return _extent(a) / np.sqrt(a.size)


def _sturges(a: DistArray, range: Range) -> Any:
    return _extent(a) / (np.log2(a.size) + 1)


def _rice(a: DistArray, range: Range) -> Any:
    return _extent(a) / (2 * a.size ** (1 / 3))


def _scott(a: DistArray, range: Range) -> Any:
    return (24 * np.pi**0.5 / a.size) ** (1 / 3) * a.std()


def _fd(a: DistArray, range: Range) -> Any:
    high, low = _quantiles.percentile(a, [75, 25])
    return 2 * (high - low) * a.size ** (-1 / 3)


def _doane(a: DistArray, range: Range) -> Any:
    n, deviation = a.size, a.std()
    if n <= 2 or deviation == 0:
        return 0
    skewness = (((a - a.mean()) / deviation) ** 3).mean()
    usual = np.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
    return _extent(a) / (1 + np.log2(n) + np.log2(1 + abs(skewness) / usual))


def _auto(a: DistArray, range: Range) -> Any:
    return min(max(_fd(a, range), _sqrt(a, range) / 2), _sturges(a, range))


def _stone(a: DistArray, range: Range) -> Any:
    """Return the width whose estimated error is least, of the histograms of 1 to 100 bins or sqrt(size)."""
    n, extent = a.size, _extent(a)
    if n <= 1 or extent == 0:
        return 0
    most, errors = max(100, int(np.sqrt(n))), []
    for bins in np.arange(1, most + 1).tolist():
        shares = _sorting.histogram(a, bins, range)[0] / n
        errors.append((2 - (n + 1) * shares.dot(shares)) / (extent / bins))
    best = int(np.argmin(errors)) + 1
    if best == most:
        _numpy_warnings.warn("The number of bins estimated may be suboptimal.")
    return extent / best


WIDTHS: dict[str, Callable[[DistArray, Range], Any]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _fd,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}


def number_of_bins(a: DistArray, name: str, range: Range) -> int:
    """Return the number of bins that a name means. Collective.

    Raises
    ------
    ValueError
        If it is no such name.
    """
    if name not in WIDTHS:
        raise ValueError(
            f"histogram(bins={name!r}): expected a number, edges, or one of {', '.join(WIDTHS)}."
        )
    if a.dtype == np.bool_:
        a = a.astype(np.uint8)
    if range is None and not a.size:
        return 1
    low, high = (a.min(), a.max()) if range is None else range
    if low == high:  # equal ends are widened before elements are chosen
        low, high = low - 0.5, high + 0.5
    if range is not None:
        is_inside = (a >= low) & (a <= high)
        if not is_inside.all():
            a = _moves.select(a, is_inside)
    if not a.size:
        return 1
    width = WIDTHS[name](a, (low, high))
    if a.dtype.kind in "iu" and 0 < width < 1:
        width = 1
    is_real = isinstance(low, float | np.floating) or isinstance(high, float | np.floating)
    extent = high - low if is_real else int(high) - int(low)  # small integers would overflow
    return int(np.ceil(extent / width)) if width else 1
