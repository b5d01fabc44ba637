"""The threads of a scope: their numbers, and their barrier."""

from __future__ import annotations

from . import _primitives as p
from ._dsl._registration import operation
from ._types import BLOCK, GRID


@operation
def rank(scope=GRID):
    return p.rank(scope)


@operation
def size(scope=GRID):
    return p.size(scope)


@operation
def meet(team, scope=BLOCK):
    p.meet(team.control, scope)


@operation
def grid_range(n):
    return range(p.thread(), n, p.threads())
