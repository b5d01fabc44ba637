"""Linear equations, inverses, determinants, Cholesky factors and eigenvalues of distributed matrices beside NumPy."""

from __future__ import annotations

import random
import sys
import unittest.mock
import warnings
from collections.abc import Callable
from typing import Any

import atoll
import distributed
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from atoll.arrays._functions import _solving
from distributed import check, main, plain, refused


def close(found: Any, wanted: Any) -> None:
    bound = 1e-2 if np.asarray(wanted).dtype.char in "fF" else 1e-8
    distributed.close(found, wanted, rtol=bound, atol=bound)


def some_matrix(rng: random.Random) -> tuple[DistArray, Any]:
    """Return a square matrix, and NumPy's. Panels are narrow, so that small matrices have several."""
    _solving.WIDTH, _solving.NARROW = rng.choice([1, 2, 3, 64]), rng.choice([1, 8])
    n = rng.choice([0, 1, 2, 5, 9, 20])
    numbers = np.random.default_rng(rng.randrange(1000)).normal(size=(2, n, n)) * 10
    dtype = rng.choice(["f4", "f8", "c8", "c16", "i8"])
    whole = (numbers[0] + 1j * numbers[1] if dtype[0] == "c" else numbers[0]).astype(dtype)
    whole = (whole + rng.choice([0, 1, -1]) * (30 * np.eye(n)).astype(dtype)).astype(dtype)
    if n and np.linalg.cond(whole.astype("c16")) > 1e3:
        whole = (np.eye(n)[::-1] * 7).astype(dtype)  # rows must be exchanged
    dist: Any = rng.choice(["block", "cyclic", ("whole", "block"), ("block", "block"), "replicated"])
    return arrays.from_array(whole, dist=dist), whole


@check
def equations_are_solved(rng: random.Random) -> None:
    for _ in range(4):
        a, whole = some_matrix(rng)
        n = len(whole)
        for shape in ((n,), (n, 3)):
            right = np.random.default_rng(1).normal(size=shape).astype(rng.choice([whole.dtype, "f8"]))
            wanted = np.linalg.solve(whole, right)
            close(np.linalg.solve(a, right), wanted)
            b = arrays.from_array(right, dist=rng.choice(["block", "cyclic"]))
            found = np.linalg.solve(a, b)
            close(found, wanted)
            assert found._layout.same_distribution(b._layout)
            close(np.linalg.solve(whole, b), wanted)
        close(a, whole)


@check
def inverses_and_determinants(rng: random.Random) -> None:
    for _ in range(4):
        a, whole = some_matrix(rng)
        found = np.linalg.inv(a)
        close(found, np.linalg.inv(whole))
        assert a._layout.has_copies or found._layout.same_distribution(a._layout)
        sign, logarithm = np.linalg.slogdet(a)
        close(sign, np.linalg.slogdet(whole).sign)
        close(logarithm, np.linalg.slogdet(whole).logabsdet)
        wanted = np.linalg.det(whole)
        np.testing.assert_allclose(np.linalg.det(a), wanted, rtol=1e-2 if wanted.dtype.char in "fF" else 1e-8)
        assert np.linalg.det(a).dtype == wanted.dtype
        close(np.linalg.matrix_power(a, 2), np.linalg.matrix_power(whole, 2))
        if whole.dtype.char in "dD":
            close(np.linalg.pinv(a), np.linalg.pinv(whole) if len(whole) else whole)
            close(np.linalg.matrix_power(a, -3), np.linalg.matrix_power(whole, -3))
        close(np.linalg.matrix_power(a, 0), np.linalg.matrix_power(whole, 0))


@check
def symmetric_matrices(rng: random.Random) -> None:
    for _ in range(4):
        a, whole = some_matrix(rng)
        n = len(whole)
        symmetric = whole @ whole.conj().T + np.eye(n, dtype=whole.dtype)
        its = arrays.from_array(symmetric).redistribute(like=a)
        for upper in (False, True):
            given = np.triu(symmetric) if upper else np.tril(symmetric)  # the other triangle is not read
            factor = np.linalg.cholesky(arrays.from_array(given).redistribute(like=a), upper=upper)
            lower = np.linalg.cholesky(symmetric)
            wanted = lower.conj().T if upper else lower  # NumPy before 2.0 has no upper=
            # The condition of these matrices is at most 1e6, and float32 has 7 digits.
            bound = (1e-2 if wanted.dtype.char in "fF" else 1e-9) * abs(wanted).max(initial=1)
            assert factor.dtype == wanted.dtype
            np.testing.assert_allclose(plain(factor), wanted, rtol=0, atol=bound)
            assert not np.any(np.tril(plain(factor), -1) if upper else np.triu(plain(factor), 1))
        values, vectors = np.linalg.eigh(its, rng.choice("lL"))
        largest = abs(values).max(initial=1)
        np.testing.assert_allclose(values / largest, np.linalg.eigvalsh(symmetric) / largest, atol=1e-5)
        np.testing.assert_allclose(np.linalg.eigvalsh(its) / largest, values / largest, atol=1e-5)
        np.testing.assert_allclose(
            plain(vectors * values) / largest, plain(its @ vectors) / largest, atol=1e-4
        )
        assert values.dtype == np.linalg.eigvalsh(symmetric).dtype


