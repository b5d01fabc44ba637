"""Operations on arrays for distributed_properties.py: each draws its arguments, and is a function of NumPy's arrays or ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]
Draw = Callable[[Any], Any]
Drawn = tuple[list[Array], Callable[..., Any]]
OPERATIONS: dict[str, Callable[[Draw], Drawn]] = {}

EVERY = "f8 f4 f2 i8 i4 i2 i1 u8 u1 ? c16 c8"
REAL = "f8 f4 i8 i4 i2 u8 u1"
FLOATS = "f8 f4 f2 c16 c8 i8"
INTEGERS = "i8 i4 u1 ?"


def operation(function: Callable[[Draw], Drawn]) -> Callable[[Draw], Drawn]:
    OPERATIONS[function.__name__] = function
    return function


@st.composite
def arrays_of(
    draw: Draw,
    dtypes: str = EVERY,
    axes: tuple[int, int] = (1, 3),
    least: int = 0,
    shape: tuple[int, ...] | None = None,
    finite: bool = False,
) -> Array:
    """Return an array of small numbers, of which one may be NaN or infinite. Axes may have no elements."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(least, 7), min_size=axes[0], max_size=axes[1])))
    dtype = np.dtype(draw(st.sampled_from(dtypes.split())))
    numbers = np.random.default_rng(draw(st.integers(0, 10**6)))
    made: Any = numbers.integers(0 if dtype.kind in "u" else -9, 10, shape)
    if dtype.kind in "fc" and draw(st.booleans()):
        made = made + numbers.integers(0, 4, shape) / 4
    if dtype.kind == "c":
        made = made + 1j * numbers.integers(-3, 4, shape)
    if dtype.kind == "b":
        made = made % 2
    whole = np.asarray(made).astype(dtype)
    if dtype.kind == "f" and whole.size and not finite and draw(st.integers(0, 9)) == 0:
        special = draw(st.sampled_from([np.nan, np.inf, -np.inf, -0.0]))
        whole.reshape(-1)[draw(st.integers(0, whole.size - 1))] = special
    return whole


def an_axis(draw: Draw, x: Array, none: bool = True) -> Any:
    one = st.integers(-x.ndim, x.ndim - 1)
    return draw(st.none() | one if none else one)


def some_axes(draw: Draw, x: Array) -> Any:
    several = st.sets(st.integers(0, x.ndim - 1), min_size=1).map(tuple)
    return draw(st.none() | st.integers(-x.ndim, x.ndim - 1) | several)


def named(name: str) -> Any:
    """Return a function of NumPy, such as "linalg.norm"."""
    found: Any = np
    for word in name.split("."):
        found = getattr(found, word)
    return found


def declare(names: str, drawn: Callable[[Draw, Any], Drawn]) -> None:
    """Add operations of these names, of which `drawn` draws the arguments for NumPy's function."""
    for name in names.split():
        OPERATIONS[name] = lambda draw, name=name: drawn(draw, named(name))  # type: ignore[misc]


def of_one(names: str, dtypes: str = EVERY, **options: Any) -> None:
    declare(names, lambda draw, f: ([draw(arrays_of(dtypes, **options))], f))


of_one(
    "abs negative positive sign square conj real imag isfinite isinf isnan logical_not isreal iscomplex ravel"
)
of_one("exp expm1 log1p sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh", FLOATS)
of_one("log log2 log10 reciprocal", FLOATS)
of_one("ceil floor trunc signbit round fix around sinc", "f8 f4 i8")
of_one("bitwise_invert", INTEGERS)
of_one("nonzero flatnonzero argwhere flipud nan_to_num")
of_one("fliplr matrix_transpose", axes=(2, 3))
of_one("unique_all unique_counts unique_inverse")
of_one("ediff1d", "f8 i8")
of_one("unstack", axes=(2, 3))
of_one("linalg.svdvals", "f8 f4 c16 i8", axes=(2, 2), finite=True)


def of_two(names: str, dtypes: str = EVERY) -> None:
    """Functions of two arrays that broadcast, of which one may be NumPy's or a number."""

    def drawn(draw: Draw, f: Any) -> Drawn:
        x = draw(arrays_of(dtypes))
        how = draw(st.sampled_from(["same", "number", "row", "column", "plain", "longer"]))
        if how == "number":
            number = draw(st.sampled_from([0, 1, 2, 3] if x.dtype.kind in "ui?b" else [0, 1, 2.5, -1]))
            return [x], (lambda a: f(a, number)) if draw(st.booleans()) else (lambda a: f(number, a))
        shapes = {"row": x.shape[-1:], "column": (*x.shape[:-1], 1), "longer": (2, *x.shape)}
        y = draw(arrays_of(dtypes, shape=shapes.get(how, x.shape)))
        if how in ("plain", "longer"):
            return [x], (lambda a: f(a, y)) if how == "plain" else (lambda a: f(y, a))
        return [x, y], f

    declare(names, drawn)


of_two("add multiply equal not_equal")
of_two(
    "subtract divide floor_divide remainder pow maximum minimum less less_equal greater greater_equal", REAL
)
of_two("logical_and logical_or logical_xor", REAL)
of_two("atan2 hypot copysign nextafter logaddexp isclose", "f8 f4")
of_two("bitwise_and bitwise_or bitwise_xor", INTEGERS)
of_two("subtract.outer kron", "f8 i8")


