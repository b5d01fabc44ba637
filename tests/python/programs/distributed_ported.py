"""Calls of programs of NumPy's users on distributed arrays beside NumPy. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
import unittest.mock
import warnings
from typing import Any

import distributed
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, main, refused


def same(found: Any, wanted: Any) -> None:
    equal(found.to_numpy() if isinstance(found, DistArray) else found, wanted)


def close(found: Any, wanted: Any) -> None:
    distributed.close(found, wanted, rtol=1e-11, atol=1e-12)


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
    same(np.trapezoid(arrays.from_array([np.nan])), np.float64(0))
    same(np.bincount(arrays.zeros(0, int), arrays.zeros(0), 3), np.zeros(3, int))
    a, whole = some_matrix(rng, axes=3)
    axis = rng.randrange(-3, 3)
    at = np.array([[0, -1, 0], [0, 0, 0]])
    same(np.take(a, at, axis), np.take(whole, at, axis))


@check
def running_extremes(rng: random.Random) -> None:
    a, whole = some_matrix(rng, rng.choice(["f8", "i8", "f4"]), axes=rng.randint(1, 3))
    axis = rng.randrange(-a.ndim, a.ndim)
    for ufunc in (np.maximum, np.minimum, np.fmax, np.logical_and, np.logical_or, np.logical_xor):
        same(ufunc.accumulate(a, axis), ufunc.accumulate(whole, axis))
    holed = whole.astype("f8")
    holed[(0,) * a.ndim] = np.nan
    for ufunc in (np.maximum, np.fmin):
        same(ufunc.accumulate(arrays.from_array(holed), axis), ufunc.accumulate(holed, axis))
    small = abs(whole).astype(int) % 7
    same(np.bitwise_or.accumulate(arrays.from_array(small), axis), np.bitwise_or.accumulate(small, axis))
    same(np.maximum.accumulate(arrays.zeros((0, 2))), np.zeros((0, 2)))
    refused([(lambda: np.subtract.accumulate(a), "numpy.subtract.accumulate does not work")])


@check
def all_pairs(rng: random.Random) -> None:
    a, whole = some_matrix(rng, axes=rng.randint(1, 2))
    b, other = some_matrix(rng, rng.choice(["f8", "i8"]), axes=rng.randint(1, 2))
    same(np.subtract.outer(a, b), np.subtract.outer(whole, other))
    same(np.less.outer(whole, b), np.less.outer(whole, other))
    same(np.maximum.outer(a, [1.0, -1.0]), np.maximum.outer(whole, [1.0, -1.0]))
    same(np.add.outer(a, 3), np.add.outer(whole, 3))
    same(np.kron(a, b), np.kron(whole, other))
    same(np.kron(a, other), np.kron(whole, other))
    same(np.kron(whole, b), np.kron(whole, other))
    x, y, z = a.ravel(), other.ravel(), np.arange(2)
    for options in ({}, {"indexing": "ij"}, {"sparse": True}):
        for given in ((x,), (x, y), (x, y, z)):
            wanted = np.meshgrid(
                *(getattr(each, "to_numpy", lambda each=each: each)() for each in given), **options
            )  # type: ignore[call-overload]
            found = np.meshgrid(*given, **options)  # type: ignore[call-overload]
            for one, two in zip(found, wanted, strict=True):
                same(one, two)
    for one, two in zip(
        np.broadcast_arrays(a, 5, whole[:1]), np.broadcast_arrays(whole, 5, whole[:1]), strict=True
    ):
        same(one, two)
    refused([(lambda: np.meshgrid(x, indexing="yx"), "expected 'xy' or 'ij'")])  # type: ignore[call-overload]


@check
def orders_by_several_keys(rng: random.Random) -> None:
    n = rng.choice([0, 1, 6, 50])
    keys = [np.array([rng.randrange(4) for _ in range(n)], dtype) for dtype in ("i8", "f8", "u1")]
    given = [arrays.from_array(each, dist=rng.choice(["block", "cyclic"])) for each in keys]
    order = np.lexsort(tuple(given))
    same(order, np.lexsort(tuple(keys)))
    assert order._layout.same_distribution(given[0]._layout)
    same(np.lexsort((keys[0], given[1])), np.lexsort(keys[:2]))
    same(np.lexsort(arrays.from_array(np.array(keys))), np.lexsort(np.array(keys)))
    refused([(lambda: np.lexsort((given[0], np.arange(n + 1))), "expected vectors of one length")])


@check
def rows_by_a_mask(rng: random.Random) -> None:
    a, whole = some_matrix(rng, axes=rng.randint(2, 3))
    for axes in range(1, a.ndim):
        for threshold in (0, -100, 100):
            chosen = whole[(..., *[0] * (a.ndim - axes))] > threshold
            mask = arrays.from_array(chosen, dist=rng.choice(["block", "cyclic"]))
            same(a[mask], whole[chosen])
            b, other = a.copy(), whole.copy()
            b[mask] = 7
            other[chosen] = 7
            same(b, other)
    b, other = a.copy(), whole.copy()
    with arrays.mixed_operands("redistribute"):
        b[arrays.from_array(whole > 0, dist="cyclic")] = 7
    other[whole > 0] = 7
    same(b, other)
    wrong = arrays.zeros(a.shape[0] + 1, bool)
    refused(
        [
            (lambda: a[wrong], "or the shape of the first axes"),
            (lambda: a.__setitem__(mask, np.ones(3)), "takes a number, or distributed rows"),
            (lambda: a.__setitem__(wrong, 1), "expected elements of bool"),
        ]
    )


@check
def every_index_is_added_once(rng: random.Random) -> None:
    """All PEs make the call of NumPy, and each adds a share."""
    a, whole = some_matrix(rng)
    n = rng.choice([0, 1, 40])
    rows, columns = (np.array([rng.randrange(-m, m) for _ in range(n)], int) for m in whole.shape)
    values = np.array([rng.randint(-9, 9) for _ in range(n)], "f8")
    for key, given in (
        ((rows, columns), values),
        (rows, 1),
        ((rows[:, None], columns), 2),
        ((slice(None), columns), values),
        (whole > 0, 5),
        ((0, 0), 1),
    ):
        np.add.at(a, key, given)
        np.add.at(whole, key, given)
        close(a, whole)
    np.subtract.at(a, (rows, columns), values)
    np.subtract.at(whole, (rows, columns), values)
    close(a, whole)
    line = arrays.zeros(5, int)
    np.add.at(line, arrays.from_array([1, 1, 4], dist="cyclic"), 2)
    same(line, np.array([0, 4, 0, 0, 2]))
    refused(
        [
            (lambda: np.multiply.at(a, rows, 2), "numpy.multiply.at does not work"),
            (lambda: np.add.at(a, (rows, columns), np.ones(n + 2)), "values of shape"),
            (lambda: np.add.at(a, 99, 1), "out of bounds"),
            (lambda: np.add.at(a.T, 0, 1), "view"),
            (lambda: np.add.at(line, [0], line[:1] + arrays.zeros(1, int)), "the indices are not"),
        ]
    )


@check
def additions_in_the_dtype_of_the_array(rng: random.Random) -> None:
    """Values are converted before they are negated, and all indices are checked before any PE adds."""
    given: list[tuple[str, Any]] = [
        ("u4", 3),
        ("i8", np.array([200, 7], "u1")),
        ("f8", np.array([True, False])),
        ("f4", 2),
    ]
    for dtype, values in given:
        whole = np.arange(9).astype(dtype)
        a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
        np.subtract.at(a, [5, 3], values)
        expected = whole - np.zeros_like(whole)
        np.add.at(expected, [5, 3], 0 - np.asarray(values).astype(dtype))
        same(a, expected)
    small = arrays.from_array(np.array([200, 7], "u1"))
    np.subtract.at(b := arrays.zeros(9, int), arrays.from_array([1, 2]), small)
    same(b, np.array([0, -200, -7, 0, 0, 0, 0, 0, 0]))
    refused(
        [
            (lambda: np.add.at(b, [0, 1, 2, 3, 99], 1), "index 99 is out of bounds"),
            (lambda: np.add.at(b, arrays.from_array([0, 1, 2, 3, 99]), 1), "index 99 is out of bounds"),
            (lambda: np.subtract.at(b, [0], 1.5), "without loss"),
            (lambda: np.subtract.at(b, arrays.from_array([0, 1]), small * 0.5), "convert them first"),
        ]
    )
    same(b, np.array([0, -200, -7, 0, 0, 0, 0, 0, 0]))


@check
def rows_by_a_mask_are_updated(rng: random.Random) -> None:
    a, whole = some_matrix(rng, rng.choice(["f8", "i8"]), axes=rng.randint(2, 3))
    for axes in range(1, a.ndim):
        for threshold in (0, -100, 100):
            chosen = whole[(..., *[0] * (a.ndim - axes))] > threshold
            mask = arrays.from_array(chosen, dist=rng.choice(["block", "cyclic"]))
            a[mask] += 1
            whole[chosen] += 1
            same(a, whole)
            a[mask] = a[mask] * 2
            whole[chosen] *= 2
            same(a, whole)
    wrong = arrays.zeros((whole.shape[0] + 1, *whole.shape[1:]))
    every = arrays.ones(len(whole), bool)
    refused([(lambda: a.__setitem__(every, wrong), "the mask chooses")])


@check
def diagonals_in_einsum(rng: random.Random) -> None:
    n = rng.choice([1, 4, 9])
    whole = np.random.default_rng(n).normal(size=(n, n, n))
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    for subscripts in ("iij", "iij->ij", "iji->j", "iii", "iii->i", "ijj->i"):
        close(np.einsum(subscripts, a), np.einsum(subscripts, whole))
    close(np.einsum("iij,j->i", a, whole[0, 0]), np.einsum("iij,j->i", whole, whole[0, 0]))
    close(np.einsum("ijk,kk->ij", a, whole[0]), np.einsum("ijk,kk->ij", whole, whole[0]))
    refused([(lambda: np.einsum("ii", arrays.zeros((2, 3))), "axis 'i' has lengths 2 and 3")])


@check
def names_of_bins(rng: random.Random) -> None:
    whole = np.random.default_rng(rng.randrange(99)).normal(size=rng.choice([(400,), (20, 30)]))
    for given in (whole, (whole * 3).astype(int), np.ones(4), np.arange(2.0)):
        a = arrays.from_array(given, dist="cyclic")
        for name in ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"):
            for options in ({}, {"range": (-1, 2)}, {"density": True}):
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    pairs = zip(
                        np.histogram(a, name, **options), np.histogram(given, name, **options), strict=True
                    )  # type: ignore[call-overload]
                    for one, other in pairs:
                        close(one, other)
    same(np.histogram_bin_edges(a, 5, (0, 2)), np.histogram_bin_edges(given, 5, (0, 2)))
    same(np.histogram(arrays.zeros(0), "auto")[0], np.zeros(1, int))
    refused(
        [
            (lambda: np.histogram(a, "many"), "or one of auto, doane"),
            (lambda: np.histogram(a, "auto", weights=np.ones(2)), "no number of bins is estimated"),
        ]
    )


@check
def polynomials_are_fitted(rng: random.Random) -> None:
    x = np.linspace(-1, 2, rng.choice([7, 20]))
    y = np.sin(3 * x)
    a, b = arrays.from_array(x, dist=rng.choice(["block", "cyclic"])), arrays.from_array(y)
    for one, other in ((a, b), (a, y), (x, b)):
        np.testing.assert_allclose(np.polyfit(one, other, 3), np.polyfit(x, y, 3), rtol=1e-8, atol=1e-8)
    pair = np.stack([y, y**2], 1)
    np.testing.assert_allclose(np.polyfit(a, pair, 2), np.polyfit(x, pair, 2), rtol=1e-8, atol=1e-8)
    close(np.vander(a, 4), np.vander(x, 4))
    same(np.vander(arrays.arange(5), increasing=True), np.vander(np.arange(5), increasing=True))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.polyfit(arrays.ones(6), np.ones(6), 2)
    assert "poorly conditioned" in str(seen[-1].message)
    refused(
        [(lambda: np.polyfit(a, b, -1), "deg is -1"), (lambda: np.vander(arrays.ones((2, 2))), "a vector")]
    )


@check
def everyday_calls(rng: random.Random) -> None:
    a, whole = some_matrix(rng)
    x, y = np.arange(9.0) * (1 - 2j), np.array([1.0, 2.0, 3j])
    for mode in ("valid", "same", "full"):
        for one, other in ((x, y), (y, x), (x, x[:4])):
            for given in (
                (arrays.from_array(one), other),
                (arrays.from_array(one), arrays.from_array(other)),
            ):
                close(np.correlate(*given, mode), np.correlate(one, other, mode))
    axis = rng.choice([None, 0, 1, -1])
    n = whole.size if axis is None else whole.shape[axis]
    for obj in (0, -1, [0], slice(None, None, 2), np.arange(n) % 3 == 0):
        same(np.delete(a, obj, axis), np.delete(whole, obj, axis))
    assert np.array_equiv(a, whole) and np.array_equiv(a[:1], arrays.from_array(whole[:1]))
    assert not np.array_equiv(a, whole + 1) and not np.array_equiv(a, np.ones(99))
    assert np.iscomplexobj(arrays.from_array(x)) and not np.iscomplexobj(a) and np.isrealobj(a)
    same(a.diagonal(), whole.diagonal())
    close(a.trace(), whole.trace())
    line = np.sort(whole.ravel())
    same(arrays.from_array(line).searchsorted([0.0, 1.0], "right"), line.searchsorted([0.0, 1.0], "right"))
    np.fill_diagonal(a, 7)
    np.fill_diagonal(whole[: min(whole.shape), : min(whole.shape)], 7)
    same(a, whole)
    for source in (3, whole[:1] + 1, 2.5):
        np.copyto(a, source)
        np.copyto(whole, source)
        same(a, whole)
    b = a * 2
    np.copyto(a, b)
    same(a, whole * 2)
    refused(
        [
            (lambda: np.copyto(arrays.zeros(3, int), 2.5), "by the rule 'same_kind'"),
            (lambda: np.copyto(whole, a), "only the source is distributed"),
            (lambda: np.delete(a, arrays.arange(1), 0), "the indices are distributed"),
            (lambda: np.delete(a, 99, 0), "out of bounds"),
            (lambda: np.fill_diagonal(a.T, 1), "view"),
            (lambda: np.fill_diagonal(a, np.ones(3)), "expected a matrix and a number"),
        ]
    )


@check
def functions_of_vectors(rng: random.Random) -> None:
    a, whole = some_matrix(rng, axes=rng.randint(2, 3))
    axis = rng.randrange(-a.ndim, a.ndim)
    same(np.apply_along_axis(np.sort, axis, a), np.apply_along_axis(np.sort, axis, whole))
    close(np.apply_along_axis(np.sum, axis, a), np.apply_along_axis(np.sum, axis, whole))
    same(np.apply_along_axis(np.outer, axis, a, [1, 2]), np.apply_along_axis(np.outer, axis, whole, [1, 2]))
    line = arrays.from_array([3.0, 1.0, 2.0], dist="cyclic")
    assert np.apply_along_axis(np.sum, 0, line) == 6
    same(np.apply_along_axis(np.sort, 0, line), np.array([1.0, 2.0, 3.0]))
    refused(
        [
            (lambda: np.apply_along_axis(np.sum, 0, arrays.zeros((3, 0))), "expected one shape"),
            (lambda: np.apply_along_axis(lambda v: v / "x", 0, a), "numpy.apply_along_axis"),
        ]
    )


@check
def pieces_and_insertions(rng: random.Random) -> None:
    a, whole = some_matrix(rng, rng.choice(["f8", "i8"]))
    functions: list[Any] = [lambda x: -x, 5]
    for more in ([], [lambda x: x * 2]):
        found = np.piecewise(a, [a < -2, a > 3], functions + more)
        same(found, np.piecewise(whole, [whole < -2, whole > 3], functions + more))
    for axis in (None, 0, 1):
        n = whole.size if axis is None else whole.shape[axis]
        for at in (0, n, -1):
            same(np.insert(a, at, 7, axis), np.insert(whole, at, 7, axis))
    same(np.insert(a, 0, whole[0], 0), np.insert(whole, 0, whole[0], 0))
    line = whole.ravel()
    same(np.atleast_2d(arrays.from_array(line)), np.atleast_2d(line))
    for one, other in zip(np.atleast_2d(a, arrays.from_array(line)), np.atleast_2d(whole, line), strict=True):
        same(one, other)
    same(np.atleast_1d(a), whole)
    refused(
        [
            (lambda: np.insert(a, [0, 1], 7), "expected one integer"),
            (lambda: np.insert(a, 99, 7, 0), "out of bounds"),
            (lambda: np.piecewise(a, [a < 0], [1, 2, 3]), "3 functions for 1 conditions"),
        ]
    )


@check
def insertions_in_the_dtype_of_the_array(rng: random.Random) -> None:
    whole = np.arange(24).reshape(2, 3, 4).astype(rng.choice(["i8", "f4"]))
    a = arrays.from_array(whole, dist=["block", "cyclic", "whole"])
    for axis in (0, 1, 2):
        shapes: list[tuple[int, ...]] = [
            (),
            (1,),
            whole.shape[2:],
            (2, *np.delete(whole.shape, axis)),
            (5, 1, 1),
        ]
        for shape in shapes:
            values = np.arange(np.prod(shape)).reshape(shape) * 1.5
            try:
                wanted = np.insert(whole, 1, values, axis)
            except ValueError:
                continue
            same(np.insert(a, 1, values, axis), wanted)
            if shape:
                same(np.insert(a, 1, arrays.from_array(values), axis), wanted)
    pair, ten = np.arange(4).reshape(2, 2), np.array([10, 20])
    same(np.insert(arrays.from_array(pair), 1, ten, 1), np.insert(pair, 1, ten, 1))
    bytes_ = arrays.from_array(np.arange(3, dtype="u1"))
    integers = [(np.insert, bytes_, 0, 300), (np.insert, arrays.arange(3), 0, float("nan"))]
    for function, given, at, value in integers:
        try:
            function(given, at, value)
        except (OverflowError, ValueError) as error:
            assert "300" in str(error) or "NaN" in str(error), error
        else:
            raise AssertionError("nothing was raised")
    refused(
        [
            (lambda: np.insert(a, 1.5, 7), "'float' object cannot be interpreted"),  # type: ignore[call-overload]
            (lambda: np.insert(a, 0, np.ones((1, 1, 1, 2)), 0), "expected at most as many axes"),
        ]
    )


@check
def pieces_in_the_dtype_of_the_array(rng: random.Random) -> None:
    whole = np.array([2**60 + 1, 3, -4])
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    for condlist, funclist in (
        ([whole > 5], [lambda x: x, 0.5]),
        (np.array([whole > 5, whole < 0]), [1.5, lambda x: x / 2, lambda x: x]),
        ([True, False, True], [7, 1.5]),
        (whole > 5, [lambda x: -x]),
    ):
        same(np.piecewise(a, condlist, funclist), np.piecewise(whole, condlist, funclist))  # type: ignore[arg-type]
    rows = np.array([whole > 5, whole < 0])
    same(np.piecewise(a, arrays.from_array(rows), [1, 2, 3]), np.piecewise(whole, rows, [1, 2, 3]))
    same(np.piecewise(a, [a > 3], [lambda x, more=0: x + more], more=2), np.where(whole > 3, whole + 2, 0))
    same(
        np.apply_along_axis(lambda v, by=1: v * by, 0, arrays.from_array(np.eye(3)), by=3),
        np.eye(3) * 3,
    )


@check
def arguments_as_numpys(rng: random.Random) -> None:
    same(np.apply_along_axis(np.sum, 1, arrays.zeros((3, 0))), np.zeros(3))
    same(np.apply_along_axis(np.sum, 0, arrays.zeros((0, 3))), np.zeros(3))
    a = arrays.zeros(3, int)
    np.copyto(a, [1, 2, 3])
    same(a, np.array([1, 2, 3]))
    line = arrays.from_array(np.ones(3, "f4"))
    same(np.add.outer(line, 2.0), np.add.outer(np.ones(3, "f4"), 2.0))
    same(np.add.outer(2.0, line), np.add.outer(2.0, np.ones(3, "f4")))
    wide = np.atleast_2d(line)
    several = np.atleast_2d(line, arrays.ones((2, 2)))
    stack = arrays.ones((2, 3, 4))
    close(np.einsum("...j->j", line), np.ones(3, "f4"))
    refused(
        [
            (lambda: wide.__setitem__((0, 0), 3), "a view"),
            (lambda: several[0].__setitem__((0, 0), 3), "made by np.atleast_2d(a)"),
            (lambda: np.vander(line, -1), "expected 0 columns or more"),
            (lambda: np.einsum("...j->j", stack), "'...' are 2 axes of an operand"),
            (lambda: np.linalg.solve(np.eye(2), arrays.ones(3)), "numpy.linalg.solve: "),
        ]
    )


@check
def warnings_of_numpy(rng: random.Random) -> None:
    """Bins and fits warn as NumPy does, with the line of the program."""
    small = np.array([-128, 127] * 9, "i1")
    ones = np.ones(10, int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(np.histogram(arrays.from_array(small), "sturges")[0], np.histogram(small, "sturges")[0])
    for ends in ((1, 1), (1, 2), (0, 0)):
        same(
            np.histogram(arrays.from_array(ones), "sturges", ends)[0], np.histogram(ones, "sturges", ends)[0]
        )
    same(
        np.histogram(arrays.from_array(ones * 1.2), "sturges", (1, 1))[1],
        np.histogram(ones * 1.2, "sturges", (1, 1))[1],
    )
    x = np.linspace(1000, 1001, 9, dtype="f4")
    peaks = np.random.default_rng(1).permutation(np.repeat([0.0, 1e6], 50)) + np.linspace(0, 1e-3, 100)
    given = arrays.from_array(x), arrays.from_array(peaks)
    for deg in (1, 2):
        with warnings.catch_warnings(record=True) as ours:
            warnings.simplefilter("always")
            found = np.polyfit(given[0], x, deg)
        with warnings.catch_warnings(record=True) as numpys:
            warnings.simplefilter("always")
            wanted = np.polyfit(x, x, deg)
        np.testing.assert_allclose(np.polyval(found, x), np.polyval(wanted, x), rtol=1e-4)
        assert [each.category for each in ours] == [each.category for each in numpys]
        assert all(each.filename == __file__ for each in ours)
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        np.histogram(given[1], "stone")
    assert [each.filename for each in ours] == [__file__]


@check
def dots_in_einsum(rng: random.Random) -> None:
    n = rng.choice([1, 4])
    whole = np.random.default_rng(n).normal(size=(3, n, n))
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    for subscripts in ("...i->...", "...", "i...->...i", "...ij->...ji", "...ii->...i", "...ii"):
        close(np.einsum(subscripts, a), np.einsum(subscripts, whole))
    for subscripts in ("...ij,...jk->...ik", "...ij,jk->...ik", "...ij,j", "i...,i...->..."):
        other = (
            whole
            if subscripts.count("...") > 1 and "jk->" in subscripts and ",..." in subscripts
            else whole[0]
        )
        other = other[0] if subscripts.endswith(",j") else whole if subscripts.startswith("i...") else other
        close(np.einsum(subscripts, a, other), np.einsum(subscripts, whole, other))


if __name__ == "__main__":
    main(int(sys.argv[1]))
