"""Parts of a distributed array from a .npy file that is mapped into memory: each PE reads what it owns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._array import DistArray
    from ._storage._files import Header

Index = slice | np.ndarray[Any, Any]


def count(made: DistArray, panel_bytes: int) -> int:
    """Return the number of panels in which this PE's part is read."""
    return sum(1 for _ in _panels(made, panel_bytes))


def read(
    path: str | Path, header: Header, made: DistArray, panel_bytes: int, step: Callable[[], None]
) -> None:
    """Read this PE's part, at most `panel_bytes` at a time. The array is on hosts.

    Raises
    ------
    OSError
        If the file cannot be mapped.
    """
    local = made.local
    if not local.size:
        return
    order: Any = "F" if header.is_fortran else "C"
    whole = np.memmap(path, header.dtype, "r", header.start, header.shape, order)
    own = [_index(made, axis) for axis in range(made.ndim)]
    has_lists = any(not isinstance(each, slice) for each in own)
    for rows in _panels(made, panel_bytes):
        indices = [_part_of(own[0], rows), *own[1:]]
        if has_lists:
            local[rows] = whole[np.ix_(*map(_as_list, indices))]
        else:
            local[rows] = whole[tuple(indices)]
        step()


def _panels(made: DistArray, panel_bytes: int) -> Iterator[slice]:
    """Yield rows of this PE's part, of some bytes at most if a row has fewer."""
    shape = made.local.shape
    if not math.prod(shape):
        return
    rows = max(1, panel_bytes // max(1, math.prod(shape[1:]) * made.dtype.itemsize))
    for start in range(0, shape[0], rows):
        yield slice(start, min(start + rows, shape[0]))


def _index(made: DistArray, number: int) -> Index:
    """Return the global indices of this PE's part along an axis, a slice if it can be."""
    axis, part = made._layout.axes[number], made._layout.coordinates(made._me)[number]
    if axis.is_contiguous:
        return slice(*axis.ends(part))
    if axis.block == 1:
        return slice(part, axis.length, axis.parts)
    return axis.indices(part)


def _part_of(index: Index, rows: slice) -> Index:
    if not isinstance(index, slice):
        return index[rows]
    step = index.step or 1
    return slice(index.start + rows.start * step, index.start + rows.stop * step, step)


def _as_list(index: Index) -> np.ndarray[Any, Any]:
    return np.arange(index.start, index.stop, index.step or 1) if isinstance(index, slice) else index
