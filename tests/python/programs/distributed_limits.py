"""Values at the limits of dtypes, and arguments that NumPy refuses, beside NumPy."""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, main, refused


def same(found: Any, wanted: Any) -> None:
    found = found.to_numpy() if isinstance(found, DistArray) else found
    assert (np.shape(found), np.asarray(found).dtype) == (np.shape(wanted), np.asarray(wanted).dtype), (
        found,
        wanted,
    )
    if np.asarray(wanted).dtype.kind in "fc":
        np.testing.assert_allclose(found, wanted, rtol=1e-3 if np.asarray(wanted).dtype.char == "e" else 1e-6)
    else:
        np.testing.assert_array_equal(found, wanted)


@check
def means_do_not_overflow(rng: random.Random) -> None:
    small, large = np.array([200, 100, 50], np.uint8), np.full(3, 2**62)
    a, b = arrays.from_array(small), arrays.from_array(large)
    for weights in (
        np.array([2, 2, 2], np.uint8),
        np.array([1, 2, 3], np.float32),
        np.array([True, True, False]),
    ):
        same(np.average(a, weights=weights), np.average(small, weights=weights))
        same(np.average(b, weights=weights), np.average(large, weights=weights))
    single = np.arange(3, dtype=np.float32)
    same(np.average(arrays.from_array(single), weights=single), np.average(single, weights=single))
    same(np.nanmean(b), np.nanmean(large))


@check
def covariances_are_of_float64(rng: random.Random) -> None:
    rows = np.array([[300.0, -300, 100], [1, 2, 3]], np.float16)
    a = arrays.from_array(rows)
    same(np.cov(a), np.cov(rows))
    same(np.corrcoef(a), np.corrcoef(rows))
    times = arrays.from_array(np.array(["1999-05-05", "2001-01-01"], "M8[D]"))
    refused([(lambda: np.cov(times), "")])


@check
def times_without_those_that_are_none(rng: random.Random) -> None:
    times = np.array(["1999-05-05", "NaT", "2001-01-01"], "M8[D]")
    a = arrays.from_array(times)
    same(np.nanmin(a), np.nanmin(times))
    same(np.nanmax(a), np.nanmax(times))
    assert np.isnat(np.nanmin(arrays.from_array(times[1:2])))


@check
def numbers_of_arange(rng: random.Random) -> None:
    given: list[tuple[tuple[Any, ...], Any]] = [((10, 0, -3), None), ((10, 0, -3), "u2"), ((0, 7, 2), "f4")]
    given += [((0, 1, 0.1), None), ((3, 3), None), ((2,), bool), ((2**63, 2**63 + 3), "u8")]
    for arguments, dtype in given:
        same(arrays.arange(*arguments, dtype=dtype), np.arange(*arguments, dtype=dtype))
    refused([(lambda: arrays.arange(5, dtype=bool), "expected two at most")])
    for call in (lambda: arrays.arange(1000, 1003, dtype=np.uint8), lambda: arrays.arange(2**63, 2**63 + 3)):
        try:
            call()
        except OverflowError as error:
            assert "pass a wider dtype=" in str(error)
        else:
            raise AssertionError("arange wrapped around")


@check
def one_index_leaves_out_the_axis(rng: random.Random) -> None:
    line, grid = np.arange(7), np.arange(12.0).reshape(3, 4)
    a, b = arrays.from_array(line), arrays.from_array(grid)
    same(np.take(a, 3), np.take(line, 3))
    same(a.take(-1), line.take(-1))
    same(np.take(b, 2, axis=0), np.take(grid, 2, axis=0))
    same(np.take(b, 5), np.take(grid, 5))
    same(np.take(b, [[1, 2]]), np.take(grid, [[1, 2]]))
    same(np.linalg.norm(b, "fro"), np.linalg.norm(grid, "fro"))
    same(np.sum(a, initial=2.5), np.sum(line, initial=2.5))  # type: ignore[call-overload]
    same(np.max(a > 2, initial=5), np.max(line > 2, initial=5))
    same(np.max(arrays.zeros(0), initial=0.5), np.max(np.zeros(0), initial=0.5))


