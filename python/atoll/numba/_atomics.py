"""Single loads, stores and atomic updates of a PE's words, never torn and without order."""

from __future__ import annotations

from numba.core import types

from .._kernels.bodies import _atomics
from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import kind_of, peer_for
from ._dsl._registration import helper, operation, vocabulary
from ._moves import unit_of

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


globals().update(_atomics.operations(operation, prim, kind_of, there))
