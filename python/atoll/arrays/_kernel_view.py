"""The values by which kernels find elements of a distributed array by their global indices: some integers for each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import atoll

from ._axis import Axis
from ._axis import block as blocks_of

if TYPE_CHECKING:
    from ._layout import Layout


class AxisView(NamedTuple):
    """An axis as kernels take it, by value.

    In blocks the first `rest` parts have `size` + 1 indices, the others `size`. Else blocks of `dealt` indices are dealt to
    the parts in turn.
    """

    length: int
    parts: int
    size: int
    rest: int
    dealt: int  # 0: in blocks
    low: int  # width of the halo before the part
    pe_step: int  # from one part to the next
    stride: int  # elements from one index to the next in a PE's block


View = tuple[AxisView, ...]


def view_of(its: Layout) -> View:
    """Return the axes of a layout for kernels.

    Raises
    ------
    Unsupported
        If an axis is distributed by bounds that are not those of "block".
    """
    found = []
    pe_step = stride = 1
    for number in reversed(range(len(its.axes))):
        axis, (low, _) = its.axes[number], its.halo[number]
        size, rest = divmod(axis.length, axis.parts)
        _require_even(axis, number)
        dealt = 0 if axis.is_contiguous else axis.block
        found.append(AxisView(axis.length, axis.parts, size, rest, dealt, low, pe_step, stride))
        pe_step *= axis.parts
        stride *= its.block_shape[number]
    return tuple(reversed(found))


def _require_even(axis: Axis, number: int) -> None:
    if axis.has_copies:
        raise atoll.Unsupported(
            f"a.device(): axis {number} is replicated; use a.local, which has all of its indices, or a.redistribute('block')."
        )
    if axis.is_contiguous and axis.bounds != blocks_of(axis.length, axis.parts).bounds:
        raise atoll.Unsupported(
            f"a.device(): axis {number} is distributed by bounds, {list(axis.bounds or ())}; kernels find elements of "
            "'block', 'cyclic' and 'whole'. Use a.redistribute('block')."
        )


def locate(axis: Any, index: Any) -> tuple[Any, Any]:
    """Return the part that owns an index, and its place along the axis of the block. Numbers of kernels may be passed."""
    if axis.dealt != 0:
        row = index // axis.dealt
        return row % axis.parts, row // axis.parts * axis.dealt + index % axis.dealt + axis.low
    large = axis.rest * (axis.size + 1)
    if index < large:
        part = index // (axis.size + 1)
        return part, index - part * (axis.size + 1) + axis.low
    behind = index - large
    part = behind // max(axis.size, 1)
    return axis.rest + part, behind - part * axis.size + axis.low
