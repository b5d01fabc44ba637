"""NumPy's functions of distributed arrays beside NumPy: scans, sorting, products, rearranging. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from atoll.arrays._functions import _products
from distributed import check, equal, main, refused, some_array


def close(found: Any, wanted: Any) -> None:
    found = found.to_numpy() if isinstance(found, DistArray) else found
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (found, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if np.asarray(wanted).dtype.char in "fF" else 1e-12)


def some_numbers(rng: random.Random, n: int, dtype: str) -> Any:
    """Return numbers of which some are equal; floating-point ones have a NaN at times."""
    whole = np.array([rng.randint(0, max(1, n // 2)) for _ in range(n)]).astype(dtype)
    if n and whole.dtype.kind == "f" and rng.random() < 0.3:
        whole[rng.randrange(n)] = np.nan
    return whole


def some_line(rng: random.Random) -> tuple[DistArray, Any]:
    whole = some_numbers(rng, rng.choice([0, 1, 5, 40, 200]), rng.choice(["i8", "f8", "f4", "u1", "?"]))
    if rng.random() < 0.2:
        whole[:] = 1
    n = len(whole)
    bounds = [0, *sorted(rng.randint(0, n) for _ in range(atoll.n_pes() - 1)), n]
    return arrays.from_array(whole, dist=rng.choice(["block", "cyclic", "cyclic(3)", bounds])), whole


@check
def cumulations_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng)
    axis = rng.choice([None, *range(-a.ndim, a.ndim)])
    close(np.cumsum(a, axis), np.cumsum(whole, axis))
    small = (whole.real % 3 + 1).astype(whole.dtype)
    b = arrays.from_array(small).redistribute(like=a)
    close(b.cumprod(-1), small.cumprod(-1))
    close(np.add.accumulate(a), np.add.accumulate(whole))
    if axis is not None:
        same = np.cumulative_sum(a, axis=axis)
        equal(same.local, np.cumsum(a, axis).local)


@check
def places_of_extremes_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["i8", "f8", "f4"]))
    if whole.dtype.kind == "f" and rng.random() < 0.5:
        whole[(0,) * a.ndim] = np.nan
        a = arrays.from_array(whole).redistribute(like=a)
    axis, keepdims = rng.randrange(-a.ndim, a.ndim), rng.random() < 0.5
    equal(a.argmin(axis, keepdims=keepdims), whole.argmin(axis, keepdims=keepdims))
    equal(np.argmax(a, axis=axis, keepdims=keepdims), np.argmax(whole, axis=axis, keepdims=keepdims))
    equal(a.argmax(keepdims=True), whole.argmax(keepdims=True))


@check
def lines_are_sorted(rng: random.Random) -> None:
    a, whole = some_line(rng)
    found = np.sort(a)
    equal(found.to_numpy(), np.sort(whole))
    assert found._layout.axes == a._layout.axes
    equal(np.argsort(a).to_numpy(), np.argsort(whole, kind="stable"))
    equal(np.unique(a).to_numpy(), np.unique(whole))
    values, counts = np.unique(a, return_counts=True)
    equal(values.to_numpy(), np.unique(whole))
    equal(counts.to_numpy(), np.unique(whole, return_counts=True)[1])
    if whole.dtype.kind == "f":
        whole = np.append(whole, [np.nan] * 3)
    each = np.unique(whole, return_counts=True, equal_nan=False)
    found = np.unique_counts(arrays.from_array(whole))
    equal(found.values.to_numpy(), each[0])
    equal(found.counts.to_numpy(), each[1])
    equal(np.unique_values(arrays.from_array(whole)).to_numpy(), each[0])


@check
def axes_are_sorted(rng: random.Random) -> None:
    a, whole = some_array(rng)
    axis = rng.choice([None, *range(-a.ndim, a.ndim)])
    equal(np.sort(a, axis).to_numpy(), np.sort(whole, axis))
    equal(np.argsort(a, axis, kind="stable").to_numpy(), np.argsort(whole, axis, kind="stable"))


@check
def sorting_shares_equal_values(rng: random.Random) -> None:
    from atoll.arrays._functions import _sorting

    values = np.repeat([1, 2, 3], 40)
    cuts = _sorting._cuts(values, np.array([2, 2, 2]))
    assert list(cuts) == [50, 60, 70]
    assert list(_sorting._cuts(values, np.array([1, 3]))) == [20, 100]


@check
def histograms_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["i8", "f8"]))
    for given in ({}, {"bins": 4}, {"bins": [0, 1, 4, 9]}, {"bins": 3, "range": (1, 8)}, {"density": True}):
        for found, wanted in zip(np.histogram(a, **given), np.histogram(whole, **given), strict=True):  # type: ignore[call-overload]
            equal(found, wanted)
    line = arrays.from_array(whole.reshape(-1).astype(int))
    equal(np.bincount(line, minlength=4), np.bincount(whole.reshape(-1).astype(int), minlength=4))
    equal(np.bincount(line, None, 40), np.bincount(whole.reshape(-1).astype(int), None, 40))


@check
def products_are_numpys(rng: random.Random) -> None:
    rows, inner, columns = (rng.randint(1, 9) for _ in range(3))
    dtype = rng.choice(["f8", "i8", "c16"])
    x, y = np.arange(rows * inner).reshape(rows, inner).astype(dtype), np.ones((inner, columns), dtype) * 2
    y[0, 0] = 5
    v, w = np.arange(inner).astype(dtype), np.arange(rows).astype(dtype)
    kinds = ["block", "cyclic", ["block", "whole"], ["whole", "block"], ["cyclic", "whole"]]
    a, b = arrays.from_array(x, dist=rng.choice(kinds)), arrays.from_array(y, dist=rng.choice(kinds))
    p, q = arrays.from_array(v, dist=rng.choice(["block", "cyclic"])), arrays.from_array(w)
    close(a @ b, x @ y)
    was, _products.PANEL_BYTES = _products.PANEL_BYTES, 64
    close(a @ y, x @ y)
    _products.PANEL_BYTES = was
    close(x @ b, x @ y)
    for vector in (p, v):
        close(a @ vector, x @ v)
    close(x @ p, x @ v)
    for vector in (q, w):
        close(vector @ a, w @ x)
    for product in (p @ y, np.dot(p, y)):
        close(product, v @ y)
    close(p @ v.tolist(), v @ v)
    close(np.dot(p, p), np.dot(v, v))
    close(np.dot(p > 1, v < 5), np.dot(v > 1, v < 5))
    close((a > 1) @ (p > 1), (x > 1) @ (v > 1))
    close(np.vdot(p * (1 + 2), v), np.vdot(v * 3, v))
    close(a.dot(p), x.dot(v))


@check
def norms_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["f8", "c16", "i8"]))
    close(np.linalg.norm(a), np.linalg.norm(whole))
    line, flat = a.ravel(), whole.ravel()
    for order in (None, 1, 2, 3, np.inf, -np.inf, 0):
        close(np.float64(np.linalg.norm(line, order)), np.float64(np.linalg.norm(flat, order)))
        close(np.linalg.vector_norm(a, ord=order or 2), np.linalg.vector_norm(whole, ord=order or 2))
    close(np.linalg.norm(a, axis=-1), np.linalg.norm(whole, axis=-1))


@check
def rearranged_arrays_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng)
    axes = rng.sample(range(a.ndim), a.ndim)
    equal(a.T.to_numpy(), whole.T)
    equal(np.transpose(a, axes).to_numpy(), np.transpose(whole, axes))
    equal(np.flip(a).to_numpy(), np.flip(whole))
    axis = rng.randrange(-a.ndim, a.ndim)
    equal(np.flip(a, axis).to_numpy(), np.flip(whole, axis))
    shift = rng.randint(-12, 12)
    equal(np.roll(a, shift, axis).to_numpy(), np.roll(whole, shift, axis))
    equal(np.roll(a, shift).to_numpy(), np.roll(whole, shift))
    both = [(0, -1), (shift, 2)] if a.ndim > 1 else [(0,), (shift,)]
    equal(np.roll(a, both[1], both[0]).to_numpy(), np.roll(whole, both[1], both[0]))
    odd = arrays.arange(7, dist="cyclic")
    equal(np.roll(odd, shift).to_numpy(), np.roll(np.arange(7), shift))
    equal(a.ravel().to_numpy(), whole.ravel())
    shape = rng.choice([(-1,), (1, -1), (whole.size, 1), whole.shape[::-1]])
    equal(a.reshape(shape).to_numpy(), whole.reshape(shape))
    equal(a.reshape(*shape, dist="block").to_numpy(), whole.reshape(shape))
    rows = a.reshape(-1).reshape(whole.shape, dist=["block", *["whole"] * (a.ndim - 1)])
    equal(rows.to_numpy(), whole)
    equal(rows.reshape(-1).to_numpy(), whole.ravel())
    equal(np.concatenate([a, rows, a], axis).to_numpy(), np.concatenate([whole] * 3, axis))


@check
def methods_and_comparisons_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng)
    equal(a.flatten().to_numpy(), whole.flatten())
    equal(a.round(1).to_numpy(), whole.round(1))
    equal((a.conj() + a.real - a.imag).to_numpy(), whole.conj() + whole.real - whole.imag)
    if whole.dtype.kind != "c":
        equal(a.clip(2, 9).to_numpy(), whole.clip(2, 9))
        equal(np.ptp(a, 0), np.ptp(whole, 0))
    assert np.allclose(a, whole) and np.allclose(a, a + 1e-9) and not np.allclose(a, whole + 1)
    assert np.array_equal(a, whole) and not np.array_equal(a, a + 1) and not np.array_equal(a, whole[:0])


@check
def results_are_visible_to_every_pe(rng: random.Random) -> None:
    """A PE that is late has written its part before another one reads it."""
    n, last = 6 * atoll.n_pes(), atoll.my_pe() == atoll.n_pes() - 1

    def late(x: Any) -> Any:
        if last:
            time.sleep(0.02)  # without the barrier the others read too early; with it the test cannot fail
        return x * 1.0

    a = arrays.from_function(late, n)
    if not last:
        equal(a[:], np.arange(n) * 1.0)
    b = a.map_blocks(late)
    if not last:
        equal(b[:], np.arange(n) * 1.0)


@check
def masks_select(rng: random.Random) -> None:
    a, whole = some_array(rng)
    mask, wanted = abs(a) > 6, abs(whole) > 6
    equal(a[mask].to_numpy(), whole[wanted])
    for found, index in zip(np.nonzero(mask), np.nonzero(wanted), strict=True):
        equal(found.to_numpy(), index)
    dealt, line = arrays.arange(9, dist="cyclic"), arrays.arange(9)
    equal(dealt[line % 4 == 0].to_numpy(), np.arange(0, 9, 4))
    equal(line[dealt % 4 == 0].to_numpy(), np.arange(0, 9, 4))
    equal(np.where(mask)[0].to_numpy(), np.where(wanted)[0])
    assert np.count_nonzero(mask) == np.count_nonzero(wanted)
    equal(np.count_nonzero(mask, axis=0), np.count_nonzero(wanted, axis=0))
    a[mask] = 3
    whole[wanted] = 3
    equal(a.to_numpy(), whole)


@check
def mistakes_are_refused(rng: random.Random) -> None:
    a, line, words = arrays.ones((4, 5)), arrays.arange(7), arrays.zeros(3, "U2")
    refused(
        [
            (lambda: a @ a, "operands of shapes (4, 5) and (4, 5)"),
            (lambda: np.dot(line, line[:3]), "shapes (7,) and (3,)"),
            (lambda: a.reshape(3, 7), "cannot reshape a distributed array of shape (4, 5) into (3, 7)"),
            (lambda: a.reshape(-1, 0), "cannot reshape"),
            (lambda: np.transpose(a, (0, 0)), "each of the 2 axes once"),
            (lambda: np.cumsum(words), "elements of <U2; expected numbers"),
            (lambda: np.sort(words), "elements of <U2; expected numbers"),
            (lambda: np.cumsum(a, 2), "axis 2 is out of bounds"),
            (lambda: np.roll(a, (1, 2, 3), (0, 1)), "3 shifts for 2 axes"),
            (lambda: np.concatenate([a, line]), "differ in more than axis 0"),
            (lambda: np.histogram(a, "most"), "expected a number, edges, or one of auto"),
            (lambda: np.bincount(a), "expected one axis of integers"),
            (lambda: np.bincount(line - 3), "an element is negative"),
            (lambda: np.linalg.norm(a, 3), "norm: ord=3 of a matrix; expected 'fro', 'nuc'"),
            (lambda: np.linalg.norm(a, axis=(0, 1)), "expected one axis or None"),
            (lambda: a[line > 2], "the mask has shape (7,) and dtype bool; expected (4, 5)"),
            (lambda: a[a], "b has elements of float64; expected integers"),
            (lambda: a.__setitem__(line > 2, 1), "expected elements of bool in the distribution"),
            (lambda: a.__setitem__(a > 2, np.ones(3)), "takes a number"),
            (lambda: np.cumsum(a, out=a), "takes axis, dtype, not out"),
            (
                lambda: np.unique(a, axis=0),
                "numpy.unique of a distributed array takes return_index, return_inverse, return_counts, equal_nan, not",
            ),
            (lambda: np.bincount(line, np.ones(3)), "weights of shape (3,) for (7,)"),
            (
                lambda: np.std(a, mean=1),
                "numpy.std of a distributed array takes axis, ddof, keepdims, where, correction, not mean",
            ),
            (lambda: np.add.reduce(a, initial=1), "takes axis, dtype, keepdims, not initial"),
            (lambda: np.zeros_like(a, int, "F"), "takes dtype, not order"),
            (lambda: np.copyto(np.ones(3), a), "copyto: only the source is distributed"),
            (lambda: np.fft.fft(a, out=np.ones(3)), "not out"),
            (lambda: np.sum(np.ones(3), out=a), "takes axis, dtype, keepdims, initial, where, not out"),
            (lambda: a.sum(0, int, True), "positional"),
        ]
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
