"""Copies of bytes and of tensors of any layout by the threads of a scope."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Constexpr, Int32, Int64

from ..._kernels import ptx
from .._addresses import address, words_at
from .._primitives import asm
from .._threads import rank_and_size
from .._types import Scope, is_swizzled


def is_whole(x) -> bool:
    """Return whether x is known to consist of 8-byte units at multiples of 8."""
    size = cute.size(x) * x.element_type.width // 8
    return words_at(x) % 8 == 0 and isinstance(size, int) and size >= 8 and size % 8 == 0


def dense(name: str, which: str, x) -> None:
    if not is_dense(x):
        raise TypeError(
            f"atoll.cute.{name}: {which} is not known to be contiguous ({x.layout}); copy it first"
        )


def fits(name: str, dst, src) -> None:
    """Refuse a dst that is known to be smaller than src."""
    room, n = cute.size(dst), cute.size(src)
    if isinstance(room, int) and isinstance(n, int) and room < n:
        raise ValueError(
            f"atoll.cute.{name}: dst has {room} elements, and src {n}; pass a part of src as long as dst"
        )


# ---- copies
@cute.jit
def copy_units(to: Int64, source: Int64, n: Int64, unit: Constexpr, rank: Int64, size: Int64):
    i, step = rank, size * unit
    while i + size * (ptx.BULK - 1) < n:
        asm(ptx.copy(unit, ptx.BULK), "l,l,l", None, [to + i * unit, source + i * unit, step])
        i += size * ptx.BULK
    while i < n:
        asm(ptx.copy(unit, 1), "l,l,l", None, [to + i * unit, source + i * unit, step])
        i += size


@cute.jit
def copy_bytes(
    to: Int64, source: Int64, nbytes: Int64, aligned: Constexpr, least: Constexpr, scope: Constexpr
):
    """Copy in the largest units that both addresses allow.

    `aligned` and `least` are known divisors of both addresses, in bytes; `least` also divides nbytes.
    """
    rank, size = rank_and_size(scope, Int64)
    if cutlass.const_expr(aligned >= 16):  # noqa: SIM114 (decided when it is compiled, the latter in the kernel)
        copy_units(to, source, nbytes >> 4, 16, rank, size)
        rest = nbytes & ~15
        copy_units(to + rest, source + rest, (nbytes & 15) // least, least, rank, size)
    elif (to | source) & 15 == 0:
        copy_units(to, source, nbytes >> 4, 16, rank, size)
        rest = nbytes & ~15
        copy_units(to + rest, source + rest, (nbytes & 15) // least, least, rank, size)
    else:
        copy_units(to, source, nbytes // least, least, rank, size)


def is_dense(x) -> bool:
    """Return whether x's elements are known to be contiguous."""
    if is_swizzled(x):
        return False
    layout = cute.coalesce(x.layout)
    stride = layout.stride
    return stride in (1, (1,)) or (cute.is_static(layout) and cute.size(layout) == 1)


@cute.jit
def copy_elements(dst: cute.Tensor, src: cute.Tensor, scope: Constexpr):
    i, step = rank_and_size(scope, Int32)
    n = Int32(cute.size(src))
    while i < n:
        dst[i] = src[i]
        i += step


def size_in_bytes(x):
    return Int64(cute.size(x)) * (x.element_type.width // 8)


def copy_tensor(dst, src, scope: Scope) -> None:
    """Copy src to dst: as many elements as src has.

    Both are tensors, which know their memory: elements are loaded and stored by instructions of that memory,
    units through generic addresses.
    """
    if is_dense(dst) and is_dense(src):
        item = src.element_type.width // 8
        aligned = min(words_at(dst), words_at(src))
        least = min(item & -item, 8)
        copy_bytes(address(dst), address(src), size_in_bytes(src), aligned, least, scope)
    else:
        copy_elements(dst, src, scope)
