"""Single words: loads, stores and atomic updates; complete when the result is used, or by quiet."""

# mypy: ignore-errors
from __future__ import annotations

from cutlass import BFloat16

from . import _primitives as prim
from ._addresses import address, peer_for
from ._primitives import SYSTEM
from ._types import HALVES, NARROW, kind_of


def p(team, dst, value, pe):
    kind, to = kind_of("dst", dst), peer_for(team, "p", address(dst), pe)
    if kind in NARROW:
        prim.store_narrow(kind, to, value)
    else:
        prim.store(kind, to, value, SYSTEM)


def g(team, src, pe):
    kind, at = kind_of("src", src), peer_for(team, "g", address(src), pe)
    return prim.load_narrow(kind, at) if kind in NARROW else prim.load(kind, at, SYSTEM)


def _update(operation: str, team, dst, value, pe):
    kind = kind_of("dst", dst)
    return prim.update(kind, operation, peer_for(team, "atomic", address(dst), pe), kind(value))


def atomic_fetch(team, src, pe):
    return prim.load(kind_of("src", src), peer_for(team, "atomic", address(src), pe), SYSTEM)


def atomic_set(team, dst, value, pe):
    prim.store(kind_of("dst", dst), peer_for(team, "atomic", address(dst), pe), value, SYSTEM)


def atomic_swap(team, dst, value, pe):
    return _update("exch", team, dst, value, pe)


def atomic_compare_swap(team, dst, condition, value, pe):
    at = peer_for(team, "atomic", address(dst), pe)
    return prim.compare_swap(kind_of("dst", dst), at, condition, value)


def atomic_fetch_add(team, dst, value, pe):
    return _update("add", team, dst, value, pe)


def atomic_add(team, dst, value, pe):
    kind = kind_of("dst", dst)
    if kind not in HALVES:
        _update("add", team, dst, value, pe)
        return
    if kind is BFloat16 and not prim.has_bulk():
        raise TypeError("atoll.cute.atomic_add: dst is of BFloat16, which GPUs before sm_90 cannot add to")
    prim.add_half(kind, peer_for(team, "atomic", address(dst), pe), value)


def atomic_fetch_inc(team, dst, pe):
    return _update("add", team, dst, 1, pe)


def atomic_inc(team, dst, pe):
    _update("add", team, dst, 1, pe)


def atomic_fetch_and(team, dst, value, pe):
    return _update("and", team, dst, value, pe)


def atomic_and(team, dst, value, pe):
    _update("and", team, dst, value, pe)


def atomic_fetch_or(team, dst, value, pe):
    return _update("or", team, dst, value, pe)


def atomic_or(team, dst, value, pe):
    _update("or", team, dst, value, pe)


def atomic_fetch_xor(team, dst, value, pe):
    return _update("xor", team, dst, value, pe)


def atomic_xor(team, dst, value, pe):
    _update("xor", team, dst, value, pe)
