"""Checks of distributed arrays beside NumPy: arrays of random shapes and distributions, the same on every PE."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray

CHECKS: list[Callable[[random.Random], None]] = []


def check(function: Callable[[random.Random], None]) -> Callable[[random.Random], None]:
    """Register a check. It gets random numbers that are the same on every PE."""
    CHECKS.append(function)
    return function


def some_array(
    rng: random.Random, dtype: Any = None, kinds: str = "block cyclic whole bounds"
) -> tuple[DistArray, Any]:
    """Return an array of a random shape and distribution, and its elements in NumPy."""
    axes = rng.randint(1, 3)
    shape = tuple(rng.randint(1, 9) for _ in range(axes))
    dtype = np.dtype(dtype or rng.choice(["i8", "f8", "f4", "i4", "c16"]))
    whole = (np.arange(np.prod(shape)) * 7 % 23).reshape(shape).astype(dtype)
    dist: list[Any] = []
    for n in shape:
        kind = rng.choice(kinds.split())
        if kind == "cyclic" and rng.random() < 0.5:
            kind = f"cyclic({rng.randint(2, 3)})"
        dist.append("block" if kind == "bounds" else kind)
        if kind == "bounds" and axes == 1:
            cuts = sorted(rng.randint(0, n) for _ in range(atoll.n_pes() - 1))
            dist[-1] = [0, *cuts, n]
    if all(kind == "whole" for kind in dist) and atoll.n_pes() > 1:
        dist[0] = "block"
    return arrays.from_array(whole, dist=dist), whole


def equal(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found, wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (found, wanted)


def plain(found: Any) -> Any:
    """Return an array of NumPy's with the elements."""
    return found.to_numpy() if isinstance(found, DistArray) else np.asarray(found)


def close(found: Any, wanted: Any, **allowed: float) -> None:
    """Check an array's shape and dtype, and its elements within tolerances of numpy.testing.assert_allclose."""
    found, wanted = plain(found), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, **allowed)


def refused(cases: list[tuple[Callable[[], Any], str]]) -> None:
    """Check that every function raises an error with a text."""
    for function, expected in cases:
        try:
            function()
        except (
            TypeError,
            ValueError,
            IndexError,
            AttributeError,
            UserWarning,
            atoll.Error,
            OverflowError,
        ) as error:
            if expected not in str(error):
                raise AssertionError(f"{error!r} does not have {expected!r}") from error
        else:
            raise AssertionError(f"nothing was raised; expected {expected!r}")


def main(rounds: int) -> None:
    """Run every check several times. PE 0 prints a line for each that passed."""
    atoll.init()
    for function in CHECKS:
        for seed in range(rounds):
            try:
                function(random.Random(f"{function.__name__} {seed}"))
            except BaseException:
                print(f"{function.__name__} failed", file=sys.stderr)
                raise
            atoll.barrier_all()
        if atoll.my_pe() == 0:
            print(f"passed: {function.__name__}", flush=True)
