"""Atomic operations on the first element of an array on another PE. PEs are numbers of the world team."""

from __future__ import annotations

from .... import numba as dev
from ._teams import for_kernels, world

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_compare_swap",
    "atomic_fetch",
    "atomic_fetch_add",
    "atomic_fetch_and",
    "atomic_fetch_inc",
    "atomic_fetch_or",
    "atomic_fetch_xor",
    "atomic_inc",
    "atomic_or",
    "atomic_set",
    "atomic_swap",
    "atomic_xor",
]


@for_kernels
def atomic_fetch(src, pe):
    """Return src, on PE pe."""
    return dev.atomic_fetch(world(), src, pe)


@for_kernels
def atomic_set(dst, value, pe):
    """Set dst to value, on PE pe."""
    dev.atomic_set(world(), dst, value, pe)


@for_kernels
def atomic_compare_swap(dst, cond, value, pe):
    """Set dst to value if it is cond, and return the previous value, on PE pe."""
    return dev.atomic_compare_swap(world(), dst, cond, value, pe)


@for_kernels
def atomic_swap(dst, value, pe):
    """Set dst to value, and return the previous value, on PE pe."""
    return dev.atomic_swap(world(), dst, value, pe)


@for_kernels
def atomic_fetch_inc(dst, pe):
    """Add 1 to dst, and return the previous value, on PE pe."""
    return dev.atomic_fetch_inc(world(), dst, pe)


@for_kernels
def atomic_inc(dst, pe):
    """Add 1 to dst, on PE pe."""
    dev.atomic_inc(world(), dst, pe)


@for_kernels
def atomic_fetch_add(dst, value, pe):
    """Add value to dst, and return the previous value, on PE pe."""
    return dev.atomic_fetch_add(world(), dst, value, pe)


@for_kernels
def atomic_add(dst, value, pe):
    """Add value to dst, on PE pe."""
    dev.atomic_add(world(), dst, value, pe)


@for_kernels
def atomic_fetch_and(dst, value, pe):
    """Bitwise AND value into dst on PE pe, and return the previous value."""
    return dev.atomic_fetch_and(world(), dst, value, pe)


@for_kernels
def atomic_and(dst, value, pe):
    """Bitwise AND value into dst on PE pe."""
    dev.atomic_and(world(), dst, value, pe)


@for_kernels
def atomic_fetch_or(dst, value, pe):
    """Bitwise OR value into dst on PE pe, and return the previous value."""
    return dev.atomic_fetch_or(world(), dst, value, pe)


@for_kernels
def atomic_or(dst, value, pe):
    """Bitwise OR value into dst on PE pe."""
    dev.atomic_or(world(), dst, value, pe)


@for_kernels
def atomic_fetch_xor(dst, value, pe):
    """Bitwise XOR value into dst on PE pe, and return the previous value."""
    return dev.atomic_fetch_xor(world(), dst, value, pe)


@for_kernels
def atomic_xor(dst, value, pe):
    """Bitwise XOR value into dst on PE pe."""
    dev.atomic_xor(world(), dst, value, pe)
