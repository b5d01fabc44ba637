"""Sets of values, convolution, cross products and other functions of NumPy beside NumPy."""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, main, refused, some_array


def plain(found: Any) -> Any:
    return found.to_numpy() if isinstance(found, DistArray) else found


def same(found: Any, wanted: Any) -> None:
    found = plain(found)
    np.testing.assert_array_equal(found, wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (found, wanted)


def close(found: Any, wanted: Any) -> None:
    found = plain(found)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (found, wanted)


def some_line(rng: random.Random, n: int, dtype: str = "i8") -> tuple[DistArray, Any]:
    whole = np.array([rng.randint(-9, 9) for _ in range(n)]).astype(dtype)
    return arrays.from_array(whole, dist=rng.choice(["block", "cyclic", "replicated"])), whole


@check
def sets_of_values(rng: random.Random) -> None:
    a, one = some_line(rng, rng.choice([0, 3, 40]), rng.choice(["i8", "f8"]))
    b, two = some_line(rng, rng.choice([0, 3, 20]))
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        function = getattr(np, name)
        np.testing.assert_array_equal(plain(function(a, b)), function(one, two))
        np.testing.assert_array_equal(plain(function(a, two)), function(one, two))


@check
def convolutions(rng: random.Random) -> None:
    a, one = some_line(rng, rng.choice([1, 5, 60]), rng.choice(["i8", "f8"]))
    b, two = some_line(rng, rng.choice([1, 4, 7]))
    for mode in ("full", "same", "valid"):
        same(np.convolve(a, two, mode), np.convolve(one, two, mode))
        same(np.convolve(two, a, mode), np.convolve(two, one, mode))
        same(np.convolve(a, b, mode), np.convolve(one, two, mode))


@check
def cross_products(rng: random.Random) -> None:
    whole = np.array([[rng.randint(-9, 9) for _ in range(3)] for _ in range(10)])
    other = whole[::-1] * 2.0
    dist: Any = rng.choice(["block", ("whole", "block"), "cyclic"])
    a = arrays.from_array(whole, dist=dist)
    same(np.cross(a, other), np.cross(whole, other))
    same(np.cross(a, arrays.from_array(other)), np.cross(whole, other))
    same(np.linalg.cross(a, a[:]), np.cross(whole, whole))
    same(np.cross(a.T, other.T, axis=0), np.cross(whole.T, other.T, axis=0))


@check
def parts_and_turns(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["i8", "f8"]))
    for number in range(a.ndim):
        mask = np.array([rng.random() < 0.5 for _ in range(a.shape[number])])
        same(np.compress(mask, a, number), np.compress(mask, whole, number))
        kth = rng.randrange(a.shape[number]) if a.shape[number] else None
        if kth is not None:
            same(np.partition(a, kth, number), np.sort(whole, number))
            order = np.argpartition(a, kth, number)
            same(np.take_along_axis(a, order, number), np.sort(whole, number))
    same(np.ediff1d(a), np.ediff1d(whole))
    same(np.ediff1d(a, to_end=[7], to_begin=5), np.ediff1d(whole, to_end=[7], to_begin=5))
    if a.ndim >= 2:
        for k in range(-2, 4):
            same(np.rot90(a, k), np.rot90(whole, k))
        cut = rng.randrange(a.shape[0] + 1)
        for found, wanted in zip(np.vsplit(a, [cut]), np.vsplit(whole, [cut]), strict=True):
            same(found, wanted)
        for found, wanted in zip(np.hsplit(a, [1]), np.hsplit(whole, [1]), strict=True):
            same(found, wanted)
    close(np.polyval([2, 0, -1], a), np.polyval([2, 0, -1], whole))


@check
def histograms_of_points(rng: random.Random) -> None:
    x, one = some_line(rng, 50, "f8")
    y, two = some_line(rng, 50, "f8")
    y = y.redistribute(like=x)
    cases: list[dict[str, Any]] = [
        {},
        {"bins": 4},
        {"bins": [3, 5], "density": True},
        {"range": [(-5, 5), (0, 9)]},
    ]
    for given in cases:
        for found, wanted in zip(
            np.histogram2d(x, y, **given), np.histogram2d(one, two, **given), strict=True
        ):
            close(found, wanted)
    points = np.stack([one, two, one * two], 1)
    counts, edges = np.histogramdd(arrays.from_array(points, dist=rng.choice(["block", "cyclic"])), 3)
    wanted_counts, wanted_edges = np.histogramdd(points, 3)
    same(counts, wanted_counts)
    for found, each in zip(edges, wanted_edges, strict=True):
        close(found, each)


@check
def bad_calls(rng: random.Random) -> None:
    a = arrays.arange(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(
            [
                (lambda: np.convolve(a, []), "a vector is empty"),
                (lambda: np.convolve(a, a, "some"), "expected 'full', 'same' or 'valid'"),  # type: ignore[call-overload]
                (lambda: np.convolve(a.reshape(2, 3), a), "expected two vectors"),
                (lambda: np.cross(a, a), "expected equal ones with 3"),
                (lambda: np.partition(a, 6), "kth=6 for 6 elements"),
                (lambda: np.rot90(a.reshape(2, 3), axes=(0, 0)), "expected two different ones"),
                (lambda: np.polyval(a, 2.0), "pass p.to_numpy()"),
                (lambda: np.histogramdd([a, a], weights=a), "takes no weights"),
            ]
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
