"""Single loads, stores and atomic updates of a PE's words, never torn and without order."""

from __future__ import annotations

from numba.core import types

from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import kind_of, peer_for
from ._moves import unit_of
from ._registration import helper, operation, vocabulary

u8 = types.uint8
ATOMIC, P, G = CHECKS["atomic"], CHECKS["p"], CHECKS["g"]


@helper
def there(team, x, pe):
    """Return the address of PE `pe`'s copy of a word."""
    return peer_for(team, ATOMIC, prim.address(x), pe)


@vocabulary
def as_unit(dst, value):
    """Return a value as it is stored: for bool as a byte."""
    if dst.dtype == types.boolean:
        return lambda dst, value: u8(1) if value else u8(0)
    return lambda dst, value: value


@vocabulary
def of_unit(src, found):
    return (lambda src, found: found != 0) if src.dtype == types.boolean else (lambda src, found: found)


@operation
def p(team, dst, value, pe):
    prim.store_relaxed(unit_of(dst), peer_for(team, P, prim.address(dst), pe), as_unit(dst, value))


@operation
def g(team, src, pe):
    return of_unit(src, prim.load_relaxed(unit_of(src), peer_for(team, G, prim.address(src), pe)))


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
    prim.fetch_add(kind_of(dst), there(team, dst, pe), value)


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