@check
def products_of_several(rng: random.Random) -> None:
    numbers = np.random.default_rng(rng.randrange(99))
    shapes = [(3,), (3, 8), (8, 2), (2, 9), (9,)]
    whole = [numbers.normal(size=shape) for shape in shapes]
    for first, last in ((1, 4), (0, 4), (1, 5), (0, 5), (1, 3)):
        given = [arrays.from_array(x, dist="cyclic") if rng.random() < 0.5 else x for x in whole]
        given[2] = arrays.from_array(whole[2])
        close(np.linalg.multi_dot(given[first:last]), np.linalg.multi_dot(whole[first:last]))
    refused([(lambda: np.linalg.multi_dot([given[2]]), "expected two arrays or more")])
    raises([lambda: np.linalg.multi_dot([whole[1], whole[3][0], given[2]])], "array 1 has shape")
    stack = arrays.ones((2, 3, 3))
    raises([lambda: np.linalg.multi_dot([stack, np.eye(3), np.eye(3)])], "array 0 has shape (2, 3, 3)")
    close(np.linalg.multi_dot([stack, np.eye(3)]), np.ones((2, 3, 3)))


def raises(functions: list[Callable[[], Any]], expected: str) -> None:
    for function in functions:
        try:
            function()
        except np.linalg.LinAlgError as error:
            assert expected in str(error), error
        else:
            raise AssertionError(f"nothing was raised; expected {expected!r}")


@check
def bad_matrices(rng: random.Random) -> None:
    for n, bad in ((4, np.zeros((4, 4))), (5, np.ones((5, 5)))):
        _solving.WIDTH = rng.choice([1, 2, 64])
        a = arrays.from_array(bad)
        raises(
            [
                lambda a=a, n=n: np.linalg.solve(a, np.ones(n)),
                lambda a=a: np.linalg.inv(a),
                lambda a=a: np.linalg.matrix_power(a, -1),
            ],
            "Singular matrix",
        )
        raises([lambda a=a: np.linalg.cholesky(-a - 1)], "not positive definite")
        assert np.linalg.det(a) == 0 and np.linalg.slogdet(a) == (0, -np.inf)
    wide = arrays.zeros((5, 3))
    square = [np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh]
    raises([lambda f=f: f(wide) for f in square], "shape (5, 3); expected a square one")
    refused(
        [
            (lambda: np.linalg.solve(arrays.ones((3, 3)), np.ones(4)), "as many rows in b"),
            (lambda: np.linalg.inv(arrays.zeros((3, 3), np.float16)), "LAPACK takes float32"),
            (lambda: np.linalg.inv(arrays.zeros((2, 3, 3))), "expected two axes"),
            (
                lambda: np.linalg.matrix_power(arrays.ones((3, 3)), 0.5),
                "'float' object cannot be interpreted",
            ),  # type: ignore[arg-type]
            (lambda: np.linalg.eigh(arrays.ones((3, 3)), "X"), "expected 'L' or 'U'"),
        ]
    )


@check
def bad_elements(rng: random.Random) -> None:
    """No PE raises alone for what its part has, and errors come before any work."""
    n = 9
    _solving.WIDTH = rng.choice([1, 2, 64])
    a = arrays.from_array(np.eye(n), dist="cyclic")
    for right in (np.ones(n, np.longdouble), np.ones(n, np.float16), np.array(["x"] * n)):
        refused([(lambda right=right: np.linalg.solve(a, right), "numpy.linalg.solve: elements of")])
    huge = np.diag(np.full(n, 1e300))
    huge[0] = 1e308
    huge[:, 0] = 1e308
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        b = arrays.from_array(huge, dist="cyclic")
        np.linalg.solve(b, np.full(n, 1e308))
        np.linalg.inv(b * 1e-300)
        np.linalg.inv(b)
        tiny = np.eye(n) * 1e-300 + 1e-310
        np.linalg.cholesky(arrays.from_array(tiny, dist="cyclic"))
    with unittest.mock.patch.object(_solving, "_factored", side_effect=ValueError("no factor")):
        for function in (np.linalg.inv, np.linalg.det):
            refused([(lambda f=function: f(a), f"numpy.linalg.{function.__name__}: PE ")])
    for diagonal in ([np.inf, -2.0, 3.0], [-np.inf, 2.0, 3.0]):
        whole = np.diag(diagonal)
        with np.errstate(all="ignore"):
            wanted, determinant = np.linalg.slogdet(whole), np.linalg.det(whole)
        close(np.linalg.slogdet(arrays.from_array(whole)), wanted)
        close(np.linalg.det(arrays.from_array(whole)), determinant)
    assert np.isnan(np.linalg.det(arrays.from_array(np.diag([np.nan, 1.0]))))


def overflow_of(function: Callable[..., Any], *arguments: Any) -> str:
    """Return the error of a function within `errstate`, the same on every PE, or an empty text."""
    found = ""
    with np.errstate(over="raise"):
        try:
            function(*arguments)
        except FloatingPointError as error:
            found = str(error)
    every = atoll.allgather_object(found)
    assert set(every) == {found}, every
    return found


@check
def sums_that_overflow(rng: random.Random) -> None:
    """Every PE raises, though the part of one alone overflows."""
    whole = np.ones(12)
    whole[rng.choice([0, 5, 10]) :][:2] = 1e308
    for given, axis in ((whole, 0), (np.stack([whole, np.ones(12)], 1), 0), (np.stack([whole] * 3), 1)):
        a = arrays.from_array(given, dist=rng.choice(["block", "cyclic"]))
        assert "overflow" in overflow_of(np.cumsum, a, axis)
        for function in (np.sum, np.prod, np.mean, np.var):
            overflow_of(function, a, axis)
        assert "overflow" in overflow_of(np.outer, a, [10.0, 1.0])
        assert "overflow" in overflow_of(np.astype, a, np.dtype("f4"))
        overflow_of(np.matmul, a, np.full((a.shape[-1], 2), 10.0))


if __name__ == "__main__":
    main(int(sys.argv[1]))
