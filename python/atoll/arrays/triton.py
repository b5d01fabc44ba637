"""Elements of distributed arrays by global index inside kernels in Triton, on GPUs and in Triton's interpreter.

    import atoll, atoll.triton as dev
    from atoll import arrays
    from atoll.arrays import triton as dist

    @dev.kernel
    def column(team, a, x, out, j, n: tl.constexpr):
        i = tl.arange(0, n)
        tl.store(out + i, tl.load(dist.ptr(team, a, x, (i, j))))

    a = arrays.zeros((64, 64), "float32", device="cuda", xp="torch")
    column[(1,)](atoll.WORLD.device(), *a.device(), out, 3, 64)

`a.device()` returns the axes, by which an element is found, and this PE's block. Indices are not checked.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ..triton._addresses import slot_of

__all__ = ["find", "ptr"]


@jit
def _locate(axis, index):
    row = index // tl.maximum(axis.dealt, 1)
    dealt = axis.dealt != 0
    large = axis.rest * (axis.size + 1)
    behind = index - large
    is_large = index < large
    part = tl.where(is_large, index // (axis.size + 1), axis.rest + behind // tl.maximum(axis.size, 1))
    first = part * axis.size + tl.minimum(part, axis.rest)
    part = tl.where(dealt, row % axis.parts, part)
    inside = tl.where(
        dealt, row // axis.parts * axis.dealt + index % tl.maximum(axis.dealt, 1), index - first
    )
    return part, tl.cast(inside + axis.low, tl.int64)  # a block may have more elements than 32 bits count


@jit
def find(axes, index):
    """Return the PEs that own elements, and the numbers of the elements in the PEs' blocks.

    Parameters
    ----------
    axes
        The first result of `a.device()`.
    index
        A tuple of one block of indices from 0 on for each axis, which broadcast against each other.

    Returns
    -------
    pes, numbers
        Blocks of the broadcast shape.
    """
    pe, at = _locate(axes[0], index[0])
    pe, at = pe * axes[0].pe_step, at * axes[0].stride
    for k in tl.static_range(1, len(index)):
        part, inside = _locate(axes[k], index[k])
        pe, at = pe + part * axes[k].pe_step, at + inside * axes[k].stride
    return pe, at


@jit
def ptr(team, axes, block, index):
    """Return a block of pointers to elements, for `tl.load`, `tl.store` and Triton's atomics.

    Parameters
    ----------
    team
        `atoll.triton`'s value of the array's team, `a.team.device()`.
    axes, block
        The results of `a.device()`.
    index
        As for `find`.

    Returns
    -------
    block of pointers
        Of the broadcast shape.
    """
    pe, at = find(axes, index)
    size: tl.constexpr = tl.constexpr(max(block.dtype.element_ty.primitive_bitwidth // 8, 1))
    return block + at + (slot_of(team, pe) - team.my_slot) * (team.stride // size)
