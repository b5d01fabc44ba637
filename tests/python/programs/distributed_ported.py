"""What programs of NumPy's users call, with little change, on distributed arrays beside NumPy. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
import unittest.mock
import warnings
from typing import Any

import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, main


def same(found: Any, wanted: Any) -> None:
    equal(found.to_numpy() if isinstance(found, DistArray) else found, wanted)


def close(found: Any, wanted: Any) -> None:
    found = found.to_numpy() if isinstance(found, DistArray) else np.asarray(found)
    assert (found.shape, found.dtype) == (np.shape(wanted), np.asarray(wanted).dtype)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def some_matrix(rng: random.Random, dtype: str = "f8", axes: int = 2) -> tuple[DistArray, Any]:
    shape = [rng.choice([1, 2, 5, 11]) for _ in range(axes)]
    whole = (np.random.default_rng(rng.randrange(1000)).normal(size=shape) * 10).astype(dtype)
    dist = [rng.choice(["block", "cyclic", "cyclic(2)"]) for _ in shape]
    return arrays.from_array(whole, dist=dist), whole


@check
def differences_warn_of_nothing(rng: random.Random) -> None:
    """No result depends on what new memory has."""

    def used(shape: Any, dtype: Any = float) -> Any:
        made = np.zeros(shape, dtype)
        if made.dtype.kind == "f":
            made[...] = np.finfo(made.dtype).max
            made.reshape(-1)[::2] *= -1
        return made

    a = arrays.arange(101.0)
    with warnings.catch_warnings(), unittest.mock.patch.object(np, "empty", used):
        warnings.simplefilter("error")
        same(np.diff(a, 2), np.zeros(99))
        same(np.ediff1d(a), np.ones(100))


@check
def norms_of_matrices(rng: random.Random) -> None:
    a, whole = some_matrix(rng)
    orders: list[Any] = [1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"]
    for ord in orders:
        for keepdims in (False, True):
            close(np.linalg.norm(a, ord, keepdims=keepdims), np.linalg.norm(whole, ord, keepdims=keepdims))
    close(np.linalg.norm(arrays.zeros((0, 3)), np.inf, 0), np.zeros(3))


@check
def results_at_the_edges(rng: random.Random) -> None:
    empty = arrays.zeros((0, 3))
    same(np.cumulative_sum(empty, axis=0, include_initial=True), np.zeros((1, 3)))
    same(np.cumulative_prod(empty, axis=1, include_initial=True), np.ones((0, 4)))
    ints, floats = np.array([3, 1, 2]), np.array([1.0, 3.0, 5.5])
    same(np.intersect1d(arrays.from_array(ints), floats), np.intersect1d(ints, floats))
    same(np.intersect1d(arrays.from_array(ints), [7.5]), np.intersect1d(ints, [7.5]))
    x, y = arrays.from_array(floats), arrays.from_array(floats * 2)
    for bins in ([[0, 1, 5.0], 3], [2, 4], 3):
        found = np.histogram2d(x, y, bins)
        for one, other in zip(found, np.histogram2d(floats, floats * 2, bins), strict=True):
            close(one, other)
    row = arrays.from_array(np.array([[7.0, 3.0]]))
    assert np.cov(row, rowvar=False).shape == (2, 2)  # NumPy before 2.2 has another shape
    same(np.convolve(arrays.from_array([7, 3]), [np.nan, 3]), np.array([np.nan, np.nan, 9]))
    a, whole = some_matrix(rng, axes=3)
    axis = rng.randrange(-3, 3)
    at = np.array([[0, -1, 0], [0, 0, 0]])
    same(np.take(a, at, axis), np.take(whole, at, axis))


if __name__ == "__main__":
    main(int(sys.argv[1]))
