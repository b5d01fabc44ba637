"""Single elements and atomics, on pointers or blocks of pointers; complete when their result is used, or by quiet."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ._addresses import checks, peer_for

_P, _G, _ATOMIC = checks("p"), checks("g"), checks("atomic")


@jit
def atomic_fetch(team, src, pe):
    return tl.load(peer_for(team, src, pe, _ATOMIC), volatile=True)


@jit
def atomic_set(team, dst, value, pe):
    tl.atomic_xchg(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_swap(team, dst, value, pe):
    return tl.atomic_xchg(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_compare_swap(team, dst, condition, value, pe):
    kind: tl.constexpr = dst.dtype.scalar.element_ty
    old, new = tl.cast(condition, kind), tl.cast(value, kind)
    return tl.atomic_cas(peer_for(team, dst, pe, _ATOMIC), old, new, sem="relaxed", scope="sys")


@jit
def atomic_fetch_add(team, dst, value, pe):
    return tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_add(team, dst, value, pe):
    tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_inc(team, dst, pe):
    return tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@jit
def atomic_inc(team, dst, pe):
    tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@jit
def atomic_fetch_and(team, dst, value, pe):
    return tl.atomic_and(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_and(team, dst, value, pe):
    tl.atomic_and(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_or(team, dst, value, pe):
    return tl.atomic_or(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_or(team, dst, value, pe):
    tl.atomic_or(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_xor(team, dst, value, pe):
    return tl.atomic_xor(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_xor(team, dst, value, pe):
    tl.atomic_xor(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def p(team, dst, value, pe):
    tl.store(peer_for(team, dst, pe, _P), value)


@jit
def g(team, src, pe):
    return tl.load(peer_for(team, src, pe, _G), volatile=True)
