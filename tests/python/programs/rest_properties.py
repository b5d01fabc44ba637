"""Operations for distributed_properties.py on matrices and polynomials, writes by functions, and makers of arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from atoll import arrays
from hypothesis import strategies as st
from properties import EVERY, Draw, Drawn, an_axis, arrays_of, declare, named, of_one, operation

MAKERS: dict[str, Callable[[Draw], Any]] = {}


def maker(function: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
    """Register a function that draws NumPy's array, and the same one as a function of keywords of a distribution."""
    MAKERS[function.__name__] = function
    return function


def a_shape(draw: Draw, axes: tuple[int, int] = (1, 3)) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(0, 7), min_size=axes[0], max_size=axes[1])))


def a_dtype(draw: Draw) -> Any:
    return np.dtype(draw(st.sampled_from(EVERY.split())))


def of_a_shape(name: str) -> None:
    def drawn(draw: Draw) -> Any:
        shape, dtype = a_shape(draw), a_dtype(draw)
        value: tuple[int, ...] = (draw(st.integers(0, 1)),) if name == "full" else ()
        wanted = np.zeros(shape, dtype) if name == "empty" else named(name)(shape, *value, dtype)
        return wanted, lambda **its: getattr(arrays, name)(shape, *value, dtype, **its)

    MAKERS[name] = drawn


for each in ("zeros", "ones", "full", "empty"):
    of_a_shape(each)


@maker
def arange(draw: Draw) -> Any:
    start, count, step = (
        draw(st.integers(-9, 9)),
        draw(st.integers(0, 20)),
        draw(st.sampled_from([1, 2, -3, 0.5])),
    )
    dtype = draw(st.sampled_from([None, "f4", "i4"])) if isinstance(step, int) else None
    stop = start + count * step
    return np.arange(start, stop, step, dtype), lambda **its: arrays.arange(start, stop, step, dtype, **its)


@maker
def linspace(draw: Draw) -> Any:
    start, stop, num = draw(st.integers(-9, 9)), draw(st.sampled_from([7, 2.5, 1j])), draw(st.integers(0, 20))
    endpoint = draw(st.booleans())
    wanted = np.linspace(start, stop, num, endpoint=endpoint)
    return wanted, lambda **its: arrays.linspace(start, stop, num, endpoint=endpoint, **its)


@maker
def eye(draw: Draw) -> Any:
    rows, columns, k = draw(st.integers(0, 7)), draw(st.integers(0, 7)), draw(st.integers(-3, 3))
    return np.eye(rows, columns, k), lambda **its: arrays.eye(rows, columns, k=k, **its)


@maker
def asarray(draw: Draw) -> Any:
    given = draw(arrays_of())
    return given, lambda **its: arrays.asarray(given.tolist(), given.dtype, **its) if given.size else given


def text_of(dtype: Any) -> Any:
    return np.array(str(dtype))


def of_dtypes(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of())
    if f is np.can_cast:
        dtype = a_dtype(draw)
        return [x], lambda a: f(a.dtype if isinstance(a, np.ndarray) else a, dtype)
    return [x, draw(arrays_of())], lambda a, b: text_of(f(a, b))


declare("can_cast result_type", of_dtypes)


def regular(draw: Draw, shape: tuple[int, int], dtypes: str = "f8 f4 c16 i8") -> Any:
    """Draw a matrix of full rank, far from others."""
    x = draw(arrays_of(dtypes, shape=shape, finite=True))
    return x + 40 * np.eye(*shape, dtype=x.dtype)


def of_regular(draw: Draw, f: Any) -> Drawn:
    n = draw(st.integers(1, 7))
    return [regular(draw, (n, n))], f


declare("linalg.det linalg.cond", of_regular)


def of_rectangles(draw: Draw, f: Any) -> Drawn:
    return [regular(draw, (draw(st.integers(1, 7)), draw(st.integers(1, 7))))], f


declare("linalg.pinv linalg.matrix_rank", of_rectangles)


@operation
def eigh(draw: Draw) -> Drawn:
    n = draw(st.integers(1, 7))
    x = draw(arrays_of("f8 f4 c16 i8", shape=(n, n), finite=True))

    def product(a: Any) -> Any:
        values, vectors = np.linalg.eigh(a)
        return values, np.matmul(vectors * values, np.conj(np.matrix_transpose(vectors)))

    return [x + x.conj().T], product


