"""Products and sums of several axes, and NumPy's meanings of rare arguments. Each check is by all PEs."""

from __future__ import annotations

import math
import random
import string
import sys
import warnings
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, main, refused

DISTS = ("block", "cyclic", "whole")


def made(rng: random.Random, shape: tuple[int, ...], dtype: str = "f8") -> tuple[DistArray, Any]:
    """Return small integers in a random distribution: sums of their products are exact in any order."""
    whole = (np.arange(np.prod(shape)) * 7 % 5 - 2).reshape(shape).astype(dtype)
    dist = [rng.choice(DISTS) for _ in shape]
    if "block" not in dist and "cyclic" not in dist:
        dist[rng.randrange(len(dist))] = "block"
    return arrays.from_array(whole, dist=dist), whole


def same(found: Any, wanted: Any) -> None:
    equal(found.to_numpy() if isinstance(found, DistArray) else found, wanted)


def lengths(rng: random.Random, letters: str) -> dict[str, int]:
    return {letter: rng.randint(1, 5) for letter in letters}


@check
def stacks_of_matrices_are_multiplied(rng: random.Random) -> None:
    n, k, m, first, second = (rng.randint(1, 5) for _ in range(5))
    a, x = made(rng, (first, n, k), rng.choice(["f8", "i4", "c16"]))
    for shape in ((first, k, m), (k, m), (1, k, m), (second, 1, k, m), (k,)):
        b, y = made(rng, shape)
        same(a @ b, x @ y)
        same(a @ y, x @ y)
        same(x @ b, x @ y)
        same(np.dot(a, b), np.dot(x, y))
    v, y = made(rng, (n,))
    same(v @ a, y @ x)
    same(y @ a, y @ x)
    # Matrices that are whole stay where they are.
    a, x = arrays.from_array(x, dist=["cyclic", "whole", "whole"]), x
    assert (a @ a.mT)._layout.axes[0] == a._layout.axes[0]


@check
def axes_are_contracted(rng: random.Random) -> None:
    size = lengths(rng, "abcd")
    a, x = made(rng, tuple(size[each] for each in "abc"))
    b, y = made(rng, tuple(size[each] for each in "cbd"))
    for axes in (0, 1, ([2, 1], [0, 1]), ([1], [1]), (1, 1), (-1, 0)):
        same(np.tensordot(a, b, axes), np.tensordot(x, y, axes))
        same(np.tensordot(a, y, axes), np.tensordot(x, y, axes))
        same(np.tensordot(x, b, axes), np.tensordot(x, y, axes))
    same(np.tensordot(a, a, 3), np.tensordot(x, x, 3))
    same(np.tensordot(a, a.T, ([0, 1, 2], [2, 1, 0])), np.tensordot(x, x.T, ([0, 1, 2], [2, 1, 0])))
    same(np.vecdot(a, 2 * a), np.vecdot(x, 2 * x))
    z, w = made(rng, (3, 4), "c16")
    same(np.vecdot(z * 1j, z, axis=0), np.vecdot(w * 1j, w, axis=0))
    same(np.linalg.vecdot(z, z), np.linalg.vecdot(w, w))


@check
def vectors_lie_along_an_axis_of_each_operand(rng: random.Random) -> None:
    dtype = rng.choice(["?", "i1", "f4", "c8"])
    a, x = made(rng, (3, 4), dtype)
    cases: list[tuple[tuple[int, ...], int]] = [
        *(((3,), 0), ((3, 2, 4), 0), ((2, 4, 3), 1), ((5, 3, 4), -1), ((5, 3, 4), -2), ((3, 4), 1))
    ]
    for shape, axis in cases:
        y = (np.arange(math.prod(shape)) * 11 % 200 - 100).reshape(shape).astype(dtype)
        # An operand of NumPy does not make the result larger than the distributed one.
        one, other = (a, y) if y.ndim < x.ndim else (x, arrays.from_array(y))
        same(np.vecdot(one, other, axis=axis), np.vecdot(x, y, axis=axis))
        same(np.vecdot(other, one, axis=axis), np.vecdot(y, x, axis=axis))
    refused(
        [
            (
                lambda: np.vecdot(a, np.ones((3, 1), dtype)),
                "shapes (3, 4) and (3, 1), axis -1; vectors of different lengths",
            ),
            (lambda: np.vecdot(a, np.ones(3), axis=1), "vecdot: axis 1 is out of bounds"),
        ]
    )


