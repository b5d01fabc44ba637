"""Transforms along the only axis of an array, which is distributed: as a matrix of N1 x N2, in six steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import DistArray, _axis
from ..arrays._grids import blocks
from ..arrays._layout import Layout
from ..arrays._teams import _current

Array = np.ndarray[Any, Any]


def transform(x: DistArray, n: int, is_inverse: bool, norm: str | None, workers: int | None) -> DistArray:
    """Return the complex transform of length `n`, in the distribution of x. Collective.

    Rows are shared by the PEs. A prime number makes one row, which PE 0 transforms alone.
    """
    name = "ifft" if is_inverse else "fft"
    given = x if x.shape[0] == n else _resized(x, n)
    found = _six_steps(given, factor(n), name, norm, workers)
    axis = x._layout.axes[0]
    its = x._layout.without_halo() if axis.length == n else blocks((n,), (axis.parts,))
    return DistArray._moved(found._layout, found.local, its)


def hermitian(x: DistArray, n: int) -> DistArray:
    """Return all `n` elements of a spectrum of which x has the first half, n // 2 + 1. Collective."""
    dtype = np.result_type(x.dtype, np.complex64)
    made = DistArray._of(blocks((n,), (_current.n_pes(),)), dtype)
    its = made._library
    half = min(n // 2 + 1, x.shape[0])
    _current.barrier()
    ((start, stop),) = made.bounds()
    if start < min(stop, half):
        made.local[: min(stop, half) - start] = x[start : min(stop, half)]
    # Element i of the second half is the conjugate of element n - i.
    first, last = max(start, n // 2 + 1, n - half + 1), stop
    if first < last:
        mirrored = its.flip(its.array(x[n - last + 1 : n - first + 1]), [0])
        made.local[first - start :] = its.apply(np.conjugate, [mirrored], None, {})
    _current.barrier()
    return made


def half_of(x: DistArray, like: DistArray) -> DistArray:
    """Return the first n // 2 + 1 elements of x, in blocks, or as `like` if that has as many. Collective."""
    length = x.shape[0] // 2 + 1
    axis = like._layout.axes[0]
    its = like._layout.without_halo() if axis.length == length else blocks((length,), (axis.parts,))
    return _filled(DistArray._of(its, x.dtype), x)


def _resized(x: DistArray, n: int) -> DistArray:
    """Return the first n elements of x, with zeros behind them if it has less."""
    return _filled(DistArray._of(blocks((n,), (_current.n_pes(),)), x.dtype), x)


def _filled(made: DistArray, x: DistArray) -> DistArray:
    _current.barrier()
    own = made.global_indices(0)
    inside = int(np.searchsorted(own, x.shape[0]))
    made.local[:inside] = x.at[own[:inside]].get()
    _current.barrier()
    return made


def factor(n: int) -> int:
    """Return the largest divisor of n that is at most its square root."""
    return next(rows for rows in range(math.isqrt(n), 0, -1) if n % rows == 0) if n > 0 else 0


def _six_steps(x: DistArray, rows: int, name: str, norm: str | None, workers: int | None) -> DistArray:
    """Transform columns of the matrix of rows x columns, multiply by roots of unity, transform rows, transpose."""
    n = x.shape[0]
    columns = n // rows
    aligned, along = _lines(rows, columns), _current.library().transformed
    part = DistArray._moved(x._layout, x.local, aligned).local.reshape(-1, columns)
    by_rows, by_columns = _matrix(rows, columns, 0), _matrix(rows, columns, 1)
    part = DistArray._moved(by_rows, part, by_columns).local
    part = along(name, part, 0, rows, norm, workers, True)
    part *= _roots(rows, by_columns.axes[1].indices(_current.my_pe()), n, name == "ifft", part)
    part = DistArray._moved(by_columns, part, by_rows).local
    part = along(name, part, 1, columns, norm, workers, True)
    part = DistArray._moved(by_rows, part, _matrix(columns, rows, 0), (1, 0)).local
    made = DistArray._of(_lines(columns, rows), _current.library().dtype(part), zero=False)
    made.local[...] = part.reshape(-1)
    return made


def _roots(rows: int, columns: Array, n: int, is_inverse: bool, like: Array) -> Any:
    """Return the powers of a root of unity by which the elements of some columns are multiplied."""
    its = _current.library()
    k, j = its.arange(0, rows, 1)[:, None], its.array(columns)[None, :]
    angles = its.cast(k * j, np.dtype(np.complex128)) * ((2j if is_inverse else -2j) * np.pi / n)
    return its.cast(its.apply(np.exp, [angles], None, {}), its.dtype(like))


def _lines(rows: int, columns: int) -> Layout:
    """Return the layout of a flat array, of which each PE has whole rows of a matrix."""
    bounds = _axis.block(rows, _current.n_pes()).bounds or ()
    return Layout.bare(_axis.irregular(rows * columns, [bound * columns for bound in bounds]))


def _matrix(rows: int, columns: int, axis: int) -> Layout:
    """Return the layout of a matrix that is distributed along one axis."""
    return blocks((rows, columns), (_current.n_pes(), 1) if axis == 0 else (1, _current.n_pes()))
