"""Single words: loads, stores and atomic updates; complete when the result is used, or by quiet."""

# mypy: ignore-errors
from __future__ import annotations

from .._kernels.bodies import _atomics
from .._kernels.checks import CHECKS
from . import _primitives as prim
from ._addresses import address, peer_for
from ._primitives import SYSTEM
from ._types import NARROW, kind_of, word_kind


def p(team, dst, value, pe):
    kind, to = kind_of("dst", dst), peer_for(team, CHECKS["p"], address(dst), pe)
    if kind in NARROW:
        prim.store_narrow(kind, to, value)
    else:
        prim.store(kind, to, value, SYSTEM)


def g(team, src, pe):
    kind, at = kind_of("src", src), peer_for(team, CHECKS["g"], address(src), pe)
    return prim.load_narrow(kind, at) if kind in NARROW else prim.load(kind, at, SYSTEM)


def _there(team, x, pe):
    return peer_for(team, CHECKS["atomic"], address(x), pe)


globals().update(_atomics.operations(prim.as_it_is, prim, word_kind, _there))