FORMS = """ij->ji ij->i ij-> ij->ij ijk->kj ij,jk->ik ij,jk->ki ij,jk i,i-> i,i->i i,j->ij i,j->ji ij,ij-> ij,ij->j ij,ij->ij
ij,j->ij ij,j->i ij,i->ij ij,ji->i bij,bjk->bik bij,bjk->ikb bij,bjk->bk bij,bjk-> bij,bj->bi bij,bij->b ijk,kl->ijl
ijk,jil->kl ij,kl->ijkl i,ij,j-> ij,jk,kl->il b,bij,bj->bi ijk,j->ik"""


@check
def einsum_is_numpys(rng: random.Random) -> None:
    size = lengths(rng, string.ascii_lowercase)
    for form in rng.sample(FORMS.split(), 12):
        groups = form.split("->")[0].split(",")
        pairs = [made(rng, tuple(size[each] for each in group), rng.choice(["f8", "i4"])) for group in groups]
        given, whole = zip(*pairs, strict=True)
        same(np.einsum(form, *given), np.einsum(form, *whole))
        if len(pairs) > 1:  # one of them is NumPy's
            at = rng.randrange(len(pairs))
            mixed = [whole[i] if i == at else each for i, each in enumerate(given)]
            same(np.einsum(form, *mixed, optimize=True), np.einsum(form, *whole))


@check
def einsum_computes_in_the_dtype_of_all_operands(rng: random.Random) -> None:
    """Sums and products of the narrow operands alone are larger than their dtypes have numbers for."""
    size = lengths(rng, string.ascii_lowercase)
    for form in (
        "ij,jk,kl->il",
        "ij,ij,i->i",
        "i,i,i->i",
        "i,j,k->ijk",
        "ij,kl->ik",
        "bij,bjk,b->bik",
        "ij,j",
        "ij->i",
    ):
        groups = form.split("->")[0].split(",")
        dtypes = [rng.choice(["?", "i1", "f4", "i8"]) for _ in groups]
        wholes = [
            (np.arange(math.prod(size[each] for each in group)) * 37 % 121 - 20)
            .reshape([size[each] for each in group])
            .astype(dtype)
            for group, dtype in zip(groups, dtypes, strict=True)
        ]
        given: list[Any] = [arrays.from_array(x) for x in wholes]
        if len(given) > 1 and rng.random() < 0.5:
            at = rng.randrange(len(given))
            given[at] = wholes[at]
        same(np.einsum(form, *given), np.einsum(form, *wholes))


@check
def numbers_come_of_all_axes(rng: random.Random) -> None:
    a, x = made(rng, (3, 4))
    for number in (2, 2.5, np.float32(3)):
        same(np.dot(a, number), np.dot(x, number))
        same(np.dot(number, a), np.dot(number, x))
        same(a.dot(number), x.dot(number))
    one = arrays.full((1, 1), 7, rng.choice(["f4", "i8"]))
    for found in (np.squeeze(one), one.squeeze(), one.squeeze((0, 1))):
        equal(found, one.dtype.type(7))
        assert isinstance(found, np.generic)
    assert 2.0 in a and 99 not in a
    b, flags = made(rng, (3, 4), "?")
    for exponent in (2, 3, 2.0, np.int64(2)):
        same(b**exponent, flags**exponent)
    same(np.median(b), np.median(flags))


