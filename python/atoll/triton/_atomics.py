"""Single elements and atomics, on pointers or blocks of pointers; complete when their result is used, or by quiet."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ._addresses import checks, peer_for
from ._types import accept

_P, _G, _ATOMIC = checks("p"), checks("g"), checks("atomic")


@jit
def atomic_fetch(team, src, pe):
    accept("atomic_fetch", (src,))
    return tl.load(peer_for(team, src, pe, _ATOMIC), volatile=True)


@jit
def atomic_set(team, dst, value, pe):
    accept("atomic_set", (dst, value))
    tl.atomic_xchg(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_swap(team, dst, value, pe):
    accept("atomic_swap", (dst, value))
    return tl.atomic_xchg(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_compare_swap(team, dst, condition, value, pe):
    accept("atomic_compare_swap", (dst, condition, value))
    kind: tl.constexpr = dst.dtype.scalar.element_ty
    old, new = tl.cast(condition, kind), tl.cast(value, kind)
    return tl.atomic_cas(peer_for(team, dst, pe, _ATOMIC), old, new, sem="relaxed", scope="sys")


@jit
def atomic_fetch_add(team, dst, value, pe):
    accept("atomic_fetch_add", (dst, value))
    return tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_add(team, dst, value, pe):
    accept("atomic_add", (dst, value))
    tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_inc(team, dst, pe):
    accept("atomic_fetch_inc", (dst,))
    return tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@jit
def atomic_inc(team, dst, pe):
    accept("atomic_inc", (dst,))
    tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@jit
def atomic_fetch_and(team, dst, value, pe):
    accept("atomic_fetch_and", (dst, value))
    return tl.atomic_and(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_and(team, dst, value, pe):
    accept("atomic_and", (dst, value))
    tl.atomic_and(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_or(team, dst, value, pe):
    accept("atomic_fetch_or", (dst, value))
    return tl.atomic_or(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_or(team, dst, value, pe):
    accept("atomic_or", (dst, value))
    tl.atomic_or(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_xor(team, dst, value, pe):
    accept("atomic_fetch_xor", (dst, value))
    return tl.atomic_xor(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_xor(team, dst, value, pe):
    accept("atomic_xor", (dst, value))
    tl.atomic_xor(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def p(team, dst, value, pe):
    accept("p", (dst, value))
    tl.store(peer_for(team, dst, pe, _P), value)


@jit
def g(team, src, pe):
    accept("g", (src,))
    return tl.load(peer_for(team, src, pe, _G), volatile=True)
