"""Elements of distributed arrays by global index inside kernels in Numba, on GPUs and on CPUs.

    import atoll, atoll.numba as dev
    from atoll import arrays
    from atoll.arrays import numba as dist

    @dev.kernel
    def transpose(team, a, x, b, y, n):
        for i in dev.grid_range(n * n):
            dist.put(team, b, y, (i % n, i // n), dist.get(team, a, x, (i // n, i % n)))

    dev.launch(transpose, 64, 256)(atoll.WORLD, *a.device(), *b.device(), n)

`a.device()` returns the axes, by which an element is found, and this PE's block. Indices are not checked.
"""

from __future__ import annotations

from typing import Any

import atoll.numba as dev

from ..numba._dsl._registration import TARGETS, implement
from ..numba._dsl._registration import helper as _helper
from ._kernel_view import locate

__all__ = ["add", "find", "get", "put"]

_helper(locate)


def find(axes: Any, index: Any) -> Any:
    """Return the PE that owns an element, and the number of the element in the PE's block.

    Parameters
    ----------
    axes
        The first result of `a.device()`.
    index
        A tuple of one index from 0 on for each axis; 1 to 4 axes.

    Returns
    -------
    pe, number
        Integers: the PE within the array's team, and the number for `block[number:]`.
    """
    raise TypeError("atoll.arrays.numba.find is for kernels (@dev.kernel, numba.njit, cuda.jit)")


def _find_1(axes: Any, index: Any) -> Any:
    part, at = locate(axes[0], index[0])
    return part, at


def _find_2(axes: Any, index: Any) -> Any:
    p, i = locate(axes[0], index[0])
    q, j = locate(axes[1], index[1])
    return p * axes[0].pe_step + q, i * axes[0].stride + j


def _find_3(axes: Any, index: Any) -> Any:
    p, i = locate(axes[0], index[0])
    q, j = locate(axes[1], index[1])
    r, k = locate(axes[2], index[2])
    return p * axes[0].pe_step + q * axes[1].pe_step + r, i * axes[0].stride + j * axes[1].stride + k


def _find_4(axes: Any, index: Any) -> Any:
    p, i = locate(axes[0], index[0])
    q, j = locate(axes[1], index[1])
    r, k = locate(axes[2], index[2])
    s, m = locate(axes[3], index[3])
    pe = p * axes[0].pe_step + q * axes[1].pe_step + r * axes[2].pe_step + s
    return pe, i * axes[0].stride + j * axes[1].stride + k * axes[2].stride + m


_FOR_AXES = {1: _find_1, 2: _find_2, 3: _find_3, 4: _find_4}


def _find_for(axes: Any, index: Any) -> Any:
    """Return the look-up function for this number of indices. For None Numba raises its error of types."""
    n = getattr(index, "count", None) or len(getattr(index, "types", ()))
    return _FOR_AXES.get(n) if n == getattr(axes, "count", n) else None


for _target in TARGETS:
    implement(_target, find)(_find_for)


@_helper
def get(team: Any, axes: Any, block: Any, index: Any) -> Any:
    """Return an element of the array, from the PE that owns it.

    Parameters
    ----------
    team
        `atoll.numba`'s value of the array's team, `a.team.device()`.
    axes, block
        The results of `a.device()`.
    index
        As for `find`.

    Returns
    -------
    Any
        A number of the array's dtype.
    """
    pe, at = find(axes, index)
    return dev.g(team, block[at:], pe)


@_helper
def put(team: Any, axes: Any, block: Any, index: Any, value: Any) -> None:
    """Write an element of the array, on the PE that owns it.

    Parameters
    ----------
    team
        `atoll.numba`'s value of the array's team, `a.team.device()`.
    axes, block
        The results of `a.device()`.
    index
        As for `find`.
    value
        A number of the array's dtype.
    """
    pe, at = find(axes, index)
    dev.p(team, block[at:], value, pe)


@_helper
def add(team: Any, axes: Any, block: Any, index: Any, value: Any) -> None:
    """Add to an element of the array atomically, on the PE that owns it.

    Parameters
    ----------
    team
        `atoll.numba`'s value of the array's team, `a.team.device()`.
    axes, block
        The results of `a.device()`.
    index
        As for `find`.
    value
        A number of the array's dtype, which is an integer of 32 or 64 bits, float32 or float64.
    """
    pe, at = find(axes, index)
    dev.atomic_add(team, block[at:], value, pe)
