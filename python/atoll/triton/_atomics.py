"""Single elements and atomics, on pointers or blocks of pointers; complete when their result is used, or by quiet."""

# mypy: ignore-errors
from __future__ import annotations

import triton.language as tl
from triton import jit

from ._addresses import checks, peer_for
from ._types import number, pointer, word

_P, _G, _ATOMIC = checks("p"), checks("g"), checks("atomic")


@jit
def atomic_fetch(team, src, pe):
    word("atomic_fetch", "src", src, "words, floats and halves")
    return tl.load(peer_for(team, src, pe, _ATOMIC), volatile=True)


@jit
def atomic_set(team, dst, value, pe):
    word("atomic_set", "dst", dst, "words and floats")
    number("atomic_set", "value", value, "dst", dst)
    tl.atomic_xchg(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_swap(team, dst, value, pe):
    word("atomic_swap", "dst", dst, "words and floats")
    number("atomic_swap", "value", value, "dst", dst)
    return tl.atomic_xchg(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_compare_swap(team, dst, condition, value, pe):
    word("atomic_compare_swap", "dst", dst)
    number("atomic_compare_swap", "condition", condition, "dst", dst)
    number("atomic_compare_swap", "value", value, "dst", dst)
    kind: tl.constexpr = dst.dtype.scalar.element_ty
    old, new = tl.cast(condition, kind), tl.cast(value, kind)
    return tl.atomic_cas(peer_for(team, dst, pe, _ATOMIC), old, new, sem="relaxed", scope="sys")


@jit
def atomic_fetch_add(team, dst, value, pe):
    word("atomic_fetch_add", "dst", dst, "words, floats and halves")
    number("atomic_fetch_add", "value", value, "dst", dst)
    return tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_add(team, dst, value, pe):
    word("atomic_add", "dst", dst, "words, floats and halves")
    number("atomic_add", "value", value, "dst", dst)
    tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_inc(team, dst, pe):
    word("atomic_fetch_inc", "dst", dst, "words, floats and halves")
    return tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@jit
def atomic_inc(team, dst, pe):
    word("atomic_inc", "dst", dst, "words, floats and halves")
    tl.atomic_add(peer_for(team, dst, pe, _ATOMIC), 1, sem="relaxed", scope="sys")


@jit
def atomic_fetch_and(team, dst, value, pe):
    word("atomic_fetch_and", "dst", dst)
    number("atomic_fetch_and", "value", value, "dst", dst)
    return tl.atomic_and(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_and(team, dst, value, pe):
    word("atomic_and", "dst", dst)
    number("atomic_and", "value", value, "dst", dst)
    tl.atomic_and(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_or(team, dst, value, pe):
    word("atomic_fetch_or", "dst", dst)
    number("atomic_fetch_or", "value", value, "dst", dst)
    return tl.atomic_or(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_or(team, dst, value, pe):
    word("atomic_or", "dst", dst)
    number("atomic_or", "value", value, "dst", dst)
    tl.atomic_or(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_fetch_xor(team, dst, value, pe):
    word("atomic_fetch_xor", "dst", dst)
    number("atomic_fetch_xor", "value", value, "dst", dst)
    return tl.atomic_xor(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def atomic_xor(team, dst, value, pe):
    word("atomic_xor", "dst", dst)
    number("atomic_xor", "value", value, "dst", dst)
    tl.atomic_xor(peer_for(team, dst, pe, _ATOMIC), value, sem="relaxed", scope="sys")


@jit
def p(team, dst, value, pe):
    pointer("p", "dst", dst)
    number("p", "value", value, "dst", dst)
    tl.store(peer_for(team, dst, pe, _P), value)


@jit
def g(team, src, pe):
    pointer("g", "src", src)
    return tl.load(peer_for(team, src, pe, _G), volatile=True)
