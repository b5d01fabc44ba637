"""Values that arrays take and refuse, beside NumPy: numbers out of range, records, long doubles, masks, warnings."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import atoll
import numpy as np
from atoll import arrays
from distributed import check, equal, main, refused, some_array

RECORD = np.dtype([("a", "i1"), ("b", "f8"), ("c", "f4", (2,))], align=True)


def same_error(ours: Callable[[], Any], numpys: Callable[[], Any]) -> None:
    """Check that both raise the same class of error."""
    try:
        numpys()
    except (OverflowError, TypeError, ValueError) as error:
        wanted = error
    else:
        raise AssertionError("NumPy raises nothing")
    try:
        ours()
    except type(wanted):
        return
    raise AssertionError(f"nothing was raised; expected {wanted!r}")


@check
def numbers_that_do_not_fit_are_refused(rng: random.Random) -> None:
    n = atoll.n_pes()
    u, whole = arrays.zeros(2 * n + 1, "u1"), np.zeros(2 * n + 1, "u1")
    at = rng.randrange(2 * n + 1)
    where = [0, at]
    for value in (300, -1, 2**70, float("nan"), [300] * 2, 1j, "x"):
        for key in (at, slice(0, 2)):
            if isinstance(value, list) and key == at:
                continue
            same_error(
                lambda k=key, v=value: u.__setitem__(k, v), lambda k=key, v=value: whole.__setitem__(k, v)
            )
            same_error(lambda k=key, v=value: u.put(k, v), lambda k=key, v=value: whole.__setitem__(k, v))
        same_error(lambda v=value: u.at[where].set(v), lambda v=value: whole.__setitem__(where, v))
        same_error(lambda v=value: u.__setitem__(where, v), lambda v=value: whole.__setitem__(where, v))
    for value in (300, -1):
        same_error(lambda v=value: arrays.full(3, v, "u1"), lambda v=value: np.full(3, v, "u1"))
        same_error(lambda v=value: np.full_like(u, v), lambda v=value: np.full_like(whole, v))
    same_error(lambda: arrays.zeros(3).put(0, 1j), lambda: np.zeros(3).__setitem__(0, 1j))
    u.barrier()
    equal(u.to_numpy(), whole)
    u[...] = np.full(len(whole), 300)  # arrays are cast, as by NumPy
    u.barrier()
    whole[...] = np.full(len(whole), 300)
    equal(u.to_numpy(), whole)
    equal(arrays.full((3, 4), [1, 2, 3, 4]).to_numpy(), np.full((3, 4), [1, 2, 3, 4]))
    equal(
        np.full_like(arrays.zeros((3, 4)), [1, 2, 3, 4]).to_numpy(),
        np.full_like(np.zeros((3, 4)), [1, 2, 3, 4]),
    )


@check
def padding_does_not_differ(rng: random.Random) -> None:
    for dtype in ("g", "G", RECORD, np.dtype([("x", "g"), ("y", RECORD)], align=True)):
        its = np.dtype(dtype)
        dirty = np.random.default_rng(atoll.my_pe()).integers(0, 255, 9 * its.itemsize, dtype="u1").view(its)
        values = np.zeros(9, its)
        if its.names is None:
            dirty[...] = values + np.arange(9)
        else:
            _fill(dirty)
            _fill(values)
        found = arrays.from_array(dirty).to_numpy()
        assert its.names is not None or list(found.real) == list(range(9))
        assert its != RECORD or (found == values).all()
    last = atoll.my_pe() == atoll.n_pes() - 1
    if atoll.n_pes() > 1:
        other = np.zeros(4, RECORD)
        other["c"][2, 1] = last
        refused([(lambda: arrays.from_array(other), "have different elements")])
        refused([(lambda: arrays.from_array(np.arange(4, dtype="g") + last), "have different elements")])


def _fill(x: Any) -> None:
    for number, name in enumerate(x.dtype.names):
        if x[name].dtype.names is None:
            x[name] = number
        else:
            _fill(x[name])


@check
def records_are_numpys(rng: random.Random) -> None:
    n = 2 * atoll.n_pes() + 1
    s, whole = arrays.zeros(n, RECORD), np.zeros(n, RECORD)
    at = rng.randrange(n)
    value = (3, 2.5, (1, 2))
    if atoll.my_pe() == 0:
        s[at] = value
        s[0:2] = [value, (1, 2, (3, 4))]
    s.barrier()
    whole[at] = value
    whole[0:2] = [value, (1, 2, (3, 4))]
    equal(s.to_numpy(), whole)
    equal(arrays.full(n, value, RECORD).to_numpy(), np.full(n, np.array(value, RECORD)))
    equal(s[at]["b"], whole[at]["b"])
    flat = np.dtype([("a", "i4"), ("b", "f8")])
    left, right = np.zeros(n, flat), np.ones(n, flat)
    right[at] = 0
    x, y = arrays.from_array(left), arrays.from_array(right)
    equal((x == y).to_numpy(), left == right)
    equal((x != y).to_numpy(), left != right)
    equal((x == right).to_numpy(), left == right)
    assert np.count_nonzero(y) == np.count_nonzero(right)
    words = np.array(["a", "", "b"] * n)
    assert np.count_nonzero(arrays.from_array(words)) == np.count_nonzero(words)
    refused(
        [
            (lambda: s["b"], "a.local['b'] for this PE's part"),
            (lambda: s["d"], "have no such field"),
            (lambda: s.__setitem__("b", 1), "a.local['b'] for this PE's part"),
            (lambda: s.accumulate(0, 1), "are not combined atomically"),
        ]
    )


@check
def casts_leave_the_halo_alone(rng: random.Random) -> None:
    n = 2 * atoll.n_pes()
    words = arrays.from_array(np.arange(n).astype("S4"), halo=1)
    equal(words.astype(float).to_numpy(), np.arange(float(n)))
    assert words.astype(float)._layout.has_halo
    x = arrays.arange(n, dtype=float, halo=1)
    x.exchange_halo("periodic")
    equal(x.astype("i4").local_with_halo, x.local_with_halo.astype("i4"))
    x.local_with_halo[0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        equal(x.astype("i4").to_numpy(), np.arange(n, dtype="i4"))


@check
def bools_are_counted_in_bins(rng: random.Random) -> None:
    whole = np.array([rng.random() < 0.4 for _ in range(30)])
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns that it converts
        for more in ({}, {"bins": 3}, {"bins": [0, 1, 2]}, {"density": True}, {"range": (0, 2)}):
            for found, wanted in zip(np.histogram(a, **more), np.histogram(whole, **more), strict=True):
                equal(found, wanted)
    equal(a.conj().to_numpy(), whole.conj())


@check
def what_has_no_order_is_refused(rng: random.Random) -> None:
    c = arrays.from_array(np.array([1j, 2, 3]))
    names = ("min", "max", "argmin", "argmax")
    refused([(lambda m=m: getattr(c, m)(), "complex numbers have no order") for m in names])
    refused([(lambda m=m: getattr(c, m)(axis=0), "complex numbers have no order") for m in names])
    refused([(lambda: np.ptp(c), "complex numbers have no order"), (lambda: np.histogram(c), "real numbers")])
    for dtype in ("S3", "U3", "M8[s]"):
        a = arrays.from_array(np.arange(4).astype(dtype))
        without = names if dtype[0] in "SU" else ("argmin", "argmax", "sum")  # times have an order
        refused([(lambda m=m, a=a: getattr(a, m)(), "are not combined over PEs") for m in without])


@check
def masks_and_indices_of_numpy_are_its_own(rng: random.Random) -> None:
    a, whole = some_array(rng)
    a.barrier()
    mask = whole.real > 9
    some = [rng.randrange(-n, n) for n in whole.shape]
    keys: list[Any] = [mask, [some[0], 0], np.array([some[0]]), mask.any(tuple(range(1, a.ndim)))]
    keys += [(..., [some[-1], 0]), ([[some[0]], [0]], ...)]
    if a.ndim > 1:
        keys += [(slice(None, None, -1), [some[1], 0]), ([some[0], 0], some[1]), (some[0], [some[1], 0])]
    if a.ndim > 2:
        keys += [([some[0], 0], slice(None), [some[2], 0]), (slice(1, None), [some[1]], [[some[2]], [0]])]
        keys += [(slice(None), [some[1], 0], slice(None)), (slice(None), slice(None), [0])]
    for key in keys:
        equal(a[key], whole[key])
        equal(a.at[key].get(), whole[key])
    key = rng.choice(keys)
    a.barrier()
    if atoll.my_pe() == 0:
        a[key] = 5
        a.at[key].set(np.full(whole[key].shape, 5))
    a.barrier()
    whole[key] = 5
    equal(a.to_numpy(), whole)
    a[a != 5] += 2
    whole[whole != 5] += 2
    equal(a.to_numpy(), whole)
    refused(
        [
            (lambda: a[np.zeros(99, bool)], "a mask has shape (99,)"),
            (lambda: a[[99]], "out of bounds"),
            (lambda: a.at[(0,) * (a.ndim + 1)], "indices for an array"),
            (lambda: a.__setitem__(a == 5, arrays.zeros(whole.size + 1)), "expected ("),
        ]
    )


@check
def operations_are_atomic(rng: random.Random) -> None:
    ops = {"sum": np.add, "min": np.minimum, "max": np.maximum, "prod": np.multiply}
    ops |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    for op, ufunc in ops.items():
        dtype = rng.choice(
            ["i4", "i8", "u4", "u8"] + (["f4", "f8"] if op in ("sum", "min", "max", "prod") else [])
        )
        whole = np.arange(1, 13).astype(dtype).reshape(3, 4)
        a = arrays.from_array(whole, dist=["cyclic", "block"], grid=(atoll.n_pes(), 1))
        values = np.array([2, 1, 3], dtype)
        a.accumulate((slice(0, 2), slice(None, 0, -1)), values, op=op)
        a.barrier()
        for _ in range(atoll.n_pes()):
            box = whole[0:2, :0:-1]
            ufunc(box, values, out=box)
        equal(a.to_numpy(), whole)
    # All PEs at one element.
    one = arrays.full(2, 1)
    for _ in range(5):
        one.accumulate(0, 3, op="prod")
        one.accumulate(1, 2, op="xor")
    one.barrier()
    assert list(one[:]) == [np.int64(3) ** (5 * atoll.n_pes()), 3 if atoll.n_pes() % 2 else 1]
    one.barrier()
    refused(
        [
            (lambda: one.accumulate(0, 1, "max"), "op='max'"),
            (lambda: one.accumulate(0, 1, op="mean"), "expected one of sum, prod, min"),
            (lambda: arrays.zeros(3).accumulate(0, 1, op="and"), "integers of 32 or 64 bits."),
            (
                lambda: arrays.zeros(3, complex).accumulate(0, 1, op="prod"),
                "elements of complex128 are not combined",
            ),
            (lambda: arrays.zeros(3, "i2").accumulate(0, 1), "elements of int16 are not combined"),
        ]
    )


@check
def errors_name_the_call_and_the_cure(rng: random.Random) -> None:
    a = arrays.ones((3, 4))
    square = arrays.ones((4, 4))
    freed = arrays.ones(3)
    freed.free()
    assert np.size(a, 1) == 4 and np.size(a, axis=0) == 3 and np.size(a) == 12
    joined = np.concatenate([a, square], axis=None)
    equal(joined.to_numpy(), np.ones(28))
    refused(
        [
            (lambda: np.add(a, 1, where=a > 0), "numpy.where(mask, numpy.add(...), a)"),
            (lambda: square.__imatmul__(square), "write A = A @ B"),
            (lambda: a.sum([0]), "axis is [0]"),
            (lambda: a.mean("x"), "axis is 'x'"),
            (lambda: arrays.random(3, seed=None), "a seed is an integer"),
            (lambda: arrays.random(3, dtype=np.int64), "(random(shape) * k).astype('int64')"),
            (lambda: arrays.shuffle(a, seed=None), "a seed is an integer"),
            (lambda: arrays.random(3, seed=-1), "a seed is 0 or more"),
            (lambda: arrays.zeros(3, halos=1), "zeros() has no argument 'halos'; did you mean 'halo'"),
            (
                lambda: arrays.zeros(3, periodic=True),
                "a border belongs to the exchange, as in exchange_halo(",
            ),
            (lambda: arrays.from_array(np.ones(3), dists=1), "from_array() has no argument 'dists'"),
            (
                lambda: a.reshape(12, order="F"),
                "a.reshape() has no argument 'order'; its elements are in C order",
            ),
            (freed.barrier, "was freed by a.free()"),
        ]
    )


@check
def warnings_name_the_line_of_the_program(rng: random.Random) -> None:
    a = arrays.zeros(2 * atoll.n_pes())
    source = (
        "for _ in range(3):\n    1 / a\n    a /= a\n    a[...] = 0\n    a.map_blocks(np.log)\nnp.log(a)\n"
        "with np.errstate(all='ignore'):\n    1 / a\n"
    )
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        exec(compile(source, "/program/of_a_user.py", "exec"), {"a": a, "np": np, "__name__": "user"})
    found = [(one.filename, one.lineno, str(one.message)) for one in seen]
    assert found == [
        ("/program/of_a_user.py", 2, "divide by zero encountered in divide"),
        ("/program/of_a_user.py", 3, "invalid value encountered in divide"),
        ("/program/of_a_user.py", 5, "divide by zero encountered in map_blocks"),
        ("/program/of_a_user.py", 6, "divide by zero encountered in log"),
    ], found


class OwnError(Exception):
    pass


def raise_own(*_: object) -> NoReturn:
    raise OwnError("the number is", 5)


@check
def a_failure_of_one_part_is_one_of_every_pe(rng: random.Random) -> None:
    n, last = 3 * atoll.n_pes(), atoll.n_pes() - 1
    a = arrays.arange(n) + 1
    signs = arrays.from_array(np.where(np.arange(n) == n - 1, -1, 1))
    for compute in (lambda: a**signs, lambda: np.power(a, signs, dtype=np.int64)):
        try:
            compute()
        except (ValueError, TypeError) as error:
            assert f"PE {last}: " in str(error), error
        else:
            raise AssertionError("nothing was raised")
    with np.errstate(all="raise"):
        try:
            1 / (a - n)
        except FloatingPointError as error:
            assert str(error) == f"numpy.divide: PE {last}: divide by zero encountered in divide"
        else:
            raise AssertionError("nothing was raised")
    for call in (
        lambda f: a.map_blocks(f),
        lambda f: arrays.from_function(f, n),
    ):
        try:
            call(lambda part: part if atoll.my_pe() != last else raise_own(part))
        except OwnError as error:
            assert error.args == ("the number is", 5) and f"PE {last} raised it." in error.__notes__[0]
        else:
            raise AssertionError("nothing was raised")
    assert a.sum() == n * (n + 1) // 2  # all are in step


if __name__ == "__main__":
    main(int(sys.argv[1]))
