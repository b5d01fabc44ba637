"""Atomic updates of a PE's words, never torn and without order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import by_name


def operations(operation: Any, prim: Any, kind_of: Any, there: Any) -> dict[str, Callable[..., Any]]:
    """Return the operations. `there(team, x, pe)` is the checked address of PE `pe`'s copy of a word."""

    @operation
    def atomic_fetch(team, src, pe):
        return prim.load_relaxed(kind_of(src), there(team, src, pe))

    @operation
    def atomic_set(team, dst, value, pe):
        prim.store_relaxed(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_swap(team, dst, value, pe):
        return prim.swap(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_compare_swap(team, dst, condition, value, pe):
        return prim.compare_swap(kind_of(dst), there(team, dst, pe), condition, value)

    @operation
    def atomic_fetch_add(team, dst, value, pe):
        return prim.fetch_add(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_add(team, dst, value, pe):
        prim.add(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_fetch_inc(team, dst, pe):
        return prim.fetch_add(kind_of(dst), there(team, dst, pe), 1)

    @operation
    def atomic_inc(team, dst, pe):
        prim.fetch_add(kind_of(dst), there(team, dst, pe), 1)

    @operation
    def atomic_fetch_and(team, dst, value, pe):
        return prim.fetch_and(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_and(team, dst, value, pe):
        prim.fetch_and(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_fetch_or(team, dst, value, pe):
        return prim.fetch_or(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_or(team, dst, value, pe):
        prim.fetch_or(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_fetch_xor(team, dst, value, pe):
        return prim.fetch_xor(kind_of(dst), there(team, dst, pe), value)

    @operation
    def atomic_xor(team, dst, value, pe):
        prim.fetch_xor(kind_of(dst), there(team, dst, pe), value)

    return by_name(
        atomic_fetch, atomic_set, atomic_swap, atomic_compare_swap, atomic_fetch_add, atomic_add, atomic_fetch_inc,
        atomic_inc, atomic_fetch_and, atomic_and, atomic_fetch_or, atomic_or, atomic_fetch_xor, atomic_xor,
    )  # fmt: skip
