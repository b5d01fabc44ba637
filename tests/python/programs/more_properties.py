"""The other operations for distributed_properties.py: choices, products, histograms, shapes and assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from properties import Draw, Drawn, an_axis, arrays_of, declare, operation, some_axes


@operation
def sums_of_chosen(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 f4", finite=True))
    chosen = draw(arrays_of("?", shape=x.shape))
    name, axis = draw(st.sampled_from(["sum", "any", "all", "mean", "var", "min", "max"])), some_axes(draw, x)
    initial = {"initial": 2} if name in ("sum", "min", "max") else {}
    if draw(st.booleans()):
        return [x, chosen], lambda a, b: getattr(a, name)(axis=axis, where=b, **initial)
    return [x, chosen], lambda a, b: getattr(np, name)(a, axis=axis, where=b, **initial)


@operation
def norm(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 f4 i8 c16", least=1, finite=True))
    if x.ndim == 2 and draw(st.booleans()):
        ord_ = draw(st.sampled_from([None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"]))
        return [x], lambda a: np.linalg.norm(a, ord_)
    ord_, axis = draw(st.sampled_from([None, 1, 2, 3, np.inf, -np.inf, 0])), an_axis(draw, x, none=False)
    return [x], lambda a: np.linalg.norm(a, ord_, axis)


@operation
def where(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    y = draw(arrays_of(shape=draw(st.sampled_from([x.shape, x.shape[-1:]]))))
    return [x, y], lambda a, b: np.where(a > 1, a, b)


@operation
def clip(draw: Draw) -> Drawn:
    low, high = draw(st.sampled_from([(0, 2), (None, 1), (-1, None), (1.5, 3)]))
    return [draw(arrays_of("f8 i8 f4"))], lambda a: np.clip(a, low, high)


@operation
def partition(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 u1", least=1, finite=True))
    axis = an_axis(draw, x, none=False)
    kth = draw(st.integers(0, x.shape[axis] - 1))
    return [x], lambda a: np.sort(np.take(np.partition(a, kth, axis), np.arange(kth + 1), axis), axis)


@operation
def unique(draw: Draw) -> Drawn:
    options: Any = {f"return_{name}": draw(st.booleans()) for name in ("index", "inverse", "counts")}
    options["equal_nan"] = draw(st.booleans())
    return [draw(arrays_of())], lambda a: np.unique(a, **options)


@operation
def unique_values(draw: Draw) -> Drawn:
    return [draw(arrays_of())], lambda a: np.sort(np.unique_values(a))


@operation
def lexsort(draw: Draw) -> Drawn:
    x = draw(arrays_of("i8 u1", axes=(1, 1)))
    return [x, draw(arrays_of("f8", shape=x.shape, finite=True)) // 3], lambda a, b: np.lexsort((a, b))


@operation
def searchsorted(draw: Draw) -> Drawn:
    x, y = np.sort(draw(arrays_of("i8 f8 u1", axes=(1, 1)))), draw(arrays_of("i8 f8 u1"))
    side = draw(st.sampled_from(["left", "right"]))
    return (
        ([x, y], lambda a, b: np.searchsorted(a, b, side))
        if draw(st.booleans())
        else ([x], lambda a: np.searchsorted(a, y, side))
    )


@operation
def histogram(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 u1", finite=True))
    bins: Any = draw(st.sampled_from([1, 4, [0, 1, 4, 9], [-9.0, 0.5, 3], "sturges", "sqrt"]))
    options: Any = draw(st.sampled_from([{}, {"range": (0, 8)}, {"density": True}]))
    if isinstance(bins, str) or draw(st.booleans()):
        return [x], lambda a: np.histogram(a, bins, **options)
    return [x, draw(arrays_of("f8 i8", shape=x.shape, finite=True))], lambda a, b: np.histogram(
        a, bins, weights=b, **options
    )


@operation
def histogram2d(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8", axes=(1, 1), finite=True))
    bins: Any = draw(st.sampled_from([3, [2, 4], [[0, 1, 5.0], 3]]))
    return [x, draw(arrays_of("f8", shape=x.shape, finite=True))], lambda a, b: np.histogram2d(a, b, bins)


@operation
def bincount(draw: Draw) -> Drawn:
    x = draw(arrays_of("u1", axes=(1, 1)))
    weights, least = draw(arrays_of("f8 i8", shape=x.shape)), draw(st.sampled_from([0, 3, 30]))
    return (
        ([x], lambda a: np.bincount(a, minlength=least))
        if draw(st.booleans())
        else ([x, weights], lambda a, b: np.bincount(a, b, least))
    )


@operation
def gradient(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 f4", least=3))
    axis, order = some_axes(draw, x), draw(st.sampled_from([1, 2]))
    return [x], lambda a: np.gradient(a, 2.0, axis=axis, edge_order=order)


def of_vectors(draw: Draw, f: Any) -> Drawn:
    return [draw(arrays_of()), draw(arrays_of())], f


declare("outer", of_vectors)


def of_bins(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of("f8 i8"))
    return [x], (lambda a: f(a, [0, 1, 5])) if f is np.digitize else (lambda a: f(a, [0, 1, 5], [3, -1, 2.5]))


declare("digitize interp", of_bins)


@operation
def select(draw: Draw) -> Drawn:
    return [draw(arrays_of("f8 i8"))], lambda a: np.select([a < 0, a > 3], [a, a * a], 7)


def compared(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of("f8 i8"))
    return [x, x + draw(st.integers(0, 1))], f


declare("allclose array_equal", compared)


def covariances(draw: Draw, f: Any) -> Drawn:
    x, rowvar = draw(arrays_of("f8 i8", axes=(1, 2), least=2, finite=True)), draw(st.booleans())
    return [x], lambda a: f(a, rowvar=rowvar)


declare("cov corrcoef", covariances)


@operation
def take(draw: Draw) -> Drawn:
    x = draw(arrays_of(least=1))
    axis = an_axis(draw, x)
    n = x.size if axis is None else x.shape[axis]
    if draw(st.booleans()):
        return [x, draw(arrays_of("i8", axes=(1, 2))) % n], lambda a, b: np.take(a, b, axis)
    one = st.integers(-n, n - 1)
    at = np.array(
        draw(one | st.lists(one, max_size=5) | st.lists(st.tuples(one, one), min_size=1, max_size=3)), int
    )
    return [x], lambda a: np.take(a, at, axis)


@operation
def take_along_axis(draw: Draw) -> Drawn:
    x = draw(arrays_of(least=1))
    axis = an_axis(draw, x, none=False)
    return [x], lambda a: np.take_along_axis(a, np.argsort(a, axis, kind="stable"), axis)


@operation
def tile(draw: Draw) -> Drawn:
    times: Any = draw(st.sampled_from([2, (2,), (1, 2), (2, 1, 2), (0,), (3, 1)]))
    return [draw(arrays_of())], lambda a: np.tile(a, times)


@operation
def pad(draw: Draw) -> Drawn:
    mode: Any = draw(st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]))
    width: Any = draw(st.sampled_from([1, 2, (1, 3), 0]))
    return [draw(arrays_of(least=1))], lambda a: np.pad(a, width, mode)


@operation
def broadcast_to(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    shape = (
        *draw(st.sampled_from([(2,), (), (3, 1)])),
        *(draw(st.just(4)) if n == 1 else n for n in x.shape),
    )
    return [x], lambda a: np.broadcast_to(a, shape)


@operation
def broadcast_arrays(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    return [x, draw(arrays_of(shape=x.shape[-1:]))], np.broadcast_arrays


@operation
def meshgrid(draw: Draw) -> Drawn:
    indexing: Any = draw(st.sampled_from(["xy", "ij"]))
    given = [draw(arrays_of(axes=(1, 1))) for _ in range(draw(st.integers(1, 3)))]
    return given, lambda *a: np.meshgrid(*a, indexing=indexing)


@operation
def expand_dims(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    axis = draw(st.integers(-x.ndim - 1, x.ndim))
    return [x], lambda a: np.expand_dims(a, axis)


@operation
def squeeze(draw: Draw) -> Drawn:
    shape = tuple(draw(st.lists(st.sampled_from([1, 1, 3]), min_size=1, max_size=3)))
    return [draw(arrays_of(shape=shape))], np.squeeze


@operation
def permute_dims(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    order = draw(st.permutations(range(x.ndim)))
    return [x], lambda a: np.permute_dims(a, order)


@operation
def flip(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    axis = some_axes(draw, x)
    return [x], lambda a: np.flip(a, axis)


@operation
def roll(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    axis, shift = an_axis(draw, x), draw(st.integers(-9, 9))
    return [x], lambda a: np.roll(a, shift, axis)


@operation
def reshape(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    shape = draw(st.sampled_from([(-1,), x.shape[::-1], (1, -1), (x.size,), (-1, 1), (*x.shape, 1)]))
    return [x], lambda a: np.reshape(a, shape)


@operation
def compress(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    axis = an_axis(draw, x)
    condition = draw(st.lists(st.booleans(), max_size=x.size if axis is None else x.shape[axis]))
    return [x], lambda a: np.compress(np.array(condition, bool), a, axis)


@operation
def extract(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    return [x, draw(arrays_of("?", shape=x.shape))], lambda a, b: np.extract(b, a)


@operation
def convolve(draw: Draw) -> Drawn:
    x, y = (draw(arrays_of(dtypes, axes=(1, 1))) for dtypes in ("f8 i8 c16", "f8 i8"))
    mode: Any = draw(st.sampled_from(["full", "same", "valid"]))
    return (
        ([x, y], lambda a, b: np.convolve(a, b, mode))
        if draw(st.booleans())
        else ([x], lambda a: np.convolve(a, y, mode))
    )


@operation
def cross(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8", axes=(1, 2)))
    x = np.stack([x, x + 1, x * 2], -1)
    return [x, x[::-1] + 2], np.cross


@operation
def polyval(draw: Draw) -> Drawn:
    coefficients = draw(st.sampled_from([[1, 2, 3], [2.5], [1.0, 0]]))
    return [draw(arrays_of("f8 i8 c16"))], lambda a: np.polyval(coefficients, a)


@operation
def matmul(draw: Draw) -> Drawn:
    rows, inner, columns = draw(st.tuples(*[st.integers(0, 6)] * 3))
    stacks = draw(st.sampled_from([((), ()), ((2,), ()), ((1,), (3,)), ((0,), (1,)), ((2,), (2,))]))
    x, y = (
        draw(arrays_of("f8 i8 c16 f4", shape=(*stack, *shape)))
        for stack, shape in zip(stacks, ((rows, inner), (inner, columns)), strict=True)
    )
    which = draw(st.sampled_from(["both", "left", "right"]))
    return {"both": ([x, y], np.matmul), "left": ([x], lambda a: a @ y), "right": ([y], lambda b: x @ b)}[
        which
    ]


@operation
def matrix_times_vector(draw: Draw) -> Drawn:
    rows, columns = draw(st.tuples(*[st.integers(0, 6)] * 2))
    x, y = draw(arrays_of("f8 i8 c16", shape=(rows, columns))), draw(arrays_of("f8 i8", shape=(columns,)))
    return ([x, y], np.matmul) if draw(st.booleans()) else ([x.T.copy(), y], lambda a, b: b @ a)


def of_products(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of("f8 i8 c16", axes=(2 if f is np.tensordot else 1, 3), finite=True))
    shape = (
        draw(st.sampled_from([x.shape[-1:], (x.shape[-1], 2), (3, x.shape[-1], 2)]))
        if f is np.dot
        else x.shape
    )
    y = draw(arrays_of("f8 i8", shape=(3, x.shape[-1]) if f is np.inner else shape, finite=True))
    if f is np.tensordot:
        axes: Any = draw(st.sampled_from([([0], [0]), ([0, 1], [0, 1]), ([-1], [-1])]))
        return [x, y], lambda a, b: f(a, b, axes)
    return [x, y], f


declare("dot inner vdot linalg.vecdot tensordot", of_products)


@operation
def einsum(draw: Draw) -> Drawn:
    rows, inner, columns = draw(st.tuples(*[st.integers(1, 6)] * 3))
    if draw(st.booleans()):
        subscripts = draw(st.sampled_from(["ij->ji", "ij->i", "ij->", "ii", "ii->i"]))
        return [draw(arrays_of("f8 i8", shape=(rows, rows)))], lambda a: np.einsum(subscripts, a)
    subscripts = draw(
        st.sampled_from(["ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->ijk", "ij,jk->j", "ij,jk->i"])
    )
    x, y = draw(arrays_of("f8 i8", shape=(rows, inner))), draw(arrays_of("f8 i8", shape=(inner, columns)))
    return [x, y], lambda a, b: np.einsum(subscripts, a, b)


@operation
def qr(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 f4 c16 i8", axes=(2, 2), least=1, finite=True))
    return [x], lambda a: np.matmul(*np.linalg.qr(a))


@operation
def solve(draw: Draw) -> Drawn:
    n = draw(st.integers(0, 7))
    x = draw(arrays_of("f8 f4 c16 i8", shape=(n, n), finite=True))
    right = draw(arrays_of("f8 i8", shape=draw(st.sampled_from([(n,), (n, 2)])), finite=True))
    return [x + 40 * np.eye(n, dtype=x.dtype), right], np.linalg.solve


def of_square(draw: Draw, f: Any) -> Drawn:
    n = draw(st.integers(0, 7))
    x = draw(arrays_of("f8 f4 c16 i8", shape=(n, n), finite=True))
    return [x @ x.conj().T + 9 * np.eye(n, dtype=x.dtype)], f


declare("linalg.inv linalg.slogdet linalg.cholesky linalg.eigvalsh", of_square)


@operation
def chosen_by_a_mask(draw: Draw) -> Drawn:
    x = draw(arrays_of())
    return [x, draw(arrays_of("?", shape=x.shape[: draw(st.integers(1, x.ndim))]))], lambda a, b: a[b]


@operation
def written_by_a_mask(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8"))
    mask = draw(arrays_of("?", shape=x.shape[: draw(st.integers(1, x.ndim))]))

    def written(a: Any, b: Any) -> Any:
        made = a.copy()
        made[b] = 7
        made[made > 1] += 3
        made[made > 2] = made[made > 2] * 2
        return made

    return [x, mask], written


@operation
def added_at(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8", least=1, finite=True))
    at = draw(arrays_of("i8", axes=(1, 2))) % x.shape[0]

    def added(a: Any) -> Any:
        made = a.copy()
        np.add.at(made, at, 2)
        return made

    return [x], added


@operation
def in_place(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8"))
    name = draw(st.sampled_from(["__iadd__", "__isub__", "__imul__"]))
    return [x, draw(arrays_of("i8", shape=x.shape))], lambda a, b: getattr(a.copy(), name)(b)


@operation
def astype(draw: Draw) -> Drawn:
    dtype = draw(st.sampled_from(["f4", "i8", "c16", "?"]))
    return [draw(arrays_of("f8 i8 u1", finite=True))], lambda a: np.astype(a, np.dtype(dtype))


@operation
def boxes(draw: Draw) -> Drawn:
    x, key = draw(arrays_of()), []
    for n in x.shape:
        end = st.none() | st.integers(-n - 2, n + 2)
        one = st.builds(slice, end, end, st.sampled_from([None, 1, 2, -1, -2]))
        key.append(draw(st.integers(-n, n - 1) | one) if n else draw(one))
    if draw(st.booleans()):
        key = [*key[:1], ...]
    if draw(st.booleans()):
        key.insert(0, None)
    return [x], lambda a: a[tuple(key)]


@operation
def chosen_by_indices(draw: Draw) -> Drawn:
    x = draw(arrays_of(least=1))
    at = np.array(draw(st.lists(st.integers(-x.shape[0], x.shape[0] - 1), max_size=6)), int)
    keys = [
        at,
        (at, ..., None),
        (at[:, None], ...),
        (..., np.arange(x.shape[-1])[::-1]),
        np.arange(x.shape[0]) % 2 == 0,
    ]
    key: Any = draw(st.sampled_from(keys))
    return [x], lambda a: a[key]


@operation
def chosen_by_distributed_indices(draw: Draw) -> Drawn:
    x = draw(arrays_of(least=1))
    return [x, draw(arrays_of("i8", axes=(1, 2))) % x.shape[0]], lambda a, b: a[b]


def like(draw: Draw, f: Any) -> Drawn:
    dtype = draw(st.sampled_from([None, "f4"]))
    return [draw(arrays_of())], (lambda a: f(a, 3, dtype)) if f is np.full_like else (
        lambda a: np.zeros_like(f(a, dtype)) if f is np.empty_like else f(a, dtype)
    )


declare("zeros_like ones_like full_like empty_like", like)


@operation
def methods(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 f4"))
    names = [
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "any",
        "all",
        "cumsum",
        "cumprod",
        "min",
        "max",
        "argmin",
        "argmax",
    ]
    name, axis = draw(st.sampled_from(names)), an_axis(draw, x)
    return [x], lambda a: getattr(a, name)(axis)


@operation
def methods_without_arguments(draw: Draw) -> Drawn:
    name = draw(
        st.sampled_from(
            ["flatten", "copy", "ravel", "conj", "tolist", "squeeze", "nonzero", "transpose", "round"]
        )
    )
    return [draw(arrays_of())], lambda a: getattr(a, name)()
