"""Sums with the same bits for any number of PEs and any distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import atoll

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]
DIGITS = 53  # mantissa bits of a float64
SCALE = 900  # exponents above are lowered, so that no step overflows


def reproducible_sum(array: DistArray, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the sum along axes, whose bits depend on the elements alone. Collective.

    Each element is cut into pieces, multiples of units that all PEs share. Sums of such pieces need no rounding. So their
    order does not matter. The sums of the pieces are added in a fixed order.
    """
    if array._library.on_gpu:
        raise atoll.Unsupported(
            f"a.sum(reproducible=True) works on hosts, and this array is {array._library.text}; use "
            "atoll.arrays.to_device(a, 'cpu')."
        )
    local = array.local
    if local.dtype.kind == "c":
        parts = [_real_sum(array, each, axes, keepdims) for each in (local.real, local.imag)]
        made = np.empty(np.shape(parts[0]), np.complex128)
        made.real, made.imag = parts  # 1j times an infinity is NaN in the real part
        return made.astype(array.dtype)[()]
    return _real_sum(array, local, axes, keepdims).astype(array.dtype)


def _real_sum(array: DistArray, local: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    from .._functions._combined import combine
    from .._ufuncs import part_of

    def summed(part: Array) -> Array:
        part = np.add.reduce(part, axis=axes, keepdims=True)
        return np.asarray(combine(array, part, axes, True, atoll.sum_reduce, 0))

    def largest(part: Array) -> Array:
        return np.asarray(combine(array, part, axes, True, atoll.max_reduce, 0))

    rest = local.astype(np.float64)
    n = math.prod(array.shape[axis] for axis in axes)
    room = max(n, 1).bit_length() + 2  # digits that a sum of n pieces needs more than a piece
    most = np.maximum.reduce(np.abs(rest), axis=axes, keepdims=True, initial=0.0)
    # A NaN is left out by some reductions, hence a reduction of its own for what is not finite.
    special = np.logical_or.reduce(~np.isfinite(rest), axis=axes, keepdims=True).view(np.uint8)
    is_special = largest(special).astype(bool)
    most = largest(np.where(np.isfinite(most), most, 0.0))
    exponent = np.frexp(most)[1]
    lowered = np.where(exponent > SCALE, -2 * room - 64, 0)
    unit = np.ldexp(1.0, exponent + lowered + room)
    with np.errstate(all="ignore"):
        # Infinities and NaN alone have one sum in any order.
        usual = summed(np.where(np.isfinite(rest), 0.0, rest)) if is_special.any() else 0.0
        rest = np.ldexp(rest, part_of(lowered, array._layout))
        total = np.zeros_like(most)
        for _ in range(-(-2 * DIGITS // (DIGITS - room))):
            cut = part_of(unit, array._layout)
            piece = (cut + rest) - cut
            rest = rest - piece
            total = total + summed(piece)
            unit = np.ldexp(unit, room - DIGITS)
        total = np.where(is_special, usual, np.ldexp(total, -lowered))
    left = tuple(length for axis, length in enumerate(total.shape) if axis not in axes)
    return total if keepdims else total.reshape(left)[()]
