"""Everyday functions of NumPy on distributed arrays beside NumPy. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, main, refused, some_array


def same(found: Any, wanted: Any) -> None:
    if isinstance(found, tuple):
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    equal(found.to_numpy() if isinstance(found, DistArray) else found, wanted)


def close(found: Any, wanted: Any) -> None:
    found = found.to_numpy() if isinstance(found, DistArray) else found
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if np.asarray(wanted).dtype.char in "fF" else 1e-12)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype


def real_array(rng: random.Random) -> tuple[DistArray, Any]:
    return some_array(rng, rng.choice(["i8", "f8", "f4"]))


@check
def elements_are_picked(rng: random.Random) -> None:
    a, whole = some_array(rng)
    axis = rng.randrange(-a.ndim, a.ndim)
    at = np.array([rng.randrange(-whole.shape[axis], whole.shape[axis]) for _ in range(5)])
    same(np.take(a, at, axis), np.take(whole, at, axis))
    flat = at.reshape(1, 5) % whole.size
    same(np.take(a, flat), np.take(whole, flat))
    same(np.repeat(a, 3, axis), np.repeat(whole, 3, axis))
    same(np.repeat(a, 2), np.repeat(whole, 2))
    same(np.tile(a, 2), np.tile(whole, 2))
    same(np.tile(a, (2, 1, 2, 1)), np.tile(whole, (2, 1, 2, 1)))
    for mode in ("edge", "wrap", "symmetric", "reflect"):
        same(np.pad(a, 2, mode), np.pad(whole, 2, mode))
    same(
        np.pad(a, ((1, 2),) * a.ndim, constant_values=7), np.pad(whole, ((1, 2),) * a.ndim, constant_values=7)
    )
    order = np.argsort(a, axis)
    same(np.take_along_axis(a, order, axis), np.sort(whole, axis))
    same(np.take_along_axis(a, np.argsort(whole, axis), axis), np.sort(whole, axis))


@check
def axes_come_and_go(rng: random.Random) -> None:
    a, whole = some_array(rng)
    axis = rng.randrange(-a.ndim - 1, a.ndim + 1)
    longer = np.expand_dims(a, axis)
    same(longer, np.expand_dims(whole, axis))
    same(np.squeeze(longer, axis), whole)
    same(np.expand_dims(a, (0, 2)), np.expand_dims(whole, (0, 2)))
    same(np.stack([a, a + 1], axis), np.stack([whole, whole + 1], axis))
    same(np.vstack([a, a]), np.vstack([whole, whole]))
    same(np.hstack([a, a]), np.hstack([whole, whole]))
    same(np.moveaxis(a, 0, -1), np.moveaxis(whole, 0, -1))
    same(
        np.broadcast_to(longer, (2, *longer.shape)),
        np.broadcast_to(np.expand_dims(whole, axis), (2, *longer.shape)),
    )
    if a.ndim > 1:
        same(np.unstack(a, axis=-1), np.unstack(whole, axis=-1))
        same(a.mT, whole.mT)
        same(np.squeeze(arrays.ones((3, 1, 2))), np.ones((3, 2)))


@check
def differences_and_sums(rng: random.Random) -> None:
    a, whole = some_array(rng)
    axis = rng.randrange(-a.ndim, a.ndim)
    for n in (0, 1, 2):
        same(np.diff(a, n, axis), np.diff(whole, n, axis))
    close(
        np.cumulative_sum(a, axis=axis, include_initial=True),
        np.cumulative_sum(whole, axis=axis, include_initial=True),
    )
    close(np.std(a, axis=axis, correction=0.5), np.std(whole, axis=axis, correction=0.5))
    close(
        np.linalg.vector_norm(a, axis=(0, -1) if a.ndim > 1 else 0),
        np.linalg.vector_norm(whole, axis=(0, -1) if a.ndim > 1 else 0),
    )
    close(np.linalg.vector_norm(a, ord=1, keepdims=True), np.linalg.vector_norm(whole, ord=1, keepdims=True))
    assert np.can_cast(a, "c16") and np.result_type(a, "f8") == np.result_type(whole.dtype, "f8")
    same(np.astype(a, "c16"), whole.astype("c16"))


@check
def quantiles_and_averages(rng: random.Random) -> None:
    a, whole = real_array(rng)
    if whole.dtype.kind == "f" and rng.random() < 0.4:
        whole[(0,) * a.ndim] = np.nan
        a = arrays.from_array(whole).redistribute(like=a)
    for axis in (None, rng.randrange(-a.ndim, a.ndim)):
        close(np.median(a, axis), np.median(whole, axis))
        close(np.percentile(a, [0, 30, 95], axis), np.percentile(whole, [0, 30, 95], axis))
        close(np.quantile(a, 0.25, axis, keepdims=True), np.quantile(whole, 0.25, axis, keepdims=True))
        close(np.average(a, axis, weights=a * a + 1), np.average(whole, axis, weights=whole * whole + 1))
        for function in (np.nansum, np.nanprod, np.nanmean, np.nanmin, np.nanmax):
            small = whole % 3
            with np.errstate(all="ignore"):
                close(function(a % 3, axis), function(small, axis))
    holes, with_holes = np.where(a % 4 == 1, np.nan, a), np.where(whole % 4 == 1, np.nan, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of rows of NaN alone
        for axis in (None, -1, 0, tuple(range(a.ndim))):
            close(np.nanmedian(holes, axis), np.nanmedian(with_holes, axis))
            close(np.nanquantile(holes, [0.2, 1], axis), np.nanquantile(with_holes, [0.2, 1], axis))
            close(
                np.nanpercentile(holes, 30, axis, keepdims=True),
                np.nanpercentile(with_holes, 30, axis, keepdims=True),
            )
            close(np.nanmedian(a * np.nan, axis), np.nanmedian(whole * np.nan, axis))
    weights = np.arange(whole.shape[0]) + 1.0
    close(np.average(a, 0, weights=weights), np.average(whole, 0, weights=weights))
    close(np.average(a), np.average(whole))


@check
def searches_and_sets(rng: random.Random) -> None:
    a, whole = real_array(rng)
    line, flat = a.ravel(), whole.ravel()
    same(np.outer(a, np.arange(3)), np.outer(whole, np.arange(3)))
    same(np.outer(line, line), np.outer(flat, flat))
    same(np.isin(a, [3, 5]), np.isin(whole, [3, 5]))
    same(
        np.isin(a, a[(0,) * a.ndim] + arrays.arange(4), invert=True),
        np.isin(whole, whole.flat[0] + np.arange(4), invert=True),
    )
    ordered = np.sort(line)
    for side in ("left", "right"):
        same(np.searchsorted(ordered, [0, 4.5, 99], side), np.searchsorted(np.sort(flat), [0, 4.5, 99], side))  # type: ignore[call-overload]
        same(np.searchsorted(ordered, a, side), np.searchsorted(np.sort(flat), whole, side))  # type: ignore[call-overload]
        same(np.searchsorted(np.arange(9), a, side), np.searchsorted(np.arange(9), whole, side))  # type: ignore[call-overload]
    same(np.argwhere(a), np.argwhere(whole))
    same(np.unique(a, True, True, True), np.unique(whole, True, True, True))
    same(tuple(np.unique_all(a)), tuple(np.unique_all(whole)))
    same(np.unique_inverse(a).inverse_indices, np.unique_inverse(whole).inverse_indices)
    weights = a.astype("f8") / 4
    for found, wanted in zip(
        np.histogram(a, 5, weights=weights), np.histogram(whole, 5, weights=whole / 4), strict=True
    ):
        close(found, wanted.astype(found.dtype))
    numbers = np.abs(flat).astype(int)
    close(
        np.bincount(arrays.from_array(numbers), weights=numbers / 3),
        np.bincount(numbers, weights=numbers / 3),
    )


@check
def makers_are_numpys(rng: random.Random) -> None:
    n, m, k = rng.randint(1, 9), rng.randint(1, 9), rng.randint(-3, 3)
    same(arrays.eye(n, m, k=k), np.eye(n, m, k))
    same(arrays.eye(n, dtype="i4"), np.eye(n, dtype="i4"))
    for num, endpoint in ((n, True), (n, False), (1, True)):
        close(arrays.linspace(-1, 3, num, endpoint=endpoint), np.linspace(-1, 3, num, endpoint))
    assert arrays.empty((n, m), "i2").dtype == "i2"
    a = arrays.asarray([[1, 2], [3, 4]])
    same(a, np.array([[1, 2], [3, 4]]))
    assert arrays.asarray(a) is a and arrays.asarray(a, copy=True) is not a
    xp = a.__array_namespace__()
    assert xp.sum(xp.asarray([1.0, 2])) == 3 and xp.zeros(3).shape == (3,)
    refused([(lambda: a.__array_namespace__(api_version="1999"), "is not one of")])
    assert not hasattr(xp, "from_dlpack")


@check
def shapes_broadcast(rng: random.Random) -> None:
    a, whole = some_array(rng, "f8")
    its = [rng.choice([1, n]) for n in whole.shape][rng.randrange(a.ndim) :]
    other = (np.arange(np.prod(its)) + 1.0).reshape(its)
    for dist in ("block", "cyclic"):
        b = arrays.from_array(other, dist=dist)
        if b.shape != a.shape:
            same(a * b, whole * other)
            same(b - a, other - whole)
            same(np.where(b > 2, a, b), np.where(other > 2, whole, other))
            c = a.copy()
            c += b
            same(c, whole + other)
    row, column = arrays.arange(5), np.expand_dims(arrays.arange(3), 1)
    same(row * column, np.arange(5) * np.arange(3)[:, None])
    refused(
        [
            (lambda: arrays.ones(3) + arrays.ones(4), "or broadcast"),
            (lambda: np.add(a, 1, out=arrays.ones(77)), "77"),
        ]
    )


@check
def other_distributions_are_redistributed_if_asked(rng: random.Random) -> None:
    a, whole = some_array(rng, "f8")
    b = arrays.from_array(whole, dist=["whole"] * (a.ndim - 1) + ["cyclic"])
    with arrays.mixed_operands("redistribute"):
        found = a + b * 2
        same(found, whole * 3)
        assert found._layout.same_distribution(a._layout)
        c = a.copy()
        c += b
        same(c, whole * 2)
        same(np.where(a > 3, a, b), whole)
        close(np.vdot(a, b), np.vdot(whole, whole))
    if not a._layout.same_distribution(b._layout):
        refused([(lambda: a + b, "in different ways")])
    refused([(lambda: arrays.mixed_operands("gather").__enter__(), "expected one of refuse")])


@check
def blocks_are_mapped(rng: random.Random) -> None:
    n = 3 * atoll.n_pes() + rng.randint(0, 3)
    whole = np.arange(n * n).reshape(n, n) % 17 * 1.5
    a, b = arrays.from_array(whole, halo=rng.choice([0, 1, 2])), arrays.from_array(whole + 1)
    kept = a.local_with_halo.copy()

    def around(x: Any, y: Any = 0, weight: float = 1) -> Any:
        return weight * (x[2:-2, :-4] - x[4:, 4:])[:, :] + (y[2:-2, 2:-2] if np.ndim(y) else 0)

    for border, mode in (
        ("periodic", "wrap"),
        ("reflect", "reflect"),
        ("fixed", "constant"),
        (None, "constant"),
    ):
        wide = np.pad(whole, 2, mode)  # type: ignore[call-overload]
        same(a.map_blocks(around, halo=2, border=border, weight=2.0), around(wide, weight=2.0))
        same(a.map_blocks(around, b, halo=2, border=border), around(wide, np.pad(whole + 1, 2, mode)))  # type: ignore[call-overload]
    same(a.map_blocks(lambda x: x[:, 1:-1], halo=[0, (1, 1)]), whole)
    equal(a.local, kept[tuple(slice(w, x - w) for (w, _), x in zip(a._layout.halo, kept.shape, strict=True))])
    same(a.map_blocks(np.add, b), 2 * whole + 1)
    refused(
        [
            (lambda: a.map_blocks(np.add, whole), "no distributed array"),
            (lambda: a.map_blocks(np.add, arrays.ones(3)), "must be equal"),
            (lambda: a.map_blocks(np.negative, border="periodic"), "needs a width"),
            (lambda: a.map_blocks(np.negative, halo=n + 1), "wider than the smallest part"),
        ]
    )


main(int(sys.argv[1]))
