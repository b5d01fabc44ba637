"""The steps of a transform over several axes: local transforms of whole axes, and redistributions between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import DistArray, _axis
from ..arrays._grids import blocks, next_grid
from ..arrays._layout import Layout

Array = np.ndarray[Any, Any]


@dataclass
class Stage:
    """Transforms along some axes, in any order; stages follow each other.

    `apply(part, axis, is_own)` transforms a part along one axis, all of which it has, and may change a part that is
    its own. `lengths` has the lengths of the axes afterwards.
    """

    axes: Sequence[int]
    lengths: Sequence[int]
    apply: Callable[[Array, int, bool], Array]


def run(x: DistArray, stages: Sequence[Stage], transposed: bool) -> DistArray:
    """Return the transform of an array; in its distribution, or, if `transposed`, in that of the last step.

    Collective. At most two parts and the result are in memory beside `x` at one time.
    """
    its, part, is_own = x._layout.without_halo(), x.local, False
    for stage in stages:
        lengths = dict(zip(stage.axes, stage.lengths, strict=True))
        left = list(stage.axes)
        while left:
            for axis in [axis for axis in left if its.axes[axis].parts == 1]:
                part, is_own = stage.apply(part, axis, is_own), True
                its = its.with_axis(axis, _axis.block(lengths[axis], 1))
                left.remove(axis)
            if left:
                grid = next_grid(its.shape, its.grid, left)
                then = blocks(its.shape, grid)
                part, its = DistArray._moved(its, part, then).local, then
    if transposed:
        return DistArray._from_part(its, part)
    return _restored(x, its, part)


def _restored(x: DistArray, its: Layout, part: Array) -> DistArray:
    axes = tuple(
        was if was.length == now.length else _axis.block(now.length, was.parts)
        for was, now in zip(x._layout.axes, its.axes, strict=True)
    )
    then = Layout(axes, its.halo)
    if its.same_distribution(then):
        return DistArray._from_part(then, part)
    return DistArray._moved(its, part, then)
