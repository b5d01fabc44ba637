"""Sparse matrices, solvers and graphs on GPUs beside NumPy's dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays, sparse
from atoll.sparse import csgraph

from .common import equal, kind, made, refused

AWAY = "atoll.arrays.to_device(a, 'cpu')"
Both = tuple[sparse.SparseMatrix, Any]


def some_matrix(rows: int, columns: int, dtype: str, **where: Any) -> Both:
    """Return a matrix whose triplets come from all PEs, some places twice, and the same in NumPy."""
    rng = np.random.default_rng(rows * columns)
    i, j = rng.integers(0, rows, 2 * rows), rng.integers(0, columns, 2 * rows)
    values = (np.arange(1, 2 * rows + 1) * (1 - 0.5j if dtype.startswith("c") else 1)).astype(dtype)
    whole = np.zeros((rows, columns), dtype)
    np.add.at(whole, (i, j), values)
    mine = slice(atoll.my_pe(), None, atoll.n_pes())
    return sparse.from_triplets(i[mine], j[mine], values[mine], (rows, columns), **where), whole


def products() -> None:
    for dtype, other in (("float64", "float64"), ("float32", "float32"), ("float32", "float64"), ("complex64", "float32"), ("float64", "int64")):  # fmt: skip
        a, whole = some_matrix(23, 31, dtype, **kind)
        v = np.arange(31).astype(other)
        x = arrays.from_array(v, halo=1, **kind)
        found = a @ x
        assert found.dtype == (whole @ v).dtype and found._library is x._library
        equal("sparse A @ x", found, whole @ v, exact=False)
        out = arrays.zeros(23, found.dtype, **kind)
        for turn in range(3):  # by the same plan
            x.local[...] += 1
            assert a.dot(x, out=out) is out
            equal("sparse A @ x", out, whole @ (v + turn + 1), exact=False)
        y = arrays.from_array(np.arange(23).astype(other), **kind)
        equal("sparse A.T @ x", a.T @ y, whole.T @ np.arange(23).astype(other), exact=False)
    a, whole = some_matrix(20, 20, "float64", **kind)
    equal("diagonal", a.diagonal(), whole.diagonal())
    none = sparse.from_triplets([], [], np.zeros(0), (5, 4), **kind)
    equal("sparse A @ x", none @ arrays.ones(4, **kind), np.zeros(5))
    there = arrays.to_device(a, "cpu")
    v = np.arange(20.0)
    equal("a matrix to_device", there @ arrays.from_array(v), whole @ v, exact=False)
    back = arrays.to_device(there, **{"device": "cpu", **kind})
    equal("a matrix to_device", back @ arrays.from_array(v, **kind), whole @ v, exact=False)


def line_matrix(n: int, dtype: str) -> Both:
    """Return the matrix of second differences, each PE with its rows."""
    first, stop = arrays.zeros(n).bounds()[0]
    i = np.arange(first, stop)
    left, right = i[i > 0], i[i < n - 1]
    columns = np.concatenate([i, left - 1, right + 1])
    values = np.where(np.arange(len(columns)) < len(i), 2.5, -1).astype(dtype)
    a = sparse.from_triplets(np.concatenate([i, left, right]), columns, values, (n, n), **kind)
    return a, (2.5 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)).astype(dtype)


def solvers() -> None:
    n = 40
    for dtype, rtol in (("float64", 1e-12), ("float32", 1e-6), ("complex64", 1e-6)):
        a, whole = line_matrix(n, dtype)
        b = arrays.arange(n, dtype=float, **kind).astype("float32" if dtype != "float64" else dtype)
        wanted = np.linalg.solve(whole.real.astype(float), np.arange(n))
        for solve in (sparse.cg, sparse.bicgstab):
            seen: list[int] = []
            x, info = solve(a, b, rtol=rtol, callback=lambda x: seen.append(x.size))  # noqa: B023
            assert info == 0 and x._library is b._library and 0 < len(seen) < n, (info, len(seen))
            assert x.dtype == dtype, (x.dtype, dtype)
            scale = np.abs(wanted).max()
            equal("solved", x / scale, wanted / scale, exact=False)
        x, info = sparse.cg(a, b, x, rtol=1e-5, maxiter=0)
        assert info == 0  # it began at the solution
    a, whole = line_matrix(n, "float64")
    b = arrays.ones(n, **kind)
    x, info = sparse.cg(lambda x: a @ x + x, b, rtol=1e-12, M=lambda r: r / 3.5)
    assert info == 0
    equal("solved", x, np.linalg.solve(whole + np.eye(n), np.ones(n)), exact=False)
    u, w = made("float64")
    square, info = sparse.cg(lambda x: x * 2, u)  # an unknown with two axes
    assert info == 0
    equal("solved", square, w / 2, exact=False)


def ranks() -> None:
    on_gpu, _ = some_matrix(30, 30, "float64", **kind)
    on_host = arrays.to_device(on_gpu, "cpu")
    found, info = csgraph.pagerank(on_gpu, 0.5, tol=1e-12)
    expected, _ = csgraph.pagerank(on_host, 0.5, tol=1e-12)
    assert info == 0
    equal("pagerank", found, expected.to_numpy(), exact=False)
    refused("breadth_first", atoll.Unsupported, AWAY, lambda: csgraph.breadth_first(on_gpu, 0))
    refused("components", atoll.Unsupported, AWAY, lambda: csgraph.connected_components(on_gpu))


def mistakes() -> None:
    a, _ = some_matrix(20, 20, "float64", **kind)
    h, _ = some_matrix(20, 20, "float64")
    x, y = arrays.ones(20, **kind), arrays.ones(20)
    assert x._library.text in repr(a), a
    refused("two places", atoll.InvalidArgument, "to_device", lambda: h @ x)
    refused("two places", atoll.InvalidArgument, "to_device", lambda: a @ y)
    refused("two places", atoll.InvalidArgument, "to_device", lambda: sparse.cg(a, y))
    refused(
        "two places within a call",
        atoll.InvalidArgument,
        "takes matrices",
        lambda: sparse.cg(lambda x: h @ x, x),
    )
    whole = np.arange(3) if atoll.my_pe() == 0 else np.arange(0)
    integers = lambda: sparse.from_triplets(whole, whole, whole, (3, 3), **kind)  # noqa: E731
    refused("integers", atoll.Unsupported, "values.astype(float)", integers)


EQUATIONS: tuple[Callable[[], None], ...] = (products, solvers, ranks, mistakes)
