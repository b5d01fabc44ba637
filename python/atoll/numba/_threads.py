"""The threads of a scope: their numbers, and their barrier."""

from __future__ import annotations

from . import _primitives as p
from ._registration import vocabulary
from ._types import BLOCK, GRID, scope_of


@vocabulary
def rank(scope=GRID):
    which = scope_of("rank", scope)
    return lambda scope=GRID: p.rank(which)


@vocabulary
def size(scope=GRID):
    which = scope_of("size", scope)
    return lambda scope=GRID: p.size(which)


@vocabulary
def meet(team, scope=BLOCK):
    which = scope_of("meet", scope)

    def impl(team, scope=BLOCK):
        p.meet(team.control, which)

    return impl


@vocabulary
def grid_range(n):
    return lambda n: range(p.thread(), n, p.threads())
