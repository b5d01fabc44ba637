"""Sparse matrices over all PEs beside dense ones of NumPy, and solvers. Each check is by all PEs."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

if "without-scipy" in sys.argv:
    sys.modules["scipy"] = None  # type: ignore[assignment]

import atoll
from atoll import arrays, sparse
from atoll.sparse import _entries, csgraph
from distributed import check, equal, main, refused

HAS_SCIPY = "without-scipy" not in sys.argv


def some_matrix(
    rng: random.Random, rows: int, columns: int, dtype: Any = None
) -> tuple[sparse.SparseMatrix, Any]:
    """Return a matrix whose triplets come from random PEs, some in several terms, and the same in NumPy."""
    dtype = dtype or rng.choice(["f8", "i8", "c16"])
    n = rng.randint(0, 3 * rows)
    i, j = (np.array([rng.randrange(m) for _ in range(n)], int) for m in (rows, columns))
    values = np.arange(1, n + 1).astype(dtype)
    whole = np.zeros((rows, columns), dtype)
    np.add.at(whole, (i, j), values)
    mine = np.array([rng.randrange(atoll.n_pes()) for _ in range(n)], int) == atoll.my_pe()
    return sparse.from_triplets(i[mine], j[mine], values[mine], (rows, columns)), whole


@check
def matrices_become_ordinary_ones(rng: random.Random) -> None:
    rows, columns = rng.randint(1, 20), rng.randint(1, 20)
    a, whole = some_matrix(rng, rows, columns)
    equal(a.toarray(), whole)
    equal(a.sum(), whole.sum())
    equal(a.sum(0).to_numpy(), whole.sum(0))
    equal(a.sum(-1).to_numpy(), whole.sum(1))
    v, w = np.arange(columns).astype("f8"), np.arange(rows).astype("f8")
    equal((a @ v).to_numpy(), whole @ v)
    equal((w @ a).to_numpy(), w @ whole)
    equal((a @ np.outer(v, [1, 2])).to_numpy(), whole @ np.outer(v, [1, 2]))
    if HAS_SCIPY:
        found = a.to_scipy()
        assert found.format == "csr" and found.shape == whole.shape
        equal(found.toarray(), whole)
    refused(
        [
            (lambda: a.sum(2), "expected 0 for the columns"),
            (lambda: a @ np.ones(columns + 1), "expected one axis"),
        ]
    )


@contextlib.contextmanager
def put_from(least: int) -> Iterator[None]:
    """Let owners put entries from so many on; matrices that are multiplied here for the first time keep that."""
    kept = _entries.LEAST
    _entries.LEAST = least
    try:
        yield
    finally:
        _entries.LEAST = kept


@check
def products_are_those_of_dense_matrices(rng: random.Random) -> None:
    rows, columns = rng.randint(1, 30), rng.randint(1, 30)
    with put_from(rng.choice([0, 1 << 16])):
        multiply_vectors(rng, rows, columns)


def multiply_vectors(rng: random.Random, rows: int, columns: int) -> None:
    a, whole = some_matrix(rng, rows, columns)
    v = np.arange(columns).astype(rng.choice(["f8", "i8"]))
    x = arrays.from_array(v, halo=1 if columns >= atoll.n_pes() else 0)
    found = a @ x
    equal(found.to_numpy(), whole @ v)
    out = arrays.zeros(rows, (whole @ v).dtype)
    x.local[...] += 1
    assert a.dot(x, out=out) is out
    equal(out.to_numpy(), whole @ (v + 1))
    y = arrays.from_array(np.arange(rows))
    equal((a.T @ y).to_numpy(), whole.T @ np.arange(rows))
    assert a.nnz == np.count_nonzero(whole) and a.shape == whole.shape and a.T.T.nnz == a.nnz
    last = atoll.my_pe() == atoll.n_pes() - 1
    one = sparse.from_triplets([0], [0], [2], (1, 1)) if last else sparse.from_triplets([], [], [], (1, 1))
    assert one.dtype == np.int64 and one.nnz == 1
    square, same = some_matrix(rng, rows, rows)
    equal(square.diagonal().to_numpy(), same.diagonal())
    if HAS_SCIPY:
        import scipy.sparse

        given = scipy.sparse.coo_array(whole)
        equal((sparse.from_scipy(given) @ x).to_numpy(), whole @ (v + 1))
        start, stop = y.bounds()[0]
        equal((sparse.from_rows(given.tocsr()[start:stop], whole.shape) @ x).to_numpy(), whole @ (v + 1))
        first = scipy.sparse.csr_array(np.ones((1, 1)))
        own = first if atoll.my_pe() == 0 else first[:0].astype("c16")
        assert sparse.from_rows(own, (1, 1)).dtype == np.float64


@check
def entries_that_owners_put_are_those_that_are_read(rng: random.Random) -> None:
    n = rng.randint(1, 40)
    a, whole = some_matrix(rng, n, n, "f8")
    b = a * 1.0  # the same rows, and a plan of its own
    vectors = [
        arrays.from_array(np.cos(np.arange(n) + i).astype(dtype)) for i in range(3) for dtype in ("f8", "f4")
    ]
    with put_from(0):
        put = [a @ x for x in vectors]
    with put_from(1 << 16):
        read = [b @ x for x in vectors]
    assert a._entries is not None and b._entries is not None
    assert b._entries._reads and not a._entries._reads
    for one, other in zip(put, read, strict=True):
        assert one.to_numpy().tobytes() == other.to_numpy().tobytes()
    np.testing.assert_allclose(put[0].to_numpy(), whole @ np.cos(np.arange(n)), atol=1e-9)


@check
def a_product_without_memory_harms_no_later_one(rng: random.Random) -> None:
    n = rng.randint(2, 20)
    a, whole = some_matrix(rng, n, n, "f8")
    x, y = arrays.arange(n, dtype="f8"), arrays.arange(n, dtype="f4")

    def refuse(*_: Any, **__: Any) -> Any:
        raise atoll.OutOfMemory("no memory is left")

    def multiply(x: arrays.DistArray) -> None:
        equal((a @ x).to_numpy(), whole @ np.arange(n))

    kept = _entries.allocate
    with put_from(0):
        multiply(x)
        try:
            _entries.allocate = refuse
            refused([(lambda: a @ y, "no memory is left")])
        finally:
            _entries.allocate = kept
        for each in (x, y, x):
            multiply(each)


@check
def matrices_are_added_and_multiplied(rng: random.Random) -> None:
    rows, columns, width = rng.randint(1, 20), rng.randint(1, 20), rng.randint(1, 4)
    a, whole = some_matrix(rng, rows, columns)
    b, more = some_matrix(rng, rows, columns)
    v, w = (
        np.arange(rows).astype(rng.choice(["f8", "i8"])),
        np.arange(columns * width).reshape(columns, width) * 1.0,
    )
    x = arrays.from_array(v)
    equal((x @ a).to_numpy(), v @ whole)
    eye = np.eye(columns, dtype=whole.dtype)
    every = arrays.from_array(eye, dist=["block", "whole"])

    def dense(matrix: sparse.SparseMatrix) -> Any:
        return (matrix @ every).to_numpy()

    for found, wanted in (
        (a * 2, whole * 2),
        (np.float64(0.5) * a, whole * 0.5),
        (a / 4, whole / 4),
        (-a, -whole),
        (a + b, whole + more),
        (a - b, whole - more),
        (2 * a + b - a, whole + more),
        (a.T.T, whole),
    ):
        assert found.dtype == wanted.dtype and found.shape == whole.shape
        np.testing.assert_array_equal(dense(found), wanted)
    halo = [int(columns >= atoll.n_pes()), 1]
    y = arrays.from_array(w, dist=["block", "whole"], halo=halo)
    equal((a @ y).to_numpy(), whole @ w)
    out = arrays.zeros((rows, width), (whole @ w).dtype, dist=["block", "whole"])
    assert a.dot(y, out) is out
    equal(out.to_numpy(), whole @ w)
    cases: list[tuple[Any, str]] = [
        (lambda: a * x, "unsupported operand"),
        (lambda: a + 1, "unsupported operand"),
        (lambda: x @ sparse.from_triplets([], [], [], (rows + 1, 3)), f"of {rows + 1} elements in blocks"),
        (lambda: a + sparse.from_triplets([], [], [], (rows + 1, 3)), "they must be equal"),
        (lambda: a @ arrays.from_array(w, dist="cyclic(3)", grid=(1, atoll.n_pes())), "makes them"),
    ]
    refused(cases if atoll.n_pes() > 1 else cases[:-1])


@check
def equations_are_solved(rng: random.Random) -> None:
    n = rng.randint(5, 30)
    a, whole = some_matrix(rng, n, n, "f8")
    size = np.abs(whole).sum() + 1
    i = np.arange(n) if atoll.my_pe() == 0 else np.arange(0)
    shifted = sparse.from_triplets(i, i, np.full(len(i), size), (n, n))
    hermitian = whole + whole.T + size * np.eye(n)
    b = arrays.arange(n, dtype=float)
    seen: list[float] = []

    def both(x: arrays.DistArray) -> arrays.DistArray:
        return a @ x + a.T @ x + shifted @ x

    x, info = sparse.cg(both, b, rtol=1e-12, callback=lambda x: seen.append(float(x[0])))
    assert info == 0 and 0 < len(seen) <= n + 2
    np.testing.assert_allclose(x.to_numpy(), np.linalg.solve(hermitian, np.arange(n)), rtol=1e-9, atol=1e-12)
    taken = len(seen)
    again, info = sparse.cg(both, b, x, rtol=1e-9, callback=lambda x: seen.append(float(x[0])))
    assert info == 0 and len(seen) == taken and again is not x  # x was the solution already
    start = arrays.full(n, 0.5)
    x, info = sparse.cg(both, b, start, rtol=1e-12, M=lambda r: r / size)
    np.testing.assert_allclose(x.to_numpy(), np.linalg.solve(hermitian, np.arange(n)), rtol=1e-9, atol=1e-12)
    assert start[0] == 0.5

    def a_and_shifted(x: arrays.DistArray) -> arrays.DistArray:
        return a @ x + shifted @ x

    x, info = sparse.bicgstab(a_and_shifted, b, rtol=1e-12, M=lambda r: r / size)
    assert info == 0
    np.testing.assert_allclose(
        x.to_numpy(), np.linalg.solve(whole + size * np.eye(n), np.arange(n)), rtol=1e-9, atol=1e-12
    )
    # Operators may write all their results into one array, and read what other PEs have of x.
    image, prepared = arrays.zeros(n), arrays.zeros(n)

    def reused(x: arrays.DistArray) -> arrays.DistArray:
        image.local[...] = (whole @ x[:] + size * x[:])[slice(*x.bounds()[0])]
        return image

    def prepare(r: arrays.DistArray) -> arrays.DistArray:
        prepared[...] = r / size
        return prepared

    numbers = arrays.full(n, 2**32 - 1, "i8")  # the square overflows
    steps = []
    for operator, right in ((reused, b), (lambda x: reused(x).copy(), b), (a_and_shifted, numbers)):
        seen.clear()
        x, info = sparse.bicgstab(operator, right, rtol=1e-12, M=prepare, callback=lambda x: seen.append(0.0))
        steps.append(len(seen))
        wanted = np.linalg.solve(whole + size * np.eye(n), right.to_numpy().astype(float))
        assert info == 0
        np.testing.assert_allclose(x.to_numpy(), wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max())
    assert steps[0] == steps[1]
    x, info = sparse.cg(shifted, numbers, arrays.full(n, 1j), rtol=1e-12)
    assert info == 0 and x.dtype == np.complex128
    np.testing.assert_allclose(x.to_numpy(), (2.0**32 - 1) / size)
    x, info = sparse.cg(shifted, b * 0)
    assert info == 0 and not x.any()


@check
def a_solver_reports_steps_that_do_not_suffice(rng: random.Random) -> None:
    n = 40
    first = arrays.zeros(n).bounds()[0]
    i = np.arange(*first)
    line = sparse.from_triplets(
        np.concatenate([i, i[i > 0], i[i < n - 1]]),
        np.concatenate([i, i[i > 0] - 1, i[i < n - 1] + 1]),
        np.concatenate([np.full(len(i), 2.0), np.full(np.sum(i > 0) + np.sum(i < n - 1), -1.0)]),
        (n, n),
    )
    b = arrays.ones(n)
    assert sparse.cg(line, b, maxiter=3)[1] == 3
    assert sparse.bicgstab(line, b, maxiter=3)[1] == 3
    x, info = sparse.cg(line, b, rtol=1e-10)
    wanted = (np.arange(n) + 1) * (n - np.arange(n)) / 2
    assert info == 0
    np.testing.assert_allclose(x.to_numpy(), wanted, rtol=1e-8)
    assert len(line._far_columns) <= 2 and "fetches" in repr(line)


def levels_and_parents(edges: Any, source: int) -> tuple[Any, Any]:
    """Search a dense graph level by level; the parent is the least vertex of the level before."""
    n = len(edges)
    levels, parents = np.full(n, -1), np.full(n, -1)
    levels[source] = 0
    for level in range(1, n):
        reached = edges & (levels == level - 1)[:, np.newaxis] & (levels < 0)
        found = reached.any(axis=0)
        levels[found], parents[found] = level, reached.argmax(axis=0)[found]
    return levels, parents


@check
def graphs_are_searched_ranked_and_divided(rng: random.Random) -> None:
    n = rng.choice([1, 5, 30, 60])
    a, whole = some_matrix(rng, n, n, rng.choice(["f8", "i8"]))
    edges, source = whole != 0, rng.randrange(n)
    if rng.random() < 0.5:  # a long path besides
        order = np.array(rng.sample(range(n), n))
        is_last = atoll.my_pe() == atoll.n_pes() - 1
        i, j = (order[:-1], order[1:]) if is_last else (order[:0], order[:0])
        a = sparse.from_triplets(i, j, np.ones(len(i)), (n, n))
        edges = np.zeros((n, n), bool)
        edges[order[:-1], order[1:]] = True
        whole = edges.astype(float)
        source = int(order[n // 2])
    for directed in (True, False):
        found = csgraph.breadth_first(a, source, directed=directed)
        wanted = levels_and_parents(edges if directed else edges | edges.T, source)
        for one, other in zip(found, wanted, strict=True):
            equal(one.to_numpy(), other)
    k = np.arange(1, 20) if atoll.my_pe() == 0 else np.arange(0)  # many ways from 0 to 20, of two edges each
    fan = sparse.from_triplets(np.append(0 * k, k), np.append(k, 0 * k + 20), np.ones(2 * len(k)), (21, 21))
    equal(csgraph.breadth_first(fan, 0)[1].to_numpy(), np.array([-1, *[0] * 19, 1]))
    count, labels = csgraph.connected_components(a)
    least = np.array([np.flatnonzero(levels_and_parents(edges | edges.T, v)[0] >= 0)[0] for v in range(n)])
    equal(labels.to_numpy(), np.unique(least, return_inverse=True)[1])
    assert count == len(np.unique(least))
    ranks, info = csgraph.pagerank(a, 0.5, tol=1e-12)
    out = whole.sum(axis=1, keepdims=True)
    follow = np.where(out > 0, whole / np.where(out > 0, out, 1), 1 / n).T
    exact = np.linalg.solve(np.eye(n) - 0.5 * follow, np.full(n, 0.5 / n))
    assert info == 0
    np.testing.assert_allclose(ranks.to_numpy(), exact, rtol=1e-9, atol=1e-12)
    assert n == 1 or csgraph.pagerank(a, tol=0.0, maxiter=2)[1] in (0, 2)
    if HAS_SCIPY:
        from scipy.sparse import csgraph as theirs

        assert theirs.connected_components(whole)[0] == count
        equal(labels.to_numpy(), theirs.connected_components(whole)[1].astype(np.int64))
        distances = theirs.shortest_path(whole, unweighted=True, indices=source)
        levels = csgraph.breadth_first(a, source)[0]
        equal(levels.to_numpy(), np.where(np.isinf(distances), -1, distances).astype(np.int64))


@check
def mistakes_are_refused(rng: random.Random) -> None:
    a = sparse.from_triplets([0], [1], [1.0], (3, 4))
    last = atoll.my_pe() == atoll.n_pes() - 1
    x, one, whole = arrays.ones(4), np.ones(1), np.ones((3, 3))
    square = sparse.from_triplets([2] if last else [], [0] if last else [], [-1.0] if last else [], (3, 3))
    multiply, ends = atoll._atoll._row_products, np.array([0, 1], "i4")
    refused(
        [
            (
                lambda: multiply(ends, ends[:1], one, one, np.ones(2)),
                "indptr must have a number more than out",
            ),
            (lambda: multiply(ends, [0], one, one, one), "indices"),
            (lambda: multiply(ends, ends[:1], one, np.ones(1, "f4"), one), "x must be contiguous"),
            (
                lambda: multiply(ends, ends[:1], *[np.ones(1, "i8")] * 3),
                "must be of float32 or float64, not int64",
            ),
            (lambda: a @ np.ones(()), "x is ndarray, not a distributed array"),
            (lambda: a @ arrays.ones(3), "expected one axis of 4 elements in blocks"),
            (lambda: a.dot(x, out=arrays.ones(3, "i8")), "out has dtype int64"),
            (lambda: a.diagonal(), "shape (3, 4) is not square"),
            (lambda: sparse.from_triplets([0], [1, 2], one, (3, 4)), "shapes (1,), (2,) and (1,)"),
            (
                lambda: sparse.from_triplets([3 if last else 0], [1], one, (3, 4)),
                "has row 3; expected 0 to 2",
            ),
            (
                lambda: sparse.from_triplets([0], [-1], one, (3, 4)),
                "element 0 has column -1; expected 0 to 3",
            ),
            (lambda: sparse.from_triplets([0], [0], ["a"], (3, 3)), "expected numbers"),
            (lambda: sparse.from_triplets([0], [0], one, (3,)), "expected the numbers of rows and columns"),
            (lambda: sparse.from_scipy(np.ones((3, 3))), "takes a sparse matrix of SciPy, not ndarray"),
            (lambda: sparse.cg(a, np.ones(3)), "b is ndarray, not a distributed array"),  # type: ignore[arg-type]
            (lambda: sparse.cg(3, x), "an operator is a SparseMatrix"),
            (
                lambda: sparse.cg(lambda x: 3, x),
                "the operator returned 3; expected an array distributed as b",
            ),  # type: ignore[arg-type, return-value]
            (lambda: csgraph.pagerank(a), "pagerank(): shape (3, 4) is not square"),
            (lambda: csgraph.breadth_first(whole, 0), "the graph is ndarray; expected a SparseMatrix"),  # type: ignore[arg-type]
            (
                lambda: csgraph.breadth_first(square, 3),
                "vertex 3 does not exist; the graph has vertices 0 to 2",
            ),
            (lambda: csgraph.pagerank(square, 1.5), "damping=1.5"),
            (
                lambda: csgraph.pagerank(square),
                f"PE {min(atoll.n_pes() - 1, 2)} has a value that is negative",
            ),
            (lambda: sparse.cg(a, x, arrays.ones(5)), "expected the same distribution"),
            (lambda: sparse.cg(a, x, np.ones(4)), "x0 is ndarray, not a distributed array"),  # type: ignore[arg-type]
        ]
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
