"""Single words: loads, stores and atomic updates; complete when the result is used, or by quiet."""

# mypy: ignore-errors
from __future__ import annotations

from cutlass import BFloat16

from ._addresses import address, peer_for
from ._primitives import (
    SYSTEM,
    add_half,
    compare_swap,
    has_bulk,
    load,
    load_narrow,
    store,
    store_narrow,
    update,
)
from ._types import FLOATS, HALVES, NARROW, WORDS, number, word


# ---- words: the first element of a tensor, or what a pointer points to; complete when the result is used, or by quiet
def p(team, dst, value, pe):
    kind = word("p", "dst", dst, WORDS + FLOATS + NARROW)
    given = number("p", "value", value, kind)
    to = peer_for(team, "p", address(dst), pe)
    if kind in NARROW:
        store_narrow(kind, to, given)
    else:
        store(kind, to, given, SYSTEM)


def g(team, src, pe):
    kind = word("g", "src", src, WORDS + FLOATS + NARROW)
    at = peer_for(team, "g", address(src), pe)
    return load_narrow(kind, at) if kind in NARROW else load(kind, at, SYSTEM)


def _fetching(name: str, operation: str, team, dst, value, pe, allowed=WORDS):
    kind = word(name, "dst", dst, allowed)
    return update(
        kind, operation, peer_for(team, "atomic", address(dst), pe), number(name, "value", value, kind)
    )


def atomic_fetch(team, src, pe):
    return load(word("atomic_fetch", "src", src), peer_for(team, "atomic", address(src), pe), SYSTEM)


def atomic_set(team, dst, value, pe):
    kind = word("atomic_set", "dst", dst)
    at = peer_for(team, "atomic", address(dst), pe)
    store(kind, at, number("atomic_set", "value", value, kind), SYSTEM)


def atomic_swap(team, dst, value, pe):
    return _fetching("atomic_swap", "exch", team, dst, value, pe, WORDS + FLOATS)


def atomic_compare_swap(team, dst, condition, value, pe):
    name = "atomic_compare_swap"
    kind = word(name, "dst", dst)
    old, new = number(name, "condition", condition, kind), number(name, "value", value, kind)
    return compare_swap(kind, peer_for(team, "atomic", address(dst), pe), old, new)


def atomic_fetch_add(team, dst, value, pe):
    return _fetching("atomic_fetch_add", "add", team, dst, value, pe, WORDS + FLOATS)


def atomic_add(team, dst, value, pe):
    kind = word("atomic_add", "dst", dst, WORDS + FLOATS + HALVES)
    if kind not in HALVES:
        _fetching("atomic_add", "add", team, dst, value, pe, WORDS + FLOATS)
        return
    if kind is BFloat16 and not has_bulk():
        raise TypeError("atoll.cute.atomic_add: dst is of BFloat16, which GPUs before sm_90 cannot add to")
    given = number("atomic_add", "value", value, kind)
    add_half(kind, peer_for(team, "atomic", address(dst), pe), given)


def atomic_fetch_inc(team, dst, pe):
    return _fetching("atomic_fetch_inc", "add", team, dst, 1, pe)


def atomic_inc(team, dst, pe):
    _fetching("atomic_inc", "add", team, dst, 1, pe)


def atomic_fetch_and(team, dst, value, pe):
    return _fetching("atomic_fetch_and", "and", team, dst, value, pe)


def atomic_and(team, dst, value, pe):
    _fetching("atomic_and", "and", team, dst, value, pe)


def atomic_fetch_or(team, dst, value, pe):
    return _fetching("atomic_fetch_or", "or", team, dst, value, pe)


def atomic_or(team, dst, value, pe):
    _fetching("atomic_or", "or", team, dst, value, pe)


def atomic_fetch_xor(team, dst, value, pe):
    return _fetching("atomic_fetch_xor", "xor", team, dst, value, pe)


def atomic_xor(team, dst, value, pe):
    _fetching("atomic_xor", "xor", team, dst, value, pe)