def shifted_bits(draw: Draw, f: Any) -> Drawn:
    x, y = (draw(arrays_of("i8 i4", shape=(5, 3))) for _ in range(2))
    return [x, y % 8], f


declare("bitwise_left_shift bitwise_right_shift", shifted_bits)


def reduced(names: str, dtypes: str = EVERY, several: bool = True, least: int = 0, **extra: Any) -> None:
    def drawn(draw: Draw, f: Any) -> Drawn:
        x = draw(arrays_of(dtypes, least=least))
        axis = some_axes(draw, x) if several else an_axis(draw, x)
        options = {"axis": axis, "keepdims": draw(st.booleans()), **{k: draw(v) for k, v in extra.items()}}
        return [x], lambda a: f(a, **options)

    declare(names, drawn)


reduced("sum prod any all mean count_nonzero")
reduced("min max ptp", REAL)
reduced("var std", ddof=st.sampled_from([0, 1]))
reduced("argmin argmax", REAL + " ?", several=False)
reduced("nansum nanprod nanmean nanmin nanmax nanvar nanstd", "f8 f4 i8")
reduced("nanargmin nanargmax", "f8 i8", several=False)
reduced("median nanmedian", "f8 f4 i8", least=1)
reduced("average", "f8 i8 f4", several=False, least=1)
reduced("linalg.vector_norm", "f8 f4 c16", ord=st.sampled_from([2, 1, 3, np.inf, -np.inf, 0]))


def along(names: str, dtypes: str = EVERY, none: bool = True, least: int = 0, **extra: Any) -> None:
    """Functions of an array and an axis."""

    def drawn(draw: Draw, f: Any) -> Drawn:
        x = draw(arrays_of(dtypes, least=least))
        options = {"axis": an_axis(draw, x, none), **{k: draw(v) for k, v in extra.items()}}
        return [x], lambda a: f(a, **options)

    declare(names, drawn)


along("cumsum cumprod sort")
along("nancumsum nancumprod", "f8 f4 i8")
along("argsort", kind=st.just("stable"))
along("cumulative_sum cumulative_prod", none=False, include_initial=st.booleans())
along("add.accumulate maximum.accumulate multiply.accumulate", REAL, none=False)
along("diff", none=False, n=st.integers(0, 3))
along("trapezoid", "f8 i8", none=False, dx=st.sampled_from([1.0, 0.5]))
along("fft.fftshift fft.ifftshift")
along("repeat", repeats=st.integers(0, 3))


def transformed(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of("f8" if f is np.fft.rfft else "f8 c16 f4", least=1, finite=True))
    n, axis = draw(st.sampled_from([None, 1, 4, 9])), an_axis(draw, x, none=False)
    return [x], lambda a: f(a, n, axis)


def transformed_axes(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of("f8" if f is np.fft.rfftn else "f8 c16", least=1, finite=True))
    axes = draw(st.none() | st.sets(st.integers(0, x.ndim - 1), min_size=1).map(tuple))
    return [x], lambda a: f(a, axes=axes)


declare("fft.fft fft.ifft fft.rfft", transformed)
declare("fft.fftn fft.ifftn fft.rfftn", transformed_axes)


def of_sets(draw: Draw, f: Any) -> Drawn:
    return [draw(arrays_of("i8 f8 u1")) for _ in range(2)], f


declare("isin union1d intersect1d setdiff1d setxor1d", of_sets)


def joined(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of())
    y = draw(arrays_of(shape=x.shape))
    if f is np.append:
        axis = an_axis(draw, x)
        return [x, y], lambda a, b: f(a, b, axis)
    if f in (np.stack, np.concat):
        axis = an_axis(draw, x, none=False)
        return [x, y], lambda a, b: f([a, b, a], axis=axis)
    return [x, y], lambda a, b: f([a, b])


declare("stack concat vstack hstack dstack column_stack append", joined)


def moved(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of())
    one, two = an_axis(draw, x, none=False), an_axis(draw, x, none=False)
    return [x], lambda a: f(a, one, two)


declare("moveaxis swapaxes", moved)


def cut(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of(axes=({np.vsplit: 2, np.dsplit: 3}.get(f, 1), 3)))
    places = draw(st.sampled_from([1, 2, 3, [1], [0, 2], [2, 1], [9]]))
    axis = () if f in (np.vsplit, np.hsplit, np.dsplit) else (an_axis(draw, x, none=False),)
    return [x], lambda a: f(a, places, *axis)


declare("split array_split vsplit hsplit dsplit", cut)


def of_a_matrix(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of(axes=(1 if f is np.diag else 2, 2 if f is np.diag else 3)))
    offset = draw(st.integers(-3, 3))
    return [x], lambda a: f(a, offset)


declare("tril triu diag diagonal trace rot90", of_a_matrix)


def quantiles(draw: Draw, f: Any) -> Drawn:
    x = draw(arrays_of("f8 f4 i8", finite=True, least=1))
    q = draw(st.sampled_from([0.0, 0.3, 1.0, [0.25, 0.5]]))
    axis, keepdims = some_axes(draw, x), draw(st.booleans())
    return [x], lambda a: f(a, q, axis=axis, keepdims=keepdims)


declare("quantile nanquantile percentile nanpercentile", quantiles)