@check
def integrals_keep_their_dtype(rng: random.Random) -> None:
    for dtype in ("f2", "f4", "f8", "c8", "i4"):
        y, x = np.arange(5).astype(dtype), np.arange(5) * 0.5
        same(np.trapezoid(arrays.from_array(y)), np.trapezoid(y))
        same(np.trapezoid(arrays.from_array(y), x), np.trapezoid(y, x))


@check
def bad_calls(rng: random.Random) -> None:
    masked = np.ma.array([1.0, 1e20, 3], mask=[0, 1, 0])  # type: ignore[no-untyped-call]
    square = np.arange(9).reshape(3, 3)
    ones, a = arrays.ones(3), arrays.from_array(square)
    is_root = atoll.my_pe() == 0
    cases = [
        (lambda: ones + masked, "would lose its mask; pass x.filled(value)"),
        (lambda: np.dot(ones, masked), "would lose its mask"),
        (lambda: arrays.from_array(masked), "would lose its mask"),
        (lambda: arrays.from_array(masked if is_root else None, root=0), "would lose its mask"),
        (lambda: a * np.matrix(square), "pass np.asarray(x) and use @"),
        (lambda: a.gather(1.5), "a PE's number is 1.5; expected an integer"),  # type: ignore[arg-type]
        (lambda: a.gather(True), "a PE's number is True"),
        (lambda: np.flip(a, (0, 0)), "names an axis twice"),
        (lambda: np.sort(a, kind="nope"), "expected 'quicksort'"),  # type: ignore[call-overload]
        (lambda: a.sort(axis=None), "take np.sort(a, axis=None)"),  # type: ignore[arg-type]
        (lambda: np.linalg.norm(ones, "fro"), "expected None, or an axis, or a matrix"),
        (lambda: np.linalg.norm(ones, "nuc"), "norm: ord='nuc' of shape"),
        (lambda: np.concatenate([ones, 3]), "arrays without axes cannot be joined"),  # type: ignore[list-item]
        (lambda: a.item(1.5), "cannot be interpreted as an integer"),
        (lambda: a.put_nbi(0, 3), "the value is 3; expected an array of shape (3,)"),  # type: ignore[arg-type]
        (lambda: a.transpose("x"), "axis 'x': expected an integer"),  # type: ignore[arg-type]
        (lambda: a.argmin(initial=1), "DistArray.argmin() got an unexpected keyword argument 'initial'"),  # type: ignore[call-arg]
        (lambda: arrays.arange("x"), "expected integers or real numbers"),  # type: ignore[arg-type]
        (lambda: arrays.reserve(-1), "expected a number of bytes, 0 or more"),
        (lambda: arrays.full(3, 2**70), "has no dtype of NumPy"),
        (lambda: arrays.redistribute(a, team=5), "expected an atoll.Team"),  # type: ignore[arg-type]
        (lambda: atoll.once(5), "expected a function; the PE's number is pe="),  # type: ignore[arg-type]
    ]
    if atoll.n_pes() > 1:
        me = atoll.my_pe()
        cases += [
            (lambda: arrays.linspace(0, 1 + me, 5), "the calls differ"),
            (lambda: arrays.eye(4, k=me), "the calls differ"),
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(cases)  # type: ignore[arg-type]


@check
def errors_name_the_call_and_the_cure(rng: random.Random) -> None:
    a, whole, b = arrays.arange(6.0), np.arange(6.0), arrays.zeros((6, 2))
    objects = np.frompyfunc(lambda t: t, 1, 1)
    own: Any = a
    cases = [
        (
            lambda: own.get(0, out=[0] * 3),
            "out is [0, 0, 0]; expected an array of shape () and dtype float64",
        ),
        (lambda: own.get(slice(2), out="x"), "out is 'x'; expected an array of shape (2,)"),
        (lambda: a.ravel(order="F"), "a.ravel(order='F'): its elements are in C order"),
        (lambda: a.flatten("F"), "write a.T.ravel()"),
        (lambda: np.ravel(own, order="F"), "a.ravel(order='F')"),
        (lambda: a.copy(order="F"), "a.copy(order='F')"),
        (lambda: a.astype(int, "F"), "a.astype(order='F')"),
        (lambda: own.round(1, 2, 3), "DistArray.round() takes"),
        (lambda: objects(a), "its results are objects of Python"),
        (lambda: b.__setitem__((slice(None), 0), a), "Write a[box] = b[...]"),
        (lambda: own[a], "b has elements of float64; expected integers, or bool for a mask"),
        (lambda: own.__setitem__(a, 1), "a[b] = value: b has elements of float64"),
        (lambda: a.put(0, 1j), "1j for elements of float64: "),
        (lambda: a.fill("x"), "'x' for elements of float64: "),
        (lambda: own.save(None), "save(): the path is None; expected a str"),
        (lambda: arrays.load(None), "load(): the path is None"),  # type: ignore[arg-type]
    ]
    if np.dtype(np.longdouble).itemsize > 8:
        cases.append((lambda: arrays.zeros(3, "G").sum(), "sum(): elements of complex256 are not combined"))
    refused(cases)  # type: ignore[arg-type]
    np.testing.assert_array_equal(a.to_numpy(), whole)
    for order in ("C", "K", "A"):
        same(a.ravel(order=order), whole)
        same(a.flatten(order), whole)
        same(a.copy(order), whole)
    assert a.astype(float, copy=False) is a
    same(a.astype(int, order="C", copy=False), whole.astype(int))
    b[:, 0] = a[...]
    same(b.sum(0), np.array([15.0, 0]))


@check
def elements_in_another_byte_order(rng: random.Random) -> None:
    given = np.arange(3, dtype=">f8")
    same(arrays.from_array(given), np.arange(3.0))
    same(arrays.from_array(given if atoll.my_pe() == 0 else None, root=0), np.arange(3.0))
    same(arrays.from_array(local=given).sum(), np.float64(3 * atoll.n_pes()))


@check
def warnings_have_the_line_of_the_program(rng: random.Random) -> None:
    """One PE writes, so that the others do not see its numbers before the barrier."""
    a, number = arrays.zeros(6), np.array([2 + 1j])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if atoll.my_pe() == 0:
            a[0] = number[0]
            a.put(slice(1, 2), number)
            a.at[[2]].set(number)
        a.barrier()
        same(a, np.array([2.0, 2, 2, 0, 0, 0]))
        a.fill(number[0])
    assert len(seen) == (4 if atoll.my_pe() == 0 else 1), [str(each.message) for each in seen]
    for each in seen:
        assert each.filename == __file__ and each.category is np.exceptions.ComplexWarning


@check
def medians_and_signs_are_those_of_numpy(rng: random.Random) -> None:
    """A mean of an infinity and a number, where a quantile is NaN; and signs in parts with gaps."""
    for some in ([np.inf, 3], [-np.inf, np.inf], [1, np.inf, np.nan], [np.inf, np.inf], [1, 2, np.inf]):
        whole = np.array(some)
        with np.errstate(all="ignore"):
            same(np.median(arrays.from_array(whole)), np.median(whole))
            same(np.nanmedian(arrays.from_array(whole)), np.nanmedian(whole))
    signs = -np.ones((4, 4, 4))
    a = arrays.from_array(signs, dist=["whole", "whole", "block"])
    same(np.signbit(a), np.signbit(signs))
    same(
        np.signbit(a, out=arrays.zeros((4, 4, 4), bool, dist=["whole", "whole", "block"])), np.signbit(signs)
    )


@check
def least_squares_are_in_the_common_dtype(rng: random.Random) -> None:
    whole, right = np.eye(4, 2, dtype=np.float32), np.arange(4.0)
    found = np.linalg.lstsq(arrays.from_array(whole), right)
    for one, other in zip(found, np.linalg.lstsq(whole, right), strict=True):
        assert np.asarray(one).dtype.kind == "i" or np.asarray(one).dtype == np.float64
        np.testing.assert_allclose(one, other)


if __name__ == "__main__":
    main(int(sys.argv[1]))
