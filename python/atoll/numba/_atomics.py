"""Single loads, stores and atomic updates of a PE's words, never torn and without order.

Those that fetch are complete when they return. Words have 4 or 8 bytes, for p and g also 1 and 2. While a
kernel on a GPU updates a word, the host must not update it.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import peer_for
from ._registration import vocabulary
from ._types import FLOATS, NARROW, WORDS, number, word

SINGLE = WORDS + FLOATS + NARROW + (types.boolean,)
u8 = types.uint8
ATOMIC, P, G = CHECKS["atomic"], CHECKS["p"], CHECKS["g"]


def _checked(name: str, dst, value, kinds: tuple[Any, ...]):
    kind = word(name, "dst", dst, kinds)
    number(name, "value", value, kind)
    return kind


def _stored(name: str, dst, value):
    operation, kinds = (P, SINGLE) if name == "p" else (ATOMIC, WORDS + FLOATS)
    kind = _checked(name, dst, value, kinds)

    def impl(team, dst, value, pe):
        prim.store_relaxed(kind, peer_for(team, operation, prim.address(dst), pe), value)

    def of_bool(team, dst, value, pe):
        byte = u8(1) if value else u8(0)
        prim.store_relaxed(u8, peer_for(team, operation, prim.address(dst), pe), byte)

    return of_bool if kind == types.boolean else impl


def _loaded(name: str, src):
    operation, kinds = (G, SINGLE) if name == "g" else (ATOMIC, WORDS + FLOATS)
    kind = word(name, "src", src, kinds)
    if kind == types.boolean:
        return lambda team, src, pe: (
            prim.load_relaxed(u8, peer_for(team, operation, prim.address(src), pe)) != 0
        )
    return lambda team, src, pe: prim.load_relaxed(kind, peer_for(team, operation, prim.address(src), pe))


def _fetching(name: str, update, dst, value, kinds: tuple[Any, ...] = WORDS + FLOATS):
    kind = _checked(name, dst, value, kinds)
    return lambda team, dst, value, pe: update(kind, peer_for(team, ATOMIC, prim.address(dst), pe), value)


def _updating(name: str, update, dst, value, kinds: tuple[Any, ...] = WORDS + FLOATS):
    kind = _checked(name, dst, value, kinds)

    def impl(team, dst, value, pe):
        update(kind, peer_for(team, ATOMIC, prim.address(dst), pe), value)

    return impl


@vocabulary
def p(team, dst, value, pe):
    return _stored("p", dst, value)


@vocabulary
def g(team, src, pe):
    return _loaded("g", src)


@vocabulary
def atomic_fetch(team, src, pe):
    return _loaded("atomic_fetch", src)


@vocabulary
def atomic_set(team, dst, value, pe):
    return _stored("atomic_set", dst, value)


@vocabulary
def atomic_swap(team, dst, value, pe):
    return _fetching("atomic_swap", prim.swap, dst, value)


@vocabulary
def atomic_compare_swap(team, dst, condition, value, pe):
    kind = word("atomic_compare_swap", "dst", dst)
    number("atomic_compare_swap", "condition", condition, kind)
    number("atomic_compare_swap", "value", value, kind)
    return lambda team, dst, condition, value, pe: prim.compare_swap(
        kind, peer_for(team, ATOMIC, prim.address(dst), pe), condition, value
    )


@vocabulary
def atomic_fetch_add(team, dst, value, pe):
    return _fetching("atomic_fetch_add", prim.fetch_add, dst, value)


@vocabulary
def atomic_add(team, dst, value, pe):
    return _updating("atomic_add", prim.fetch_add, dst, value)


@vocabulary
def atomic_fetch_inc(team, dst, pe):
    kind = word("atomic_fetch_inc", "dst", dst, WORDS)
    return lambda team, dst, pe: prim.fetch_add(kind, peer_for(team, ATOMIC, prim.address(dst), pe), 1)


@vocabulary
def atomic_inc(team, dst, pe):
    kind = word("atomic_inc", "dst", dst, WORDS)

    def impl(team, dst, pe):
        prim.fetch_add(kind, peer_for(team, ATOMIC, prim.address(dst), pe), 1)

    return impl


@vocabulary
def atomic_fetch_and(team, dst, value, pe):
    return _fetching("atomic_fetch_and", prim.fetch_and, dst, value, WORDS)


@vocabulary
def atomic_and(team, dst, value, pe):
    return _updating("atomic_and", prim.fetch_and, dst, value, WORDS)


@vocabulary
def atomic_fetch_or(team, dst, value, pe):
    return _fetching("atomic_fetch_or", prim.fetch_or, dst, value, WORDS)


@vocabulary
def atomic_or(team, dst, value, pe):
    return _updating("atomic_or", prim.fetch_or, dst, value, WORDS)


@vocabulary
def atomic_fetch_xor(team, dst, value, pe):
    return _fetching("atomic_fetch_xor", prim.fetch_xor, dst, value, WORDS)


@vocabulary
def atomic_xor(team, dst, value, pe):
    return _updating("atomic_xor", prim.fetch_xor, dst, value, WORDS)
