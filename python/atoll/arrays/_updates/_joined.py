"""An array of parts that the PEs already have."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from .._layout import numbers_of
from .._teams import _current
from .._teams._exchange import gathered

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


def joined(part: Any, distribution: dict[str, Any]) -> DistArray:
    """Return the array of which each PE passes its part; see `from_array`. Collective."""
    from .._array import DistArray

    mine = None if part is None else np.asarray(part)
    every = gathered(None if mine is None else (mine.shape, mine.dtype))
    if all(each is None for each in every):
        raise ValueError("from_array() needs an array on every PE, or root= and an array there, or local=.")
    without = next((pe for pe, each in enumerate(every) if each is None), None)
    if mine is None or without is not None:
        raise ValueError(f"from_array(): PE {without} passed no part and no array, as other PEs did.")
    if any(len(each) != 2 for each in every):
        raise ValueError("from_array(): some PEs passed local=, others a whole array. All pass the same.")
    if "dist" in distribution:
        raise ValueError(
            "from_array(local=..., dist=...): the shapes of the parts decide the bounds; leave dist out."
        )
    shapes, (first, dtype) = [shape for shape, _ in every], every[0]
    for pe, (shape, its) in enumerate(every):
        if len(shape) != len(first) or its != dtype or not shape:
            raise ValueError(
                f"from_array(local=...): PE 0 passed a part of shape {first} and dtype {dtype}, PE {pe} one of {shape} and "
                f"{its}. Expected the same dtype and number of axes, one or more."
            )
    given = distribution.pop("grid", None)
    grid = (len(every), *(1,) * (len(first) - 1)) if given is None else numbers_of(given)
    if len(grid) != len(first) or np.prod(grid) != len(every):
        raise ValueError(
            f"from_array(local=..., grid={given!r}): expected one number for each of the {len(first)} axes, whose product "
            f"is {len(every)}, the number of PEs."
        )
    positions = [tuple(int(i) for i in np.unravel_index(pe, grid)) for pe in range(len(every))]
    bounds = [_bounds(axis, grid[axis], positions, shapes) for axis in range(len(grid))]
    shape = tuple(ends[-1] for ends in bounds)
    made = DistArray(shape, dtype, grid=grid, dist=bounds, **distribution)
    made.local[...] = made._library.array(mine)
    _current.barrier()
    return made


def _bounds(axis: int, n: int, positions: list[tuple[int, ...]], shapes: list[tuple[int, ...]]) -> list[int]:
    """Return the bounds along an axis; parts at one place of it have the same length."""
    lengths: dict[int, tuple[int, int]] = {}
    for pe, (position, shape) in enumerate(zip(positions, shapes, strict=True)):
        other, length = lengths.setdefault(position[axis], (pe, shape[axis]))
        if shape[axis] != length:
            raise ValueError(
                f"from_array(local=...): PE {other} and PE {pe} have parts of shapes {shapes[other]} and {shape}, which lie "
                f"beside each other; along axis {axis} they differ."
            )
    return [0, *itertools.accumulate(lengths[position][1] for position in range(n))]
