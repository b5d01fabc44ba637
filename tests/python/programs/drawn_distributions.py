"""Distributions that Hypothesis draws: grids of every shape, copies, bounds and halos of every width, teams."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import atoll
from hypothesis import strategies as st
from properties import Draw

KINDS = ["block"] * 3 + ["cyclic", "cyclic(2)", "cyclic(3)"] + ["bounds"] * 3 + ["replicated"]


def grids(axes: int, n: int) -> list[tuple[int, ...]]:
    """Return all grids of n places."""
    if axes == 1:
        return [(n,)]
    return [(p, *rest) for p in range(1, n + 1) if n % p == 0 for rest in grids(axes - 1, n // p)]


def a_grid(draw: Draw, axes: int, n: int) -> tuple[int, ...]:
    """Draw a grid, half of the time one that divides several axes, if there is one."""
    every = grids(axes, n)
    divided = [grid for grid in every if sum(p > 1 for p in grid) > 1]
    return tuple(draw(st.sampled_from(divided if divided and draw(st.booleans()) else every)))


def an_axis_of(draw: Draw, n: int, parts: int) -> tuple[Any, list[int]]:
    """Draw the distribution of an axis; return it with the lengths of its parts if it may have a halo, else none."""
    kind: Any = draw(st.sampled_from(["whole", *KINDS] if parts == 1 else KINDS))
    if kind == "bounds":
        cuts = sorted(draw(st.lists(st.integers(0, n), min_size=parts - 1, max_size=parts - 1)))
        bounds = [0, *cuts, n]
        return bounds, [stop - start for start, stop in pairwise(bounds)]
    if kind == "replicated":
        return kind, [0] if parts > 1 else [n]
    if kind in ("block", "whole") or parts == 1:
        return kind, [(n + part) // parts for part in range(parts)]
    return kind, [0]


@st.composite
def distributions(draw: Draw, shape: tuple[int, ...], n_pes: int) -> dict[str, Any]:
    """Return keywords of `from_array` for so many PEs. One of six leaves the grid to the library."""
    if draw(st.integers(0, 5)) == 5:
        words = [
            draw(st.sampled_from(["block", "cyclic", "cyclic(2)", "whole", "replicated"])) for _ in shape
        ]
        if set(words) == {"whole"}:
            words[0] = "block"
        return {"dist": words}
    grid = a_grid(draw, len(shape), n_pes)
    dist, halo = [], []
    has_halo = draw(st.integers(0, 2)) == 2
    for n, parts in zip(shape, grid, strict=True):
        kind, lengths = an_axis_of(draw, n, parts)
        dist.append(kind)
        width = st.integers(0, min(3, *lengths)) if has_halo else st.just(0)
        halo.append((draw(width), draw(width)))
    return {"grid": grid, "dist": dist, **({"halo": halo} if has_halo else {})}


Members = tuple[atoll.Team | None, int]


def teams() -> list[Members]:
    """Return teams with their sizes: all PEs twice, all but the first one, every second one backwards. Collective."""
    n, me = atoll.n_pes(), atoll.my_pe()
    if n == 1:
        return [(atoll.WORLD, 1)]
    most = atoll.WORLD.split_strided(1, 1, n - 1)
    seconds = atoll.WORLD.split(me % 2, -me)
    every_second = seconds if me % 2 == 0 else None
    return [(atoll.WORLD, n), (atoll.WORLD, n), (most, n - 1), (every_second, math.ceil(n / 2))]