@check
def means_of_nothing_are_nan(rng: random.Random) -> None:
    dtype, axis = rng.choice(["f8", "f4", "f2", "i4", "?", "c8"]), rng.choice([None, 0, 1])
    whole = np.zeros((0, 3), dtype)
    a = arrays.from_array(whole)
    functions: list[Callable[..., Any]] = [np.mean, np.var, np.std]
    if dtype[0] != "c":
        functions.append(np.median)
    for function in functions:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = function(a, axis=axis, keepdims=True)
            # One warning, that names this file.
            assert len(seen) == (axis != 1), [str(each.message) for each in seen]
            assert all(each.filename == __file__ for each in seen)
            same(found, function(whole, axis=axis, keepdims=True))


@check
def complex_elements_are_added(rng: random.Random) -> None:
    n, dtype = atoll.n_pes(), rng.choice(["c8", "c16"])
    a, whole = arrays.zeros((4, 3), dtype, dist=["cyclic", "whole"]), np.zeros((4, 3), dtype)
    rows, values = [0, 1, 1, -1], np.array([1 + 2j, 3j, 1, -1j])
    a.at[rows, 2].add(values)
    a.at[0].add(1j)
    a.barrier()
    for _ in range(n):
        np.add.at(whole, (rows, 2), values)
        np.add.at(whole, 0, 1j)
    equal(a.to_numpy(), whole)


@check
def short_parts_reflect(rng: random.Random) -> None:
    n = atoll.n_pes()
    for rows in range(max(n, 2), 2 * n + 2):
        whole = np.arange(rows * 2.0).reshape(rows, 2)
        a = arrays.from_array(whole, dist=["block", "whole"], halo=[1, 0])
        a.exchange_halo("reflect")
        start, stop = a.bounds()[0]
        wanted = np.pad(whole, ((1, 1), (0, 0)), "reflect")[start : stop + 2]
        np.testing.assert_array_equal(a.local_with_halo, wanted)
    a = arrays.ones((n, 2), dist=["block", "whole"], halo=[(0, 1) if n > 1 else (1, 1), 0])
    refused([(lambda: a.exchange_halo("reflect"), "Use fewer PEs along this axis, or a narrower halo")])


@check
def meanings_that_do_not_exist_are_explained(rng: random.Random) -> None:
    a, _ = made(rng, (3, 4))
    refused(
        [
            (lambda: a.argmax(axis=(0,)), "expected one integer, or None"),
            (lambda: np.argmin(a, axis=(0, 1)), "a.argmin(axis=(0, 1)): expected one integer"),
            (lambda: np.quantile(a > 0, 0.5), "take a.astype(float)"),
            (lambda: a.accumulate([1, 2], 1), "use a.at[indices].add(x)"),
            (lambda: a.accumulate((0, np.array([1])), 1), "use a.at[indices].add(x)"),
            (lambda: a.accumulate(a > 0, 1), "write a[mask] += x"),
            (lambda: a.accumulate(0, a), "write a += b"),
            (lambda: a.at[0].add(a), "write a += b"),
            (lambda: np.matmul(a, 2), "write a * b, or numpy.dot(a, b)"),
            (lambda: a @ np.ones(3), "expected the last axis of the first as long as the only one"),
            (lambda: np.ones((2, 3, 4)) @ arrays.ones((3, 4, 2)), "do not broadcast"),
            (lambda: np.tensordot(a, a, 1), "different lengths"),
            (lambda: np.tensordot(a, a, ([0, 0], [0, 0])), "named twice"),
            (lambda: np.tensordot(a, a, ([5], [0])), "axis 5 is out of bounds"),
            (lambda: np.tensordot(a, a, 3), "axes=3 of arrays of 2 and 2 axes"),
            (lambda: np.einsum("ii->i", a), "axis 'i' has lengths 3 and 4"),
            (lambda: np.einsum("...ijk", a), "and an axis for each letter"),
            (lambda: np.einsum(a, [0, 1]), "takes subscripts as text"),
            (lambda: np.einsum("ij,jk", a), "an array for each group"),
            (lambda: np.einsum("ij->ik", a), "one of no operand"),
            (lambda: np.einsum("ij,ij", a, a.T), "axis 'i' has lengths 3 and 4"),
            (lambda: np.einsum("ij", a, dtype="f4"), "not dtype"),
        ]
    )


main(int(sys.argv[1]))
