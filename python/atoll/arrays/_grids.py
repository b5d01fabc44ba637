"""Grids for operations that need an axis whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import _axis
from ._layout import Layout, best_grid

Grid = tuple[int, ...]


def blocks(shape: Sequence[int], grid: Grid) -> Layout:
    """Return blocks on a grid, without a halo."""
    return Layout.bare(*(_axis.block(length, parts) for length, parts in zip(shape, grid, strict=True)))


def next_grid(shape: Sequence[int], grid: Grid, left: Sequence[int]) -> Grid:
    """Return the grid of the next redistribution, in which at least one of the axes `left` is whole.

    All of them are, if the other axes have enough indices for all PEs: slabs need one redistribution. Else one of them
    changes places with an axis that is whole: pencils.
    """
    n = math.prod(grid)
    free = [axis for axis in range(len(shape)) if axis not in left]
    slabs = [axis for axis in free if shape[axis] >= n]
    if slabs:
        even = min(
            slabs, key=lambda axis: -(-shape[axis] // n) * n / shape[axis]
        )  # the first of the most even ones
        return tuple(n if axis == even else 1 for axis in range(len(shape)))
    best = dict(zip(free, best_grid([shape[axis] for axis in free], n), strict=True)) if free else {}
    if best and all(parts <= shape[axis] for axis, parts in best.items()):
        return tuple(best.get(axis, 1) for axis in range(len(shape)))
    for axis in sorted(left, key=lambda axis: grid[axis]):
        for other in sorted(free, key=lambda other: -shape[other]):
            if grid[axis] * grid[other] <= shape[other]:
                swapped = {axis: 1, other: grid[axis] * grid[other]}
                return tuple(swapped.get(number, parts) for number, parts in enumerate(grid))
    # Some PEs stay without elements, or no axis is free: all others share the PEs.
    axis = max(left, key=lambda axis: grid[axis])
    others = free or [other for other in left if other != axis]
    shared = dict(zip(others, best_grid([shape[other] for other in others], n), strict=True))
    return tuple(shared.get(number, 1) for number in range(len(shape)))


def whole_along(its: Layout, axis: int) -> Layout:
    """Return a layout of blocks in which an axis is whole; its own if that is so already. It has two axes or more."""
    if its.axes[axis].parts == 1:
        return its.without_halo()
    return blocks(its.shape, next_grid(its.shape, its.grid, [axis]))
