"""Cumulative sums and products, and places of extremes, along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

from .. import _axis, _libraries
from .._compared import collective, require_host
from .._layout import Layout
from .._teams import _current
from .._together import before_barrier
from ._combined import combine
from ._moves import reshape, straight_along

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
# Neighbours may be combined in any order, so that parts are accumulated on their own.
ASSOCIATIVE = {
    *(np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.gcd, np.lcm),
    *(np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor),
}


@collective(on_gpus=True)
def accumulate(a: DistArray, ufunc: np.ufunc, axis: int | None, dtype: Any = None) -> DistArray:
    """Return the cumulative sums (np.add), products (np.multiply) or the like along an axis. Collective.

    Each PE accumulates its part, and multiplies or adds what the parts before it have in all. Cyclic axes are
    redistributed for that.
    """
    from .._array import DistArray

    if axis is None and a.ndim > 1:
        return accumulate(reshape(a, (-1,)), ufunc, 0, dtype)
    number = a._layout.axis_number(0 if axis is None else axis)
    if ufunc in (np.add, np.multiply):
        name = "cumsum" if ufunc is np.add else "cumprod"
    else:
        name = f"{ufunc.__name__}.accumulate"
        require_host(name, [a], {})
    if a.dtype.kind not in "biufc":
        raise atoll.DtypeMismatch(f"{name}: elements of {a.dtype}; expected numbers.")
    its = a._layout
    if not its.axes[number].is_contiguous:
        found = accumulate(straight_along(a, number), ufunc, number, dtype)
        return DistArray._moved(found._layout, found.local, its)
    result = ufunc.accumulate(np.zeros(1, a.dtype), dtype=dtype).dtype
    made = DistArray._of(its, result, zero=False)
    part, parts = made.local, its.axes[number].parts
    if parts == 1:
        with before_barrier():
            made._library.accumulate(ufunc, a.local, number, part)
        return made
    totals = DistArray._of(its.without_halo().with_axis(number, _axis.block(parts, parts)), made.dtype)
    with before_barrier():
        made._library.accumulate(ufunc, a.local, number, part)
        if part.shape[number]:
            totals.local[...] = part[(slice(None),) * number + (slice(-1, None),)]
    with before_barrier():
        before = _before(its, number, ufunc, totals)
        if before is not None:
            made._library.apply(ufunc, [part, before], (part,), {})
    return made


def _before(its: Layout, number: int, ufunc: np.ufunc, totals: DistArray) -> Any:
    """Return the accumulated value of the parts before this PE's along an axis, from what each part has in all."""
    position = list(its.coordinates(_current.my_pe()))
    here = position[number]
    found: Any = None
    for earlier in range(here):
        if not its.axes[number].extent(earlier):
            continue
        position[number] = earlier
        one = totals._copy_of(its.pe_at(position), totals._layout.interior(_current.my_pe()), None)
        found = one if found is None else totals._library.apply(ufunc, [found, one], None, {})
    return found


def argextreme(a: DistArray, axis: int, keepdims: bool, smallest: bool) -> Any:
    """Return the index along an axis of the first smallest or largest element. Collective.

    The result is the same on every PE. NaN counts as smallest and as largest, as in NumPy.
    """
    from .._ufuncs import part_of
    from ._extremes import extreme

    number = a._layout.axis_number(axis)
    wanted = extreme(a, number, True, "min" if smallest else "max")
    local, its = a.local, a._library
    if 0 in local.shape:
        found = np.full([1 if i == number else n for i, n in enumerate(local.shape)], a.shape[number])
    elif its is not _libraries.HOST:
        there = part_of(wanted, a._layout, its)
        along = its.array(a.global_indices(number).reshape([-1 if i == number else 1 for i in range(a.ndim)]))
        positions = its.chosen((local == there) | (local != local), along, a.shape[number])
        found = its.reduced(np.minimum, positions, (number,))
    else:
        extreme = part_of(wanted, a._layout)
        is_first = (local == extreme) | (local != local)
        at = np.expand_dims(np.argmax(is_first, axis=number), number)
        has_one = np.take_along_axis(is_first, at, number)
        found = np.where(has_one, a.global_indices(number)[at], a.shape[number])
    return combine(a, found.astype(np.int64), number, keepdims, atoll.min_reduce, a.shape[number])
