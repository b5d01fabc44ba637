"""Words of a PE: single loads, stores and atomic updates, never torn, in no order; those that fetch are complete
when they return. 4 or 8 bytes; a word that kernels on a GPU update must not be updated by the host meanwhile."""

from __future__ import annotations

from typing import Any

from . import _primitives as prim
from ._targets import WORDS, number, vocabulary, word
from ._who import at_peer


@vocabulary
def p(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """Store `value` in dst[0] of PE `pe`. dst: int32, int64, uint32, uint64, float32, float64."""
    kind = word("p", "dst", dst)
    number("p", "value", value, kind)

    def impl(team: Any, dst: Any, value: Any, pe: Any) -> None:
        prim.store_relaxed(kind, at_peer(team, prim.address(dst), pe), value)

    return impl


@vocabulary
def g(team: Any, src: Any, pe: Any) -> Any:
    """Return src[0] of PE `pe`."""
    kind = word("g", "src", src)
    return lambda team, src, pe: prim.load_relaxed(kind, at_peer(team, prim.address(src), pe))


@vocabulary
def atomic_fetch(team: Any, src: Any, pe: Any) -> Any:
    """Return src[0] of PE `pe`."""
    kind = word("atomic_fetch", "src", src)
    return lambda team, src, pe: prim.load_relaxed(kind, at_peer(team, prim.address(src), pe))


@vocabulary
def atomic_set(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` = value."""
    kind = word("atomic_set", "dst", dst)
    number("atomic_set", "value", value, kind)

    def impl(team: Any, dst: Any, value: Any, pe: Any) -> None:
        prim.store_relaxed(kind, at_peer(team, prim.address(dst), pe), value)

    return impl


@vocabulary
def atomic_swap(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` = value; return what was there."""
    kind = word("atomic_swap", "dst", dst)
    number("atomic_swap", "value", value, kind)
    return lambda team, dst, value, pe: prim.swap(kind, at_peer(team, prim.address(dst), pe), value)


@vocabulary
def atomic_compare_swap(team: Any, dst: Any, condition: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` = value if its bits are those of `condition`; return what was there."""
    kind = word("atomic_compare_swap", "dst", dst)
    number("atomic_compare_swap", "condition", condition, kind)
    number("atomic_compare_swap", "value", value, kind)
    return lambda team, dst, condition, value, pe: prim.compare_swap(
        kind, at_peer(team, prim.address(dst), pe), condition, value
    )


@vocabulary
def atomic_fetch_add(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` += value, float32 and float64 too; return what was there."""
    kind = word("atomic_fetch_add", "dst", dst)
    number("atomic_fetch_add", "value", value, kind)
    return lambda team, dst, value, pe: prim.fetch_add(kind, at_peer(team, prim.address(dst), pe), value)


@vocabulary
def atomic_add(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` += value, float32 and float64 too."""
    kind = word("atomic_add", "dst", dst)
    number("atomic_add", "value", value, kind)

    def impl(team: Any, dst: Any, value: Any, pe: Any) -> None:
        prim.fetch_add(kind, at_peer(team, prim.address(dst), pe), value)

    return impl


@vocabulary
def atomic_fetch_inc(team: Any, dst: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` += 1; return what was there. Integers."""
    kind = word("atomic_fetch_inc", "dst", dst, WORDS)
    return lambda team, dst, pe: prim.fetch_add(kind, at_peer(team, prim.address(dst), pe), 1)


@vocabulary
def atomic_inc(team: Any, dst: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` += 1. Integers."""
    kind = word("atomic_inc", "dst", dst, WORDS)

    def impl(team: Any, dst: Any, pe: Any) -> None:
        prim.fetch_add(kind, at_peer(team, prim.address(dst), pe), 1)

    return impl


@vocabulary
def atomic_fetch_and(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` &= value; return what was there. Integers."""
    kind = word("atomic_fetch_and", "dst", dst, WORDS)
    number("atomic_fetch_and", "value", value, kind)
    return lambda team, dst, value, pe: prim.fetch_and(kind, at_peer(team, prim.address(dst), pe), value)


@vocabulary
def atomic_and(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` &= value. Integers."""
    kind = word("atomic_and", "dst", dst, WORDS)
    number("atomic_and", "value", value, kind)

    def impl(team: Any, dst: Any, value: Any, pe: Any) -> None:
        prim.fetch_and(kind, at_peer(team, prim.address(dst), pe), value)

    return impl


@vocabulary
def atomic_fetch_or(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` |= value; return what was there. Integers."""
    kind = word("atomic_fetch_or", "dst", dst, WORDS)
    number("atomic_fetch_or", "value", value, kind)
    return lambda team, dst, value, pe: prim.fetch_or(kind, at_peer(team, prim.address(dst), pe), value)


@vocabulary
def atomic_or(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` |= value. Integers."""
    kind = word("atomic_or", "dst", dst, WORDS)
    number("atomic_or", "value", value, kind)

    def impl(team: Any, dst: Any, value: Any, pe: Any) -> None:
        prim.fetch_or(kind, at_peer(team, prim.address(dst), pe), value)

    return impl


@vocabulary
def atomic_fetch_xor(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` ^= value; return what was there. Integers."""
    kind = word("atomic_fetch_xor", "dst", dst, WORDS)
    number("atomic_fetch_xor", "value", value, kind)
    return lambda team, dst, value, pe: prim.fetch_xor(kind, at_peer(team, prim.address(dst), pe), value)


@vocabulary
def atomic_xor(team: Any, dst: Any, value: Any, pe: Any) -> Any:
    """dst[0] of PE `pe` ^= value. Integers."""
    kind = word("atomic_xor", "dst", dst, WORDS)
    number("atomic_xor", "value", value, kind)

    def impl(team: Any, dst: Any, value: Any, pe: Any) -> None:
        prim.fetch_xor(kind, at_peer(team, prim.address(dst), pe), value)

    return impl
