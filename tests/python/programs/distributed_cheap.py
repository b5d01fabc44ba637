"""More functions of NumPy on distributed arrays beside NumPy. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
import tracemalloc
import warnings
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, main, refused, some_array


def plain(found: Any) -> Any:
    return found.to_numpy() if isinstance(found, DistArray) else found


def same(found: Any, wanted: Any) -> None:
    equal(plain(found), wanted)


def close(found: Any, wanted: Any) -> None:
    found = plain(found)
    np.testing.assert_allclose(
        found, wanted, rtol=1e-5 if np.asarray(wanted).dtype.char in "fF" else 1e-10, atol=1e-12
    )
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (
        np.asarray(found).dtype,
        np.asarray(wanted).dtype,
    )


def matrix(rng: random.Random, axes: int = 2) -> tuple[DistArray, Any]:
    shape = tuple(rng.randint(2, 7) for _ in range(axes))
    whole = np.arange(float(np.prod(shape))).reshape(shape) * 7 % 23
    return arrays.from_array(whole, dist=rng.choice(["block", "cyclic", "cyclic(2)"])), whole


@check
def diagonals_and_triangles(rng: random.Random) -> None:
    a, whole = matrix(rng)
    k = rng.randint(-3, 3)
    for name in ("diagonal", "trace", "diag", "tril", "triu"):
        function = getattr(np, name)
        same(function(a, k), function(whole, k))
    b, more = matrix(rng, 3)
    one, two = rng.sample(range(-3, 0), 2)
    same(np.diagonal(b, k, one, two), np.diagonal(more, k, one, two))
    same(np.trace(b, k, one, two), np.trace(more, k, one, two))
    same(np.tril(b, k), np.tril(more, k))
    v = arrays.from_array(whole[0], dist=rng.choice(["block", "cyclic"]))
    same(np.diag(v, k), np.diag(whole[0], k))
    same(np.swapaxes(b, one, two), np.swapaxes(more, one, two))
    same(np.linalg.trace(a), np.linalg.trace(whole))
    refused(
        [
            (lambda: np.diagonal(v), "no two axes"),
            (lambda: np.diagonal(a, 0, 1, 1), "both 1"),
            (lambda: np.tril(v), "two axes"),
        ]
    )


@check
def products_and_covariances(rng: random.Random) -> None:
    a, whole = matrix(rng)
    close(np.inner(a, a), np.inner(whole, whole))
    v = arrays.from_array(whole[:, 0])
    close(np.inner(v, v), np.inner(whole[:, 0], whole[:, 0]))
    for rowvar in (True, False):
        close(np.cov(a, rowvar=rowvar), np.cov(whole, rowvar=rowvar))
        same_rows = np.corrcoef(whole + np.eye(*whole.shape), rowvar=rowvar)
        close(np.corrcoef(a + np.eye(*whole.shape), rowvar=rowvar), same_rows)
    close(np.cov(v, v * v), np.cov(whole[:, 0], whole[:, 0] ** 2))
    close(np.cov(a, whole * whole, rowvar=False), np.cov(whole, whole**2, rowvar=False))
    close(np.cov(v, ddof=0), np.cov(whole[:, 0], ddof=0))
    close(np.cov(a, bias=True), np.cov(whole, bias=True))


@check
def arrays_are_cut_and_joined(rng: random.Random) -> None:
    a, whole = some_array(rng, "f8")
    axis = rng.randrange(-a.ndim, a.ndim)
    for sections in (1, 2, 3, [1, 3], [-1]):
        for found, wanted in zip(
            np.array_split(a, sections, axis), np.array_split(whole, sections, axis), strict=True
        ):
            same(found, wanted)
    for found, wanted in zip(np.split(a, [2], axis), np.split(whole, [2], axis), strict=True):
        same(found, wanted)
    if whole.shape[axis] % 2:
        refused([(lambda: np.split(a, 2, axis), "array_split")])
    same(
        np.concatenate([whole, a, whole.astype(int)], axis),
        np.concatenate([whole, whole, whole.astype(int)], axis),
    )
    for name in ("vstack", "hstack", "dstack", "column_stack", "stack"):
        if name != "column_stack" or a.ndim < 3:
            function = getattr(np, name)
            same(function([a, whole]), function([whole, whole]))
            same(function((whole, a)), function((whole, whole)))
    same(np.append(a, [1, 2]), np.append(whole, [1, 2]))
    same(np.append(a, whole, axis), np.append(whole, whole, axis))
    refused([(lambda: np.concatenate([a, whole[..., None]]), "differ in more")])


@check
def elements_are_computed(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["f8", "f4"]))
    x, y = a - 8.5, whole - whole.dtype.type(8.5)
    close(np.sinc(x), np.sinc(y))
    same(np.fix(x), np.fix(y))
    same(np.around(x, -1), np.around(y, -1))
    same(np.isreal(x + 1j), np.isreal(y + 1j))
    same(np.iscomplex(x * 1j), np.iscomplex(y * 1j))
    bins = [0, 3, 3.5, 12]
    for right in (False, True):
        same(np.digitize(x, bins, right), np.digitize(y, bins, right))
    close(np.interp(x, bins, [1, 5, 2, 0], left=-1), np.interp(y, bins, [1, 5, 2, 0], left=-1))
    same(np.select([x > 5, x > 0], [x, x * 2], -1), np.select([y > 5, y > 0], [y, y * 2], -1))
    same(np.flatnonzero(x > 0), np.flatnonzero(y > 0))
    same(np.extract(x > 0, x), np.extract(y > 0, y))
    refused(
        [
            (lambda: np.digitize(whole, a.ravel()), "first argument alone"),
            (lambda: np.select([], [a]), "0 conditions"),
            (lambda: np.extract(y > 0, x), "both be distributed"),
        ]
    )


@check
def reductions_leave_nan_out(rng: random.Random) -> None:
    _, whole = some_array(rng, rng.choice(["f8", "f4"]))
    whole[whole % 5 == 1] = np.nan
    a = arrays.from_array(whole)
    axis = rng.choice([None, *range(a.ndim)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for name in ("nanvar", "nanstd", "nancumsum", "nancumprod", "nanargmin", "nanargmax"):
            function = getattr(np, name)
            if "arg" in name and np.isnan(whole).all(axis).any():
                refused([(lambda function=function: function(a, axis), "All-NaN")])
                continue
            wanted = function(whole, axis)
            close(function(a, axis), wanted)
    close(np.nanvar(a, ddof=1), np.nanvar(whole, ddof=1)) if np.isfinite(whole).sum() > 1 else None
    same(np.nanargmax(a > 3), np.nanargmax(whole > 3))


@check
def starts_and_masks_have_the_rules_of_numpy(rng: random.Random) -> None:
    whole = np.arange(12)
    a, mask = arrays.from_array(whole), whole > 3
    same(a.min(initial=2.5, where=mask), whole.min(initial=2.5, where=mask))
    same((a > 5).max(initial=1, where=mask), (whole > 5).max(initial=1, where=mask))
    narrow = a.astype("f4")
    same(
        narrow.max(initial=np.float64(100), where=mask),
        whole.astype("f4").max(initial=np.float64(100), where=mask),
    )
    refused(
        [
            (lambda: a.astype("i1").max(initial=300), "300"),
            (lambda: a.astype("f8").sum(initial=1j), "complex"),
            (lambda: a.mean(where=np.full(12, 2)), "a mask of int64; expected bool"),
            (lambda: a.sum(where=a % 3), "a mask of int64; expected bool"),
            (lambda: np.tile(a, 2.5), "float"),  # type: ignore[call-overload]
            (lambda: np.pad(a, True), "expected integers"),
        ]
    )
    same(np.delete(a, np.arange(2, 9)).to_numpy(), np.delete(whole, np.arange(2, 9)))
    long = np.arange(1000.0)
    for gone in (np.arange(10, 74), np.arange(0, 128, 2), long % 3 == 0, np.s_[5:900]):
        same(np.delete(arrays.from_array(long), gone).to_numpy(), np.delete(long, gone))
    plane = long[:10].reshape(5, 2)
    same(
        np.polyval([[1, 2], [3, 4]], arrays.from_array(plane)).to_numpy(), np.polyval([[1, 2], [3, 4]], plane)
    )
    # A PE reads another one's part of a mask once that PE is there.
    row, x = arrays.zeros((1, 12), bool), np.tile(whole, (8, 1))
    row.local[...] = True
    close(arrays.from_array(x).mean(1, where=row), x.mean(1))


@check
def reductions_take_masks_and_starts(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["i8", "f8"]))
    axis = rng.choice([None, *range(a.ndim)])
    mask, chosen = a > 5, whole > 5
    for name, initial in (("sum", 3), ("prod", 2), ("min", 4), ("max", 6)):
        function = getattr(np, name)
        same(function(a, axis, initial=initial), function(whole, axis, initial=initial))
        same(
            function(a, axis, initial=initial, where=mask),
            function(whole, axis, initial=initial, where=chosen),
        )
        same(
            getattr(a, name)(axis, initial=initial, where=mask),
            getattr(whole, name)(axis, initial=initial, where=chosen),
        )
    for name in ("any", "all", "sum"):
        function = getattr(np, name)
        wanted = function(whole, axis, where=chosen, keepdims=True)
        same(function(a, axis, where=mask, keepdims=True), wanted)
        same(getattr(a, name)(axis, where=mask, keepdims=True), wanted)
    if chosen.any():
        close(np.mean(a, where=mask), np.mean(whole, where=chosen))
        close(
            np.mean(a, axis, np.float32, where=mask, keepdims=True),
            np.mean(whole, axis, np.float32, where=chosen, keepdims=True),
        )
        for function in (np.var, np.std):
            close(function(a, where=mask, ddof=0), function(whole, where=chosen, ddof=0))
        close(a.mean(where=mask), whole.mean(where=chosen))
        close(a.var(where=mask), whole.var(where=chosen))
        close(a.std(where=chosen), whole.std(where=chosen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        close(np.std(a, axis, ddof=1, where=mask), np.std(whole, axis, ddof=1, where=chosen))
    same(np.sum(a=a, where=mask), np.sum(whole, where=chosen))
    same(np.max(a, where=True, initial=None), np.max(whole))
    same(np.real(val=a), np.real(whole))
    assert (np.ndim(a=a), np.shape(a=a)) == (whole.ndim, whole.shape)
    refused(
        [
            (lambda: np.min(a, where=mask), "no initial="),
            (lambda: a.max(where=mask), "no initial="),
            (lambda: a.astype("f8").sum(where=mask, reproducible=True), "takes no where="),
            (lambda: a.sum(where=np.ones((7, *a.shape), bool)), "mask of shape"),
            (lambda: np.argmin(a, where=mask), "where"),
        ]
    )


@check
def slopes_and_integrals(rng: random.Random) -> None:
    a, whole = matrix(rng, 2)
    whole = np.concatenate([whole, whole * 2, whole])
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    for found, wanted in zip(np.gradient(a), np.gradient(whole), strict=True):
        close(found, wanted)
    places = np.cumsum(np.arange(1.0, len(whole) + 1))
    close(np.gradient(a, places, axis=0), np.gradient(whole, places, axis=0))
    close(np.gradient(a, 0.5, axis=0, edge_order=2), np.gradient(whole, 0.5, axis=0, edge_order=2))
    close(np.trapezoid(a, dx=0.5), np.trapezoid(whole, dx=0.5))
    close(np.trapezoid(a, places, axis=0), np.trapezoid(whole, places, axis=0))
    v = arrays.from_array(whole[:, 0])
    close(np.gradient(v, arrays.from_array(places)), np.gradient(whole[:, 0], places))
    close(np.gradient(v, 2), np.gradient(whole[:, 0], 2))
    close(np.trapezoid(v, arrays.from_array(places)), np.trapezoid(whole[:, 0], places))
    same(a.take([0, 2], 0), whole.take([0, 2], 0))
    same(a.repeat(2, 1), whole.repeat(2, 1))
    refused(
        [(lambda: np.gradient(a, 1, 2, 3), "3 distances"), (lambda: np.trapezoid(a, [1] * 99), "x has shape")]
    )


@check
def times_have_an_order(rng: random.Random) -> None:
    _, numbers = some_array(rng, "i8")
    for kind in ("datetime64[s]", "timedelta64[ms]"):
        whole = (numbers * 1000).astype(kind)
        a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
        axis = rng.choice([None, *range(a.ndim)])
        for _ in range(2):
            same(np.max(a, axis), np.max(whole, axis))
            same(a.min(axis), whole.min(axis))
            same(np.sort(a, axis), np.sort(whole, axis))
            same(np.argsort(a, axis), np.argsort(whole, axis, kind="stable"))
            whole = whole.copy()
            whole.reshape(-1)[0] = "NaT"
            a = arrays.from_array(whole)
        a.sort()
        same(a, np.sort(whole))


@check
def members_are_found_among_other_dtypes(rng: random.Random) -> None:
    """Signed and unsigned integers of 64 bits are compared exactly, though their common dtype is float64."""
    large, small = np.array([2**63 + 1, 2**53 + 1, 5] * 4, np.uint64), np.array([5, -1, 2**53] * 3)
    a, b = arrays.from_array(large), arrays.from_array(small, dist="cyclic")
    same(np.isin(a, b), large == 5)
    same(np.isin(b, a), small == 5)
    same(np.isin(a, small), large == 5)
    same(np.isin(b, [5.0, 2.5]), small == 5)
    same(np.isin(b, np.array([5, "a", None], object)), small == 5)


@check
def replicated_indices_count_once(rng: random.Random) -> None:
    made, index = arrays.zeros(10, np.int64), np.array([1, 1, 2])
    its = arrays.from_array(index, dist="replicated")
    made.at[its].add(1)
    made.at[its].add(arrays.from_array(np.array([5, 6, 7]), dist="replicated"))
    same(made, np.bincount(index, [6, 7, 8], 10).astype(np.int64))


@check
def members_are_found_in_little_memory(rng: random.Random) -> None:
    """Less than two parts, where numpy.isin takes a dozen of both operands."""
    a = arrays.arange(1_500_000 * atoll.n_pes())
    others = np.arange(0, 1_500_000, 3)
    tracemalloc.start()
    found = np.isin(a, others)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.sum() == 500_000
    assert peak < 2 * a.local.nbytes, (peak, a.local.nbytes)
    x = arrays.from_array(np.array([np.nan, 1.0, 2.0, np.inf]))
    same(np.isin(x, [np.nan, 2, np.inf]), np.array([False, False, True, True]))
    same(np.isin(x, []), np.zeros(4, bool))


if __name__ == "__main__":
    main(int(sys.argv[1]))