@operation
def svd(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 f4 c16 i8", axes=(2, 2), least=1, finite=True))

    def product(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return s, np.matmul(u * s, vh)

    return [x], product


@operation
def lstsq(draw: Draw) -> Drawn:
    rows = draw(st.integers(1, 7))
    x = regular(draw, (rows, draw(st.integers(1, rows))))
    right = draw(arrays_of("f8 i8", shape=draw(st.sampled_from([(rows,), (rows, 2)])), finite=True))

    def solved(a: Any, b: Any) -> Any:
        found, residuals, rank, values = np.linalg.lstsq(a, b)
        return found, residuals, int(rank), values

    return [x, right], solved


@operation
def matrix_power(draw: Draw) -> Drawn:
    n, power = draw(st.integers(0, 7)), draw(st.integers(0, 4))
    return [draw(arrays_of("f8 i8", shape=(n, n), finite=True))], lambda a: np.linalg.matrix_power(a, power)


@operation
def multi_dot(draw: Draw) -> Drawn:
    lengths = draw(st.lists(st.integers(1, 7), min_size=3, max_size=4))
    given = [draw(arrays_of("f8 i8", shape=shape, finite=True)) for shape in pairwise(lengths)]
    return given, lambda *a: np.linalg.multi_dot(a)


@operation
def argpartition(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 u1", least=1, finite=True))
    axis = an_axis(draw, x, none=False)
    kth = draw(st.integers(0, x.shape[axis] - 1))

    def least(a: Any) -> Any:
        chosen = np.take(np.argpartition(a, kth, axis), np.arange(kth + 1), axis)
        return np.sort(np.take_along_axis(a, chosen, axis), axis)

    return [x], least


@operation
def histogramdd(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8", shape=(draw(st.integers(1, 9)), 2), finite=True))
    bins: Any = draw(st.sampled_from([3, [2, 4], [[0, 1, 5.0], [-9.0, 2, 9]]]))

    def counted(a: Any) -> Any:
        counts, edges = np.histogramdd(a, bins)
        return counts, *edges

    return [x], counted


@operation
def histogram_bin_edges(draw: Draw) -> Drawn:
    bins: Any = draw(st.sampled_from([1, 4, [0, 1, 4, 9], "sturges", "sqrt"]))
    range_ = draw(st.sampled_from([None, (0, 8)]))
    return [draw(arrays_of("f8 i8 u1", finite=True))], lambda a: np.histogram_bin_edges(a, bins, range_)


of_one("transpose atleast_1d atleast_2d")


@operation
def concatenate(draw: Draw) -> Drawn:
    x, y = draw(arrays_of("f8 i8")), draw(arrays_of("f4 u1"))
    axis = an_axis(draw, x)
    if axis is not None:
        y = draw(
            arrays_of("f4 u1", shape=tuple(2 if i == axis % x.ndim else n for i, n in enumerate(x.shape)))
        )
    return [x, y], lambda a, b: np.concatenate([a, b, a], axis)


@operation
def array_equiv(draw: Draw) -> Drawn:
    x = draw(arrays_of("i8"))
    x[...] = x[:1]
    return [x, x[:1] + draw(st.integers(0, 1))], np.array_equiv


def correlated(draw: Draw, f: Any) -> Drawn:
    x, y = draw(arrays_of("f8 i8 c16", axes=(1, 1))), draw(arrays_of("f8 i8 c16", axes=(1, 1)))
    mode: Any = draw(st.sampled_from(["full", "same", "valid"]))
    return [x, y], lambda a, b: f(a, b, mode)


declare("correlate", correlated)


@operation
def vander(draw: Draw) -> Drawn:
    columns, increasing = draw(st.sampled_from([None, 0, 3])), draw(st.booleans())
    return [draw(arrays_of("f8 i8 i4", axes=(1, 1)))], lambda a: np.vander(a, columns, increasing)


@operation
def polyfit(draw: Draw) -> Drawn:
    n, degree = draw(st.integers(4, 9)), draw(st.integers(0, 2))
    y = draw(arrays_of("f8 i8", shape=draw(st.sampled_from([(n,), (n, 2)])), finite=True))
    return [np.arange(n) * 0.5, y], lambda a, b: np.polyfit(a, b, degree)


@operation
def delete(draw: Draw) -> Drawn:
    x = draw(arrays_of(least=1))
    axis = an_axis(draw, x)
    n = x.size if axis is None else x.shape[axis]
    one = st.integers(-n, n - 1)
    which: Any = draw(one | st.lists(one, max_size=4) | st.just(slice(None, None, 2)))
    return [x], lambda a: np.delete(a, which, axis)


@operation
def insert(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8"))
    axis = an_axis(draw, x)
    n = x.size if axis is None else x.shape[axis]
    at = draw(st.integers(-n, n))
    return [x], lambda a: np.insert(a, at, 7, axis)


@operation
def copyto(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 f4 c16"))
    value: Any = draw(st.sampled_from([3, [1] * x.shape[-1]]))

    def copied(a: Any, b: Any) -> Any:
        first, second = a.copy(), a.copy()
        np.copyto(first, b if isinstance(b, np.ndarray) else b.redistribute(like=a))
        np.copyto(second, value)
        return first, second

    return [x, draw(arrays_of("i2 u1", shape=x.shape))], copied


@operation
def fill_diagonal(draw: Draw) -> Drawn:
    def filled(a: Any) -> Any:
        made = a.copy()
        np.fill_diagonal(made, 7)
        return made

    rows, columns = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    return [draw(arrays_of("f8 i8", shape=(rows, min(rows, columns))))], filled


@operation
def piecewise(draw: Draw) -> Drawn:
    functions: list[Any] = draw(
        st.sampled_from([[1, 2], [3, 4, 5], [-1, lambda a: a * 2], [abs, 1, np.square]])
    )
    return [draw(arrays_of("f8 i8"))], lambda a: np.piecewise(a, [a < 0, a > 3], functions)


@operation
def apply_along_axis(draw: Draw) -> Drawn:
    x = draw(arrays_of("f8 i8 f4", axes=(2, 3), least=1, finite=True))
    axis = an_axis(draw, x, none=False)
    function = draw(st.sampled_from([np.sort, np.ptp, np.cumsum, lambda row: np.outer(row, [1, 2])]))
    return [x], lambda a: np.apply_along_axis(function, axis, a)
