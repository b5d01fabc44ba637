"""The memory that operations on distributed arrays take beside their operands, as docs/arrays.md states it."""

import functools
import gc
import shutil
import sys
import tempfile
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atoll
import atoll.fft
import numpy as np
from atoll import arrays, sparse
from atoll.arrays import _at, _makers, _parts
from atoll.arrays._functions import _products, _statistics
from atoll.sparse import csgraph

atoll.init()
n = atoll.n_pes()
live = most = 0  # bytes of symmetric memory for arrays on this PE: now, and the most since `most` was set
was = _parts.allocate


def allocate(team: Any, shape: Any, dtype: Any, *others: Any) -> Any:
    global live, most
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    made = was(team, shape, dtype, *others)
    live += size
    most = max(live, most)
    weakref.finalize(made, drop, size)
    return made


def drop(size: int) -> None:
    global live
    live -= size


_parts.allocate = allocate
# So that buffers are small beside these arrays, too.
_products.PANEL_BYTES, _statistics.PANEL, _makers.DRAWN, _at.CHUNK = 1 << 18, 1 << 12, 1 << 12, 1 << 12
N = 120_000  # elements of a part
a, b, changed = (arrays.random(N * n, seed=seed) for seed in (1, 2, 3))
rows, others, changed_rows = (arrays.random((250 * n, 480), seed=seed) for seed in (3, 4, 5))
square = arrays.random((600, 600), seed=3).to_numpy()
matrix, symmetric = (arrays.from_array(each + 600 * np.eye(600)) for each in (square, square + square.T))
thin = arrays.random((N // 10 * n, 10), seed=3)
points = arrays.random((N // 2 * n, 2), seed=5)
wide = arrays.random((3, N // 3 * n), seed=1, grid=(1, n))
vectors = arrays.random((N // 3 * n, 3), seed=1, grid=(n, 1))
stack = arrays.random((12 * n, 100, 100), seed=1, grid=(n, 1, 1))
counts = (arrays.random(N * n, seed=4) * 1000).astype(np.int64)
places = (arrays.random(N * n, seed=4) * N * n).astype(np.int64)
mask, row_mask, all_masks = a > 0.5, arrays.random(250 * n, seed=4) > 0.5, rows > 0.5
chosen, chosen_rows, chosen_all = a[mask], rows[row_mask], rows[all_masks]
some, many = (
    np.random.default_rng(1).integers(0, N * n, N),
    np.random.default_rng(2).integers(0, N * n, N * n),
)
table = np.arange(480.0)
values = np.ones(N)
columns = np.reshape(counts // 3, (250 * n, 480))
two = arrays.random(600, seed=1), arrays.random(200 * n, seed=1)  # their outer product has such parts
spectrum = atoll.fft.fftn(rows)
own = np.arange(*a.bounds()[0])
diagonal = sparse.from_triplets(own, own, np.ones(N), (N * n, N * n))
edges = sparse.from_triplets(own, places.local, np.ones(N), (N * n, N * n))
file = Path(atoll.bcast_object(tempfile.mkdtemp())) / "a.npy"
PART = a.local.nbytes
Call = Callable[[], Any]


def write(array: Any, key: Any, value: Any) -> Call:
    return lambda: array.__setitem__(key, value)


def of(array: Any, *names: str) -> dict[str, Call]:
    """Return calls of functions of NumPy with one argument."""
    return {name: functools.partial(getattr(np, name), array) for name in names}


# Temporaries of a PE and its result at most, in parts of the argument.
OF_ARGUMENT: dict[float, dict[str, Call]] = {
    0: {
        **{name: getattr(a, name) for name in ("sum", "prod", "min", "max", "any", "all", "mean")},
        "sum of rows": lambda: rows.sum(1),
        "count_nonzero": lambda: np.count_nonzero(a),
        "ptp": lambda: np.ptp(a),
        "array_equal": lambda: np.array_equal(a, b),
        "array_equiv": lambda: np.array_equiv(a, b),
        "dot": lambda: np.dot(a, b),
        "vdot": lambda: np.vdot(a, b),
        "inner": lambda: np.inner(a, b),
        "bincount": lambda: np.bincount(counts),
        "average": lambda: np.average(a),
        "trace": lambda: np.trace(rows),
        "diagonal": lambda: np.diagonal(rows),
        "a += 1": lambda: changed.__iadd__(1),
        "out=": lambda: np.add(a, b, out=changed),
        "a[mask] = 0": write(changed, mask, 0.5),
        "a[row mask] = 0": write(changed_rows, row_mask, 0.25),
        "a[box] = 1": write(changed, np.s_[5 : N + 5], 1.0),
        "fill_diagonal": lambda: np.fill_diagonal(changed_rows, 1),
        "copyto": lambda: np.copyto(changed, a),
        "a.fill": lambda: changed.fill(2.0),
        "put": lambda: changed.put(np.s_[5 : N + 5], values),
        "get(out=)": lambda: a.get(np.s_[5 : N + 5], out=values),
        "at.add": lambda: changed.at[some].add(1.0),
        "redistribute(out=)": lambda: a.redistribute(out=changed),
        "rows @ x": lambda: rows @ table,
        "x @ rows": lambda: arrays.ones(250 * n) @ rows,
        "apply_along_axis": lambda: np.apply_along_axis(np.sum, 1, rows),
    },
    1: {
        "2 * A": lambda: 2 * diagonal,
        "a + b": lambda: a + b,
        **of(a, "nansum", "nanprod", "nanmean", "cumsum", "cumprod"),
        "mean(where=)": lambda: np.mean(a, where=mask),
        "linalg.norm(1)": lambda: np.linalg.norm(a, 1),
        "maximum.accumulate": lambda: np.maximum.accumulate(a),
        "cumsum of rows": lambda: np.cumsum(rows, 0),
        "polyval": lambda: np.polyval([1, 2, 3], a),
        "isreal": lambda: np.isreal(a),
        "save": lambda: arrays.save(file, a),
        "load": lambda: arrays.load(file),
        "from_array(local=)": lambda: arrays.from_array(local=values),
        "redistribute(halo=)": lambda: a.redistribute(halo=2),
        "copy": a.copy,
        "astype": lambda: a.astype("f4"),
        "transpose": lambda: np.transpose(rows),
        "moveaxis": lambda: np.moveaxis(rows, 0, 1),
        "flip": lambda: np.flip(a),
        "roll": lambda: np.roll(a, 7),
        "reshape": lambda: np.reshape(a, (250 * n, 480)),
        "ravel": lambda: np.ravel(rows),
        "expand_dims": lambda: np.expand_dims(a, 0),
        "atleast_2d": lambda: np.atleast_2d(a),
        "split": lambda: np.split(a, 2),
        "hsplit": lambda: np.hsplit(rows, 2),
        "redistribute": lambda: a.redistribute("cyclic"),
        "redistribute(out=a)": lambda: a.redistribute("block", out=a),
        "a[mask]": lambda: a[mask],
        "extract": lambda: np.extract(mask, a),
        "a[box]": lambda: a[5 : N + 5],
        "accumulate": lambda: changed.accumulate(np.s_[5 : N + 5], values),
        "vecdot": lambda: np.vecdot(rows, others),
        "einsum": lambda: np.einsum("ij,ij->i", rows, others),
        "A @ x": lambda: diagonal @ a,
        "fftshift": lambda: np.fft.fftshift(a),
    },
    2: {
        "histogram": lambda: np.histogram(a, 100),
        "histogram_bin_edges": lambda: np.histogram_bin_edges(a, 10),
        **{name: getattr(a, name) for name in ("var", "std", "argmin", "argmax")},
        **of(a, "nanmin", "nanmax", "nanvar", "nanstd", "trapezoid", "fix"),
        "isin": lambda: np.isin(a, table),
        "allclose": lambda: np.allclose(a, b),
        "linalg.norm": lambda: np.linalg.norm(a),
        "linalg.vector_norm": lambda: np.linalg.vector_norm(rows, axis=0),
        "average(weights=)": lambda: np.average(a, weights=b),
        "var(where=)": lambda: np.var(a, where=mask),
        "around": lambda: np.around(a, 2),
        "digitize": lambda: np.digitize(a, [0.2, 0.5]),
        "interp": lambda: np.interp(a, [0, 0.5, 1], [1, 2, 3]),
        "map_blocks": lambda: rows.map_blocks(np.sin),
        "map_blocks(halo=)": lambda: rows.map_blocks(lambda x: x[1:-1, 1:-1], halo=1),
        "concatenate": lambda: np.concatenate([a, b]),
        "append": lambda: np.append(a, b),
        "rot90": lambda: np.rot90(rows),
        "cumsum, flat": lambda: np.cumsum(rows),
        "cumulative_sum": lambda: np.cumulative_sum(a, include_initial=True),
        "histogramdd": lambda: np.histogramdd(points, 10),
        "where": lambda: np.where(a > 0.5, a, b),
        "a[mask] of several axes": lambda: rows[all_masks],
        "a[row mask]": lambda: rows[row_mask],
        "flatnonzero": lambda: np.flatnonzero(mask),
        "nonzero": lambda: np.nonzero(mask),
        "at.get": lambda: a.at[some].get(),
        "linalg.svdvals": lambda: np.linalg.svdvals(thin),
        "linalg.matrix_rank": lambda: np.linalg.matrix_rank(thin),
        "linalg.cond": lambda: np.linalg.cond(thin),
    },
    3: {
        "a.sort": lambda: changed.sort(),
        **of(a, "sort", "diff", "nanargmin", "nanargmax", "nancumsum"),
        **of(rows, "tril", "triu"),
        "sum(reproducible=True)": lambda: a.sum(reproducible=True),
        "select": lambda: np.select([mask, a > 0.2], [a, b], 0),
        "partition": lambda: np.partition(a, 5),
        "roll, flat": lambda: np.roll(rows, 3),
        "ediff1d": lambda: np.ediff1d(a),
        "insert": lambda: np.insert(a, 5, 1.0),
        "convolve": lambda: np.convolve(a, table),
        "searchsorted": lambda: np.searchsorted(table, a),
        "a[mask] = b": write(changed, mask, chosen),
        "argwhere": lambda: np.argwhere(mask),
        "linalg.qr": lambda: np.linalg.qr(thin),
        "linalg.svd": lambda: np.linalg.svd(thin, full_matrices=False),
        "linalg.lstsq": lambda: np.linalg.lstsq(thin, np.ones(len(thin))),
        "apply_along_axis, cut": lambda: np.apply_along_axis(np.cumsum, 0, rows),
        "stack, one operand": lambda: stack @ np.ones((100, 100)),
    },
    4: {
        "sinc": lambda: np.sinc(a),
        **of(a, "median", "nanmedian", "gradient"),
        "quantile": lambda: np.quantile(a, 0.3),
        "percentile": lambda: np.percentile(a, [10, 20]),
        "diff, twice": lambda: np.diff(a, 2),
        "trapezoid of coordinates": lambda: np.trapezoid(a, b),
        "piecewise": lambda: np.piecewise(a, [a < 0.5, mask], [lambda x: -x, lambda x: x]),
        "a[row mask] = rows": write(changed_rows, row_mask, chosen_rows),
        "cross": lambda: np.cross(vectors, vectors),
        "a[mask] = b of several axes": write(changed_rows, all_masks, chosen_all),
    },
    5: {
        "cov": lambda: np.cov(thin, rowvar=False),
        "corrcoef": lambda: np.corrcoef(thin, rowvar=False),
        "cg": lambda: sparse.cg(diagonal, a),
        "linalg.pinv": lambda: np.linalg.pinv(thin),
    },
    6: {"breadth_first": lambda: csgraph.breadth_first(edges, 0)},
    24: {"pagerank": lambda: csgraph.pagerank(edges)},
    40: {"connected_components": lambda: csgraph.connected_components(edges)},
    7: {"histogram2d": lambda: np.histogram2d(a, b, 10)},
    9: {
        "argsort": lambda: np.argsort(a),
        "argpartition": lambda: np.argpartition(a, 5),
    },
    11: {
        "unique": lambda: np.unique(a),
        "unique_values": lambda: np.unique_values(a),
        "isin of a distributed one": lambda: np.isin(a, b),
        "lexsort": lambda: np.lexsort((a, b)),
    },
    12: {
        "bicgstab": lambda: sparse.bicgstab(diagonal, a),
        "unique(return_counts=True)": lambda: np.unique(a, return_counts=True),
        "intersect1d": lambda: np.intersect1d(a, b),
        "setdiff1d": lambda: np.setdiff1d(a, b),
    },
    17: {
        "unique_all": lambda: np.unique_all(a),
        "unique(return_inverse=True)": lambda: np.unique(a, return_inverse=True),
    },
    15: {
        "from_triplets": lambda: sparse.from_triplets(own, own, values, (N * n, N * n)),
    },
    18: {
        "A.T @ x": lambda: diagonal.T @ a,
        "A + A": lambda: diagonal + diagonal,
    },
    20: {
        "polyfit": lambda: np.polyfit(a, b, 3),
    },
}
# The same in parts of the result.
OF_RESULT: dict[float, dict[str, Call]] = {
    1: {
        "vstack": lambda: np.vstack([rows, others]),
        "hstack": lambda: np.hstack([rows, others]),
        "pad": lambda: np.pad(a, 3),
        "pad of rows": lambda: np.pad(rows, 3, mode="edge"),
        "pad by others": lambda: np.pad(a, 3, mode="wrap"),
        "tile": lambda: np.tile(a, 2),
        "delete": lambda: np.delete(a, 5),
        "add.outer": lambda: np.add.outer(*two),
        "gather": lambda: a.gather(0),
        "to_numpy": lambda: a.to_numpy(),
        "random": lambda: arrays.random(N * n, seed=1),
        "zeros": lambda: arrays.zeros(N * n),
        "full": lambda: arrays.full(N * n, 3.5),
    },
    2: {
        "dstack": lambda: np.dstack([rows, others]),
        "stack": lambda: np.stack([a, b]),
        "column_stack": lambda: np.column_stack([a, b]),
        "repeat of rows": lambda: np.repeat(rows, 2, axis=0),
        "tile of rows": lambda: np.tile(rows, (2, 1)),
        "broadcast_to": lambda: np.broadcast_to(a, (2, N * n)),
        "broadcast_arrays": lambda: np.broadcast_arrays(rows, table),
        "meshgrid": lambda: np.meshgrid(*two),
        "outer": lambda: np.outer(*two),
        "vander": lambda: np.vander(a, 3),
        "unstack": lambda: np.unstack(wide),
        "delete of rows": lambda: np.delete(rows, np.s_[::7], axis=0),
        "fftn": lambda: atoll.fft.fftn(rows),
        "ifftn": lambda: atoll.fft.ifftn(spectrum),
        "fft": lambda: atoll.fft.fft(rows),
    },
    3: {
        "a[places]": lambda: a[places],
        "take(places)": lambda: np.take(a, places),
        "arange": lambda: arrays.arange(N * n, dtype=float),
        "from_function": lambda: arrays.from_function(lambda i: 2.0 * i, N * n),
        "kron": lambda: np.kron(rows, np.ones((2, 2))),
        "rfftn": lambda: atoll.fft.rfftn(rows),
    },
    4: {
        "repeat": lambda: np.repeat(a, 2),
        "take of rows": lambda: np.take(rows, np.arange(250 * n)[::-1], axis=0),
        "take_along_axis": lambda: np.take_along_axis(a, places, 0),
        "a[places] of two axes": lambda: thin[counts],
        "stacks": lambda: stack @ stack,
        "kron of vectors": lambda: np.kron(*two),
    },
    5: {
        "take": lambda: np.take(a, many),
        "reshape one by one": lambda: np.reshape(rows, (300 * n, 400)),
        "fft of a vector": lambda: atoll.fft.fft(a),
        "take_along_axis of two axes": lambda: np.take_along_axis(rows, columns, 1),
    },
}
# The same in parts of a square matrix.
OF_MATRIX: dict[float, dict[str, Call]] = {
    3: {
        "a @ b": lambda: matrix @ symmetric,
        "linalg.det": lambda: np.linalg.det(matrix),
        "linalg.slogdet": lambda: np.linalg.slogdet(matrix),
        "linalg.solve of a vector": lambda: np.linalg.solve(matrix, np.ones(600)),
        "linalg.cholesky": lambda: np.linalg.cholesky(symmetric),
    },
    4: {
        "tensordot": lambda: np.tensordot(matrix, symmetric, ([0], [0])),
        "inner": lambda: np.inner(matrix, symmetric),
        "multi_dot": lambda: np.linalg.multi_dot([matrix, symmetric, matrix]),
        "linalg.solve": lambda: np.linalg.solve(matrix, symmetric),
    },
    5: {
        "linalg.inv": lambda: np.linalg.inv(matrix),
        "matrix_power": lambda: np.linalg.matrix_power(matrix, 3),
    },
}
# The same in parts of the whole matrix, without the memory that LAPACK takes by itself.
OF_WHOLE: dict[float, dict[str, Call]] = {
    1: {"linalg.eigvalsh": lambda: np.linalg.eigvalsh(symmetric)},
    3: {"linalg.eigh": lambda: np.linalg.eigh(symmetric)},
}
SLACK = 0.45  # masks, which have an eighth of a part each, tables and Python's own objects


def used(call: Call) -> tuple[float, float]:
    """Return the most bytes that a PE took for a call, NumPy's and symmetric ones, and those of a PE's part of the result."""
    global most
    call()  # caches and plans
    gc.collect()
    atoll.barrier_all()
    before = most = live
    tracemalloc.start()
    result = call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    every = result if isinstance(result, (tuple, list)) else [result]
    size = sum(x._block.nbytes if hasattr(x, "_layout") else getattr(x, "nbytes", 0) for x in every)
    del result, every
    taken, size = atoll.max_reduce(np.array([peak + most - before, size]))
    return float(taken), float(size)


gc.freeze()  # so that later collections are fast
found = {}
units = PART, 0, matrix.local.nbytes, matrix.nbytes
for cases, unit in zip((OF_ARGUMENT, OF_RESULT, OF_MATRIX, OF_WHOLE), units, strict=True):
    for parts, calls in cases.items():
        for name, call in calls.items():
            taken, size = used(call)
            found[name, parts] = taken / (unit or size)
if atoll.my_pe() == 0 and sys.argv[1:]:
    print("\n".join(f"{parts:4} {name:30} {ratio:.2f}" for (name, parts), ratio in found.items()))
wrong = {key: round(ratio, 2) for key, ratio in found.items() if not ratio <= key[1] + SLACK}
assert not wrong, wrong
loose = {key: round(ratio, 2) for key, ratio in found.items() if key[1] >= 2 and ratio < key[1] / 2}
assert not loose, loose
atoll.barrier_all()
if atoll.my_pe() == 0:
    shutil.rmtree(file.parent)
    print(f"{len(found)} operations")
atoll.finalize()
