"""Functions of distributed arrays on GPUs beside NumPy: transforms, products, scans, order, masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays, fft

from .common import DISTS, equal, kind, made, refused

LINES = [("float32", "block"), ("int64", "cyclic"), ("bool", "block"), ("float64", [0])]
HOSTS = "atoll.arrays.to_device(a, 'cpu')"


def lacks(dtype: str) -> bool:
    """True if the library multiplies no matrices of a dtype."""
    return kind.get("xp") == "torch" and "device" in kind and np.dtype(dtype).kind in "iu"


def line_of(dtype: str, dist: Any, n: int = 61) -> tuple[Any, Any]:
    """Return an array of one axis with equal elements, and NaN among numbers of 64 bits; [0] is all on the last PE."""
    whole = ((np.arange(n) * 37) % 23 - (0 if dtype == "bool" else 4)).astype(dtype)
    if dtype == "float64":
        whole[::9] = np.nan
    if dist == [0]:
        dist = [0] * atoll.n_pes() + [n]
    return arrays.from_array(whole, dist=dist, **kind), whole


def transforms() -> None:
    for dtype, dist in (("float64", "block"), ("complex64", "cyclic"), ("int32", ["whole", "block"])):
        a, x = made(dtype, dist)
        for name in ("fftn", "ifftn", "rfftn", "irfftn"):
            if name == "rfftn" and dtype == "complex64":
                continue
            for given in ({}, {"axes": (0,), "s": (8,)}, {"axes": (1, 0), "norm": "ortho"}):
                found, expected = getattr(fft, name)(a, **given), getattr(np.fft, name)(x, **given)
                assert np.dtype(found.dtype) == (np.asarray(expected).dtype), (name, dtype, found.dtype)
                near(name, found, expected)
        near("transposed", fft.fft2(a, transposed=True), np.fft.fft2(x))
        equal("unchanged", a, x)
    near("numpy.fft", np.fft.fftshift(np.fft.ifft(a, axis=0)), np.fft.fftshift(np.fft.ifft(x, axis=0)))
    b = arrays.from_function(lambda i, j, k: i + 2 * j * j + 3 * k, (6, 5, 4), float, **kind)
    near("3-D", fft.irfftn(fft.rfftn(b), s=b.shape), b.to_numpy())
    for n, m in ((60, None), (61, 64), (1, None)):
        z = np.cos(np.arange(n) ** 2.0)
        line = arrays.from_array(z, **kind)
        near("line", fft.fft(line, m), np.fft.fft(z, m))
        near("line", fft.rfft(line, m), np.fft.rfft(z, m))
        near("line", fft.irfft(line, n + 3), np.fft.irfft(z, n + 3))
        near("line", fft.ifft(fft.fft(line)), z)
    refused("norm", ValueError, "norm", lambda: fft.fftn(a, norm="orth"))


def near(what: str, found: Any, expected: Any) -> None:
    """Compare numbers by the largest of them, as errors of transforms are."""
    size = float(np.abs(expected).max())
    equal(what, found.to_numpy() / size, expected / size, exact=False)


def products() -> None:
    for first, second in (("float32", "float64"), ("complex64", "float32"), ("int32", "int64")):
        for dist in DISTS:
            a, x = made(first, dist)
            b, y = made(second, dist, shift=3)
            if lacks(first):
                refused("@ of integers", atoll.Unsupported, "astype", lambda a=a, b=b: a @ b.T)
                continue
            near("a @ b", a @ b.T, x @ y.T)
        v = arrays.from_array(y[0], **kind)
        if lacks(first):
            continue
        near("a @ x", a @ v, x @ y[0])
        near("x @ a", y[:, 0] @ a, y[:, 0] @ x)
        near("a @ x of NumPy", a @ y[0], x @ y[0])
        near("NumPy @ a", np.dot(y.T, a), y.T @ x)
        equal("v @ v", v @ v, y[0] @ y[0], exact=False)
        equal("vdot", np.vdot(a, b), np.vdot(x, y), exact=False)
    few = arrays.from_array(np.arange(1.0, 3.0), **kind)  # PEs without elements
    equal("dot", few @ few, 5.0)
    equal("outer", few.reshape(2, 1) @ few.reshape(1, 2), [[1, 2], [2, 4]])
    none = arrays.zeros((4, 0), **kind)
    equal("no inner axis", none @ none.T, np.zeros((4, 4)))
    refused("shapes", atoll.ShapeMismatch, "shapes", lambda: a @ few)


def scans() -> None:
    for dtype in ("float64", "int32", "bool", "complex64"):
        for dist in DISTS:
            a, x = made(dtype, dist)
            for axis in (None, 0, 1):
                found, expected = a.cumsum(axis), x.cumsum(axis)
                assert found.dtype == expected.dtype, (dtype, found.dtype)
                near("cumsum", found, expected)
    a, x = made("float64", halo=1)
    near("cumprod", np.cumprod(a / 50 + 0.5, 1), np.cumprod(x / 50 + 0.5, 1))
    near("add.accumulate", np.add.accumulate(a), np.add.accumulate(x))
    near("cumsum", np.cumsum(a, 0, dtype="float32"), np.cumsum(x, 0, dtype="float32"))
    few = arrays.from_array(np.arange(1.0, 3.0), **kind)
    equal("cumsum of few", few.cumsum(), [1, 3])


def orders() -> None:
    for dtype, dist in LINES:
        a, x = line_of(dtype, dist)
        same("sort", np.sort(a), np.sort(x))
        same("argsort", np.argsort(a, stable=True), np.argsort(x, kind="stable"))
        for equal_nan in (True, False):
            expected = np.unique(x, return_counts=True, equal_nan=equal_nan)
            found = np.unique(a, return_counts=True, equal_nan=equal_nan)
            for f, e in zip(found, expected, strict=True):
                same("unique", f, e)
        equal("unchanged", np.isnan(a).sum(), np.isnan(x).sum())
    for dtype, dist in (("float32", "block"), ("int64", ["cyclic", "block"])):
        a, x = made(dtype, dist)
        a, x = np.remainder(a * 7, 5), np.remainder(x * 7, 5)
        for axis in (0, -1, None):
            same("sort", np.sort(a, axis), np.sort(x, axis))
            same("argsort", np.argsort(a, axis, stable=True), np.argsort(x, axis, kind="stable"))
        same("unique_values", np.unique_values(a), np.unique(x))
        for given in ({}, {"bins": [0, 1.5, 3, 4]}, {"bins": 3, "range": (1, 4), "density": True}):
            for found, expected in zip(np.histogram(a, **given), np.histogram(x, **given), strict=True):
                equal("histogram", found, expected)
    equal("bincount", np.bincount(a.ravel(), minlength=9), np.bincount(x.ravel(), minlength=9))
    arrays.shuffle(a, 5)
    order = np.random.Generator(np.random.Philox(key=5)).permutation(len(x))
    equal("shuffle", a, x[order])
    none = arrays.zeros(0, **kind)
    equal("sort of nothing", np.sort(none), np.zeros(0))
    equal("unique of nothing", np.unique(none), np.zeros(0))
    refused("complex", atoll.Unsupported, HOSTS, lambda: np.sort(arrays.ones(3, complex, **kind)))


def same(what: str, found: Any, expected: Any) -> None:
    found = found.to_numpy()
    assert found.dtype == expected.dtype, (what, found.dtype, expected.dtype)
    is_same = (found == expected) | ((found != found) & (expected != expected))
    equal(what, found.shape, expected.shape)
    assert is_same.all(), (what, found, expected)


def masks() -> None:
    for dist in DISTS:
        a, x = made("float32", dist)
        equal("a[mask]", a[a > 40], x[x > 40])
        equal("a[mask], few", a[a == 40], x[x == 40])
        equal("a[mask], none", a[a < 0], x[x < 0])
        for found, expected in zip(np.nonzero(a > 70), np.nonzero(x > 70), strict=True):
            equal("nonzero", found, expected)
        equal("where(mask)", np.where(a < 9)[1], np.where(x < 9)[1])
    line, z = line_of("int64", "cyclic")
    equal("a[mask]", line[line > 3], z[z > 3])
    equal("nonzero", line.nonzero()[0], z.nonzero()[0])
    equal("count_nonzero", np.count_nonzero(line), np.count_nonzero(z))
    refused("indices", atoll.Unsupported, "on hosts", lambda: line[line])


FUNCTIONS: list[Callable[[], None]] = [transforms, products, scans, orders, masks]
