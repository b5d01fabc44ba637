"""The steps of a transform over several axes: local transforms of whole axes, and redistributions between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import DistArray, _axis
from ..arrays._grids import blocks, next_grid
from ..arrays._layout import Layout
from ..arrays._teams import _current
from . import _overlap

Array = np.ndarray[Any, Any]


@dataclass
class Stage:
    """Transforms along some axes, in any order; stages follow each other.

    `apply(part, axis, is_own)` transforms a part along one axis, all of which it has, and may change a part that is
    its own. `lengths` has the lengths of the axes afterwards. `keeps_dtype`: complex numbers stay complex.
    """

    axes: Sequence[int]
    lengths: Sequence[int]
    apply: Callable[[Array, int, bool], Array]
    keeps_dtype: bool


class Work(NamedTuple):
    """The transform of a part along one axis."""

    apply: Callable[[Array, int, bool], Array]
    axis: int
    keeps_dtype: bool


@dataclass
class Turn:
    """Local transforms in one distribution, and the layouts before and after all of them."""

    before: Layout
    work: list[Work]
    after: Layout


def run(x: DistArray, stages: Sequence[Stage], transposed: bool) -> DistArray:
    """Return the transform of an array; in its distribution, or, if `transposed`, in that of the last step.

    Collective. For memory see `fftn`.
    """
    turns = _turns(x._layout.without_halo(), stages)
    its = turns[-1].after
    then = its if transposed else _restored(x, its)
    if _overlap.suits(x, turns):
        part, made = _overlap.run(x, turns)
        if made is not None and its.same_distribution(then):
            _current.barrier()
            return made
    else:
        part = _in_whole_parts(x, turns)
    if its.same_distribution(then):
        return DistArray._from_part(then, part)
    return DistArray._moved(its, part, then)


def _in_whole_parts(x: DistArray, turns: Sequence[Turn]) -> Array:
    """Return this PE's part after all turns. The data move between two turns, and all PEs wait."""
    part, is_own = x.local, False
    for number, turn in enumerate(turns):
        if number:
            part, is_own = DistArray._moved(turns[number - 1].after, part, turn.before).local, True
        for work in turn.work:
            part, is_own = work.apply(part, work.axis, is_own), True
    return part


def _turns(its: Layout, stages: Sequence[Stage]) -> list[Turn]:
    found = [Turn(its, [], its)]
    for stage in stages:
        lengths = dict(zip(stage.axes, stage.lengths, strict=True))
        left = list(stage.axes)
        while left:
            for axis in [axis for axis in left if its.axes[axis].parts == 1]:
                found[-1].work.append(Work(stage.apply, axis, stage.keeps_dtype))
                its = its.with_axis(axis, _axis.block(lengths[axis], 1))
                left.remove(axis)
            found[-1].after = its
            if left:
                its = blocks(its.shape, next_grid(its.shape, its.grid, left))
                found.append(Turn(its, [], its))
    return found


def _restored(x: DistArray, its: Layout) -> Layout:
    """Return the layout of the result in the distribution of x."""
    axes = tuple(
        was if was.length == now.length else _axis.block(now.length, was.parts)
        for was, now in zip(x._layout.axes, its.axes, strict=True)
    )
    return Layout(axes, its.halo)
