"""Distributed arrays beside NumPy: every operation, for many shapes, grids and distributions. Each check is by all PEs."""

from __future__ import annotations

import contextlib
import copy
import operator
import pickle
import random
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray, _makers
from checks import raises
from distributed import check, equal, main, refused, some_array
from distributed_boxes import some_box


def general_way() -> Any:
    """Return a context in which boxes are not added to in C++."""
    return mock.patch.object(DistArray, "_add", lambda self, box, value: False)


@check
def values_with_more_axes_of_one(rng: random.Random) -> None:
    """NumPy drops leading axes of length one of a value; so do we, and no others."""
    a, whole = arrays.zeros((4, 5)), np.zeros((4, 5))
    if atoll.my_pe() == 0:
        for box, shape in ((0, (1, 5)), (slice(1, 3), (1, 1, 2, 5)), ((2, 3), (1, 1))):
            value = np.arange(float(np.prod(shape))).reshape(shape) + 1
            a[box] = value
            whole[box] = value if box != (2, 3) else value[0, 0]
        refused([(lambda: operator.setitem(a, 0, np.ones((2, 5))), "does not broadcast to the box, (5,)")])
    atoll.barrier_all()
    assert np.array_equal(a.to_numpy(), atoll.bcast_object(whole))


@check
def accumulation_loses_nothing(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["i8", "f8", "f4", "u4", "c16", "c8"]))
    for _ in range(3):
        atoll.barrier_all()
        if rng.random() < 0.3:
            a._use_atomics()
        box = some_box(rng, a.shape)
        ones = np.arange(np.size(whole[box])).reshape(np.shape(whole[box])).astype(whole.dtype)
        row = ones[:1] if ones.ndim else ones
        given = rng.choice([ones, np.repeat(ones[..., None], 2, -1)[..., 0], row, 3, ones.astype("u1") % 5])
        scale = rng.choice([1, 2])
        whole[box] += (np.asarray(given) * scale * atoll.n_pes()).astype(whole.dtype)
        with general_way() if rng.random() < 0.3 else contextlib.nullcontext():
            a.accumulate(box, given, scale=scale)
        atoll.barrier_all()
        equal(a.to_numpy(), whole)


@check
def accumulation_and_atomic_elements_lose_nothing(rng: random.Random) -> None:
    n, rounds = 300, 40
    a = arrays.zeros((n, n), rng.choice(["i8", "f8", "f4"]))
    atoll.barrier_all()
    first = rng.randrange(rounds)  # until then all additions are plain ones
    row, column = rng.randrange(n), rng.randrange(n)
    ones = np.ones((n, n), a.dtype)
    for i in range(rounds):
        a.accumulate(..., ones)
        if i >= first and atoll.my_pe() % 2 == 0:
            a.fetch_add((row, column), 1)
            a.at[[row, row], [column, column]].add(1)
            a.accumulate((row, column), 1)
    atoll.barrier_all()
    wanted = np.full((n, n), rounds * atoll.n_pes(), a.dtype)
    wanted[row, column] += 4 * (rounds - first) * ((atoll.n_pes() + 1) // 2)
    equal(a.to_numpy(), wanted)


@check
def new_axes_are_read(rng: random.Random) -> None:
    whole = np.arange(12.0).reshape(3, 4)
    a = arrays.from_array(whole)
    atoll.barrier_all()
    for key in (
        None,
        (slice(None), None),
        (None, 1, ..., None),
        (2, None, 3),
        (..., None, slice(None, None, 2)),
    ):
        equal(a[key], whole[key])
    raises(IndexError, lambda: operator.setitem(a, (None, 0), 1.0))
    atoll.barrier_all()


@check
def accumulation_converts_values(rng: random.Random) -> None:
    c = arrays.zeros((6, 4), "c16")
    atoll.barrier_all()
    c.accumulate((slice(1, 5), slice(None, None, 2)), [1, 2.5], 2j)
    c.accumulate((0, 1), 3 - 1j)
    atoll.barrier_all()
    wanted = np.zeros((6, 4), "c16")
    wanted[1:5, ::2] = np.array([2j, 5j]) * atoll.n_pes()
    wanted[0, 1] = (3 - 1j) * atoll.n_pes()
    equal(c.to_numpy(), wanted)
    i, f = arrays.zeros(4, "i4"), arrays.zeros(4)
    for value, scale in ((2**31, 1), ([1, -(2**31) - 1], 1), (2**70, 1), (2**16, 2**16)):
        raises(OverflowError, lambda value=value, scale=scale: i.accumulate(slice(0, 2), value, scale))
    raises(OverflowError, lambda: i.at[[2]].add(2**33 + 1))
    for value in ("x", None, [None]):
        raises(TypeError, lambda value=value: f.accumulate(0, value))
        raises(TypeError, lambda value=value: f.accumulate(0, value, 2))
    f.accumulate(0, 1, 2**70)
    f.accumulate(slice(1, 3), [1, 2], 0.5)
    atoll.barrier_all()
    equal(f.to_numpy(), np.array([2.0**70, 0.5, 1, 0]) * atoll.n_pes())
    equal(i.to_numpy(), np.zeros(4, "i4"))


@check
def elements_are_chosen_by_arrays_of_indices(rng: random.Random) -> None:
    a, whole = some_array(rng, "f8")
    atoll.barrier_all()
    index = tuple(np.array([rng.randint(-n, n - 1) for _ in range(20)]) for n in a.shape)
    equal(a.at[index].get(), whole[index])
    atoll.barrier_all()
    a.at[index].add(1.0)
    atoll.barrier_all()
    np.add.at(whole, index, float(atoll.n_pes()))
    equal(a.to_numpy(), whole)
    if atoll.my_pe() == 0:
        a.at[index].set(5.0)
    atoll.barrier_all()
    whole[index] = 5.0
    equal(a.to_numpy(), whole)


@check
def many_indices_are_converted_in_chunks(rng: random.Random) -> None:
    n = rng.randint(50, 90)
    dist = rng.choice(
        ["block", "cyclic", "cyclic(3)", [0, *sorted(rng.choices(range(n), k=atoll.n_pes() - 1)), n]]
    )
    dtype = rng.choice(["i8", "f4", "c16", "S5"])
    whole = np.arange(3 * n).astype(dtype)[:n]
    a = arrays.from_array(whole, dist=dist, halo=2 if dist == "block" else 0)
    index = (np.arange(40_000) * 7919 % n).reshape(2, 20_000) - n * rng.randint(0, 1)
    atoll.barrier_all()
    out = np.empty(index.shape, dtype)
    assert a.at[index].get(out) is out
    equal(out, whole[index])
    atoll.barrier_all()
    a.at[index.astype("i4")[::-1]].set(whole[index[::-1]])
    atoll.barrier_all()
    equal(a.to_numpy(), whole)
    if dtype in ("i8", "f4"):
        values = np.ones(index.shape[1], dtype)
        a.at[index].add(values)
        # numpy.add.at of NumPy 2.4 reads beyond values that it broadcasts.
        np.add.at(whole, index, np.full(index.shape, atoll.n_pes(), dtype))
        a.at[index[0]].add(np.asarray(3, dtype))
        np.add.at(whole, index[0], np.full(index.shape[1], 3 * atoll.n_pes(), dtype))
        atoll.barrier_all()
        equal(a.to_numpy(), whole)


@check
def rows_are_shuffled(rng: random.Random) -> None:
    a, whole = some_array(rng)
    seed = rng.randint(0, 9)
    arrays.shuffle(a, seed)
    equal(a.to_numpy(), np.random.Generator(np.random.Philox(key=seed)).permutation(whole))


@check
def arrays_that_differ_between_pes_are_refused(rng: random.Random) -> None:
    n, me = atoll.n_pes(), atoll.my_pe()
    if n == 1:
        return
    last = me == n - 1
    for given, expected in (
        (
            np.zeros((3, 2 + last)),
            f"PE 0 passed an array of shape (3, 2) and dtype <f8, PE {n - 1} one of (3, 3) and",
        ),
        (np.zeros(4, np.int32 if last else np.int64), f"dtype <i8, PE {n - 1} one of (4,) and <i4"),
        (np.arange(12.0).reshape(3, 4)[:, ::2] + last, f"PE 0 and PE {n - 1} have different elements"),
    ):
        try:
            arrays.from_array(given)
        except ValueError as error:
            assert expected in str(error), error
        else:
            raise AssertionError("nothing was raised")


@check
def an_element_is_counted_up(rng: random.Random) -> None:
    a, whole = some_array(rng, "i8")
    index = tuple(rng.randint(0, n - 1) for n in a.shape)
    atoll.barrier_all()
    before = int(a.fetch_add(index, 1))
    seen = sorted(atoll.allgather_object(before))
    assert seen == list(range(int(whole[index]), int(whole[index]) + atoll.n_pes())), seen
    assert 0 <= a.owner(index) < atoll.n_pes()


@check
def parts_are_the_owners(rng: random.Random) -> None:
    a, whole = some_array(rng)
    mine = np.ix_(*(a.global_indices(axis) for axis in range(a.ndim)))
    equal(a.local, whole[mine])
    if all(axis.is_contiguous for axis in a._layout.axes):
        equal(a.local, whole[tuple(slice(*bounds) for bounds in a.bounds())])
    for index in np.ndindex(a.shape):
        inside = all(i in a.global_indices(axis) for axis, i in enumerate(index))
        assert (a.owner(index) == atoll.my_pe()) == inside


@check
def elementwise_operations_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng)
    with np.errstate(all="ignore"):
        for function in (
            lambda x: x + 1,
            lambda x: 2 * x - x,
            lambda x: -x * x,
            lambda x: np.exp(x / 50),
            lambda x: x == 3,
            lambda x: abs(x),
            lambda x: np.ones(x.shape[-1]) * x,
        ):
            result = function(a)
            assert isinstance(result, DistArray)
            equal(result.to_numpy(), function(whole))
    a += 1
    equal(a.to_numpy(), whole + 1)
    for function in (
        lambda x: np.where(x == 3, x, -x),
        lambda x: np.round(x, 1),
        lambda x: np.isclose(x, 4),
        lambda x: np.real(x) + np.imag(x),
    ):
        equal(function(a).to_numpy(), function(whole + 1))
    if whole.dtype.kind != "c":
        equal(np.clip(a, 2, 9).to_numpy(), np.clip(whole + 1, 2, 9))
    b = copy.deepcopy(a)
    b[...] = 0
    b = a.copy()
    b[...] = a * 2
    equal(b.to_numpy(), (whole + 1) * 2)
    equal(np.add(a, b, out=b).to_numpy(), (whole + 1) * 3)
    if whole.dtype.kind == "f":
        equal(np.modf(a)[1].to_numpy(), np.modf(whole + 1)[1])
    equal(a.astype("c16").to_numpy(), (whole + 1).astype("c16"))
    equal(a.map_blocks(np.square).to_numpy(), np.square(whole + 1))
    few = arrays.arange(1).map_blocks(lambda x: x * 0.5 if len(x) else np.zeros(0, "i4"))
    equal(few.to_numpy(), np.arange(1) * 0.5)
    out = arrays.from_array(whole).redistribute(like=a)
    assert np.round(a, 1, out) is out
    equal(out.to_numpy(), np.round(whole + 1, 1))
    if whole.dtype.kind != "c":
        assert np.clip(a, 2, 9, out=out) is out
        equal(out.to_numpy(), np.clip(whole + 1, 2, 9))


@check
def reductions_are_numpys(rng: random.Random) -> None:
    a, whole = some_array(rng)
    choices = [None, *range(a.ndim), *([(0, a.ndim - 1)] if a.ndim > 1 else [])]
    axis = rng.choice(choices)
    keepdims = rng.random() < 0.5
    names = ["sum", "any", "all", "mean", "var", "std"] + (["min", "max"] if whole.dtype.kind != "c" else [])
    for name in names:
        found = getattr(a, name)(axis=axis, keepdims=keepdims)
        wanted = getattr(whole, name)(axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        assert np.shape(found) == np.shape(wanted), (name, found, wanted)
        if name not in ("mean", "var", "std"):
            equal(np.asarray(found), np.asarray(wanted))
    equal(np.sum(a, axis=axis), np.sum(whole, axis=axis))
    for function in (np.sum, np.mean, np.prod):
        for dtype in ("c16", "f4") if whole.dtype.kind != "c" else ("c8",):
            found, wanted = function(a, axis, dtype), function(whole, axis, dtype)
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
            assert found.dtype == wanted.dtype
    equal(np.max(a.real, axis, None, True), np.max(whole.real, axis, None, True))
    equal(np.sum(a=a, dtype=None), np.sum(whole))
    equal(np.add.reduce(a, None, "c16"), np.add.reduce(whole, None, "c16"))
    equal(np.add.reduce(a), np.add.reduce(whole))
    if whole.dtype.kind != "c":
        assert a.argmin() == whole.argmin() and a.argmax() == whole.argmax()
    if whole.dtype.kind == "i":
        small = whole % 3 + 1
        equal(arrays.from_array(small).prod(axis=-1), small.prod(axis=-1))


@check
def float16_is_rounded_once(rng: random.Random) -> None:
    a, whole = some_array(rng, "f2")
    for name in ("sum", "mean", "var", "std", "min", "max", "any"):
        for axis in (None, 0):
            found, wanted = getattr(a, name)(axis=axis), getattr(whole, name)(axis=axis)
            assert found.dtype == wanted.dtype, (name, found, wanted)
            np.testing.assert_allclose(found, wanted, rtol=2e-3)
    # Sums in float16 would stay at 2048.
    assert arrays.ones(5000, np.float16).sum() == 5000
    assert arrays.ones((5000, 2), np.float16).mean(0).tolist() == [1, 1]
    assert arrays.ones(5, np.int64).sum(dtype=np.float16).dtype == np.float16
    assert np.isnan(arrays.from_array(np.array([1, np.nan, 2], np.float16)).max())


@check
def a_nan_wins(rng: random.Random) -> None:
    whole = np.arange(12.0).reshape(3, 4)
    whole[1, 2] = np.nan
    a = arrays.from_array(whole)
    equal(a.max(), whole.max())
    equal(a.min(axis=0), whole.min(axis=0))
    assert a.argmax() == whole.argmax() == 6


@check
def arrays_are_redistributed(rng: random.Random) -> None:
    a, whole = some_array(rng)
    again = a.redistribute(dist=rng.choice(["block", "cyclic", "cyclic(2)"]))
    equal(again.to_numpy(), whole)
    equal(again.redistribute(like=a).local, a.local)


@check
def halos_are_those_of_a_padded_array(rng: random.Random) -> None:
    n, axes = atoll.n_pes(), rng.randint(1, 3)
    kinds = ["fixed", "periodic", "reflect", "symmetric", "edge", 7.5, np.nan]
    border = [rng.choice(kinds) for _ in range(axes)]
    halo = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in range(axes)]
    halo[0] = (max(halo[0][0], 1), halo[0][1])
    shape = tuple(3 * n + rng.randint(0, 3) if axis == 0 else rng.randint(6, 8) for axis in range(axes))
    grid = (n, *(1,) * (axes - 1))
    if axes > 1 and n % 2 == 0 and rng.random() < 0.5:
        grid = (n // 2, 2, *(1,) * (axes - 2))
    a = DistArray(shape, grid=grid, halo=halo)
    a.local_with_halo[...] = -1.0
    whole = np.arange(float(np.prod(shape))).reshape(shape)
    a.local[...] = whole[np.ix_(*(a.global_indices(axis) for axis in range(axes)))]
    modes = {
        "fixed": "constant",
        "periodic": "wrap",
        "reflect": "reflect",
        "symmetric": "symmetric",
        "edge": "edge",
    }
    for _ in range(3):
        a.start_halo(border)
        a.finish_halo()
        padded = whole
        # NumPy pads an axis after the other; so do mirrored and unchanged borders.
        for axis, kind in enumerate(border):
            widths = [halo[axis] if other == axis else (0, 0) for other in range(axes)]
            mode = modes.get(kind, "constant")
            fill = {"constant_values": -1.0 if kind == "fixed" else kind} if mode == "constant" else {}
            padded = np.pad(padded, widths, mode=mode, **fill)  # type: ignore[call-overload]
        outside = tuple(
            slice(start, stop + low + high)
            for (start, stop), (low, high) in zip(a.bounds(), halo, strict=True)
        )
        wanted = padded[outside]
        # A corner between two borders keeps what it had if one of them is fixed.
        known = wanted != -1.0
        np.testing.assert_array_equal(a.local_with_halo[known], wanted[known])
        equal(a.local, whole[tuple(slice(*bounds) for bounds in a.bounds())])
        whole = whole + 100.0
        a.local[...] += 100.0


@check
def random_numbers_do_not_depend_on_the_distribution(rng: random.Random) -> None:
    a = arrays.random((5, 8), seed=4)
    b = arrays.random((5, 8), seed=4, dist="cyclic")
    whole = a.to_numpy()
    equal(whole, b.to_numpy())
    assert whole.min() >= 0 and whole.max() < 1 and len(np.unique(whole)) == 40
    for dtype in ("f8", "f4"):
        stream = np.random.Generator(np.random.Philox(key=4, counter=[0, 0, 0, 0]))
        wanted = stream.random(101, dtype)
        was, _makers.DRAWN = _makers.DRAWN, rng.choice([8, 24, 1 << 16])
        for dist in ("block", "cyclic", "cyclic(3)"):
            equal(arrays.random(101, seed=4, dtype=dtype, dist=dist).to_numpy(), wanted)
        _makers.DRAWN = was
    if atoll.my_pe() == 0:
        print("random", whole.sum().hex())  # the test compares it over numbers of PEs


@check
def what_numpy_may_not_do_is_refused(rng: random.Random) -> None:
    a, line, add = arrays.ones((4, 5)), arrays.ones(4), atoll._atoll._add_in_blocks
    padded, counts = (arrays.zeros((atoll.n_pes(), 2), dtype, halo=1) for dtype in (float, int))
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: np.block([a]), "numpy.block does not work on distributed arrays"),
        (lambda: np.divide.accumulate(a), "numpy.divide.accumulate does not work"),
        (lambda: np.asarray(a), "a.to_numpy()"),
        (lambda: a + np.ones(3), "does not broadcast to (4, 5)"),
        (lambda: a + arrays.ones((4, 6)), "shapes (4, 5) and (4, 6)"),
        (lambda: a[1, 2, 3], "3 indices for an array of 2 axes"),
        (lambda: a[4], "index 4 is out of bounds for axis 0 with size 4"),
        (lambda: a.get([1, 2]), "a[...] and a.at[...] take arrays"),
        (lambda: operator.setitem(a, None, 1), "leave it out"),
        (lambda: a.at[1, 2, 3], "3 indices for an array of 2 axes"),
        (lambda: a.at[1, 9], "index 9 is out of bounds"),
        (lambda: a.at[[1], [2]].get(out=3), "out is 3; expected an array of (1,)"),
        (lambda: a.put(0, np.ones(4)), "does not broadcast to the box, (5,)"),
        (lambda: setattr(a, "locals", 3), "no attribute 'locals' to set"),
        (lambda: a.get(0, out=np.ones(4)), "out has shape (4,)"),
        (lambda: a.sum(axis=2), "axis 2 is out of bounds"),
        (lambda: a.sum(axis=(0, 0)), "names an axis twice"),
        (lambda: a.exchange_halo(), "this array has no halo"),
        (lambda: a.map_blocks(lambda x: x[:0]), "the function returned shape"),
        (lambda: a.map_blocks(lambda x: x if atoll.my_pe() else x[1:]), "on PE 0, whose part has"),
        (lambda: np.clip(a, 0, 1, out=np.ones((4, 5))), "numpy.clip: out= must be a distributed array"),
        (lambda: np.round(a, out=arrays.ones((4, 6))), "shapes (4, 6) and (4, 5)"),
        (lambda: DistArray((4, 5), grid=(9, 9)), "grid (9, 9) has 81 places, and the"),
        (lambda: DistArray((4, 5), dist="blok"), "dist 'blok' is not one of"),
        (lambda: DistArray(4, dist=[0] * atoll.n_pes() + [3]), "do not ascend from 0 to 4"),
        (lambda: DistArray((6, 8.5)), "float"),
        (lambda: DistArray(8, halo=0.5), "halo is 0.5; expected an integer"),
        (lambda: DistArray(8, grid=-1), "each axis has 1 part or more"),
        (lambda: bool(a), "use a.any() or a.all()"),
        (lambda: a[True], "not bool"),
        (lambda: a[0].__setitem__(1, 5), "read-only"),
        (lambda: arrays.zeros(4, int).at[[1]].add(1.5), "float64 cannot be added to elements of int64"),
        (lambda: arrays.zeros(4, int).accumulate(0, 1.5), "float64 cannot be added to elements of int64"),
        (lambda: a.accumulate(0, np.ones(7)), "does not broadcast to the box, (5,)"),
        (lambda: a.redistribute(like=np.ones(3)), "b is ndarray, not a distributed array"),
        (lambda: arrays.random(4, seed=-1), "a seed is 0 or more"),
        (lambda: arrays.random(3, 3), "Write random((3, 3)) for 2 axes or random(3, seed=3)."),
        (lambda: arrays.random(3, 4, 5), "Write random((3, 4, 5)) for 3 axes."),
        (lambda: arrays.random((3, 4), 5), "Write random((3, 4), seed=5)."),
        (lambda: arrays.zeros(3, 4), "dtype is 4, a number"),
        (lambda: arrays.full(3, 4, 5), "write (3, 4) with its parentheses"),
        (lambda: arrays.zeros(4, "U3").sum(), "elements of <U3 are not combined over PEs"),
        (lambda: a.global_indices(2), "axis 2 is out of bounds"),
        (lambda: np.linalg.eig(a), "numpy.linalg.eig does not work"),
        (lambda: pickle.dumps(a), "cannot be pickled"),
        (
            lambda: DistArray((2, 9), dist=["whole", "block"], halo=[2, 0]).exchange_halo("reflect"),
            "mirrors 2 elements beside the one at an end, and the PE there has 1",
        ),
        (lambda: counts.exchange_halo(0.5), "border is 0.5; expected one of fixed, periodic,"),
        (lambda: padded.exchange_halo(["edge"]), "or one for each of the 2 axes"),
        (lambda: padded.exchange_halo(True), "border is True"),
        (lambda: padded.exchange_halo("mirror"), "border is 'mirror'"),
        (lambda: DistArray((4, 5), halo=9), "a halo of 9 is wider than the smallest part"),
        (lambda: DistArray(()), "at least one axis"),
        (lambda: arrays.ones(0).max(), "an axis has no elements"),
        (lambda: a.fetch_add((1, 9), 1), "expected one integer for each of the 2 axes"),
        (lambda: a.fetch_add(1, 1), "expected one integer for each of the 2 axes"),
        (
            lambda: a.at[[1], [2]].set(np.ones(3)),
            "values of shape (3,) do not broadcast to the indices, (1,)",
        ),
        (lambda: a.at[[1], [2]].get(np.ones(3)), "out has shape (3,)"),
        (lambda: np.random.default_rng(0).shuffle(a), "you are shuffling a 'DistArray'"),
        (lambda: arrays.shuffle(a, -1), "a seed is 0 or more"),
        (lambda: arrays.from_array(None), "needs an array on every PE"),
    ]
    if atoll.n_pes() > 1:  # with one part an axis is whole
        cases.append((lambda: DistArray((40, 50), dist="cyclic", halo=1), "is cyclic: only"))
    if line.team == atoll.WORLD:
        bounds = line._layout.axes[0].bounds
        refused(
            [
                (lambda: add(line._raw, [4], 1.0, bounds), "numbers outside 0 to 3"),
                (
                    lambda: add(line._raw, [0], 1.0, [0, 9]),
                    "numbers, ascending from 0, and blocks of at most",
                ),
                (lambda: add(line._raw, [0, 1, 2], np.ones(2), bounds), "3 contiguous values"),
            ]
        )
    refused(cases)


@check
def freed_arrays_are_refused(rng: random.Random) -> None:
    """The error comes before the bytes, which belong to the next array."""
    n = atoll.n_pes()
    a, b = arrays.ones((8, 9), halo=1), arrays.full((8 * n, 9), 2, grid=(n, 1))
    a.exchange_halo()
    a.at[1, 2].get()  # keeps a window
    a.free()
    atoll.free(b.local_with_halo)
    taken = arrays.full((8, 9), 3.0)
    for x, dtype, end in (
        (a, "float64", "freed by a.free()"),
        (b, "int64", "freed by atoll.free() of its part"),
    ):
        expected = f"array of shape {x.shape} and dtype {dtype} made at distributed_arrays.py:"
        uses: list[Callable[[], Any]] = [
            *(lambda x=x: x.local, lambda x=x: x.local_with_halo, lambda x=x: x[1, 2], lambda x=x: x[...]),
            *(
                lambda x=x: x.get(0),
                lambda x=x: x.put(0, 1),
                lambda x=x: x.accumulate(0, 1),
                lambda x=x: x + 1,
            ),
            *(lambda x=x: x.at[1, 2].get(), lambda x=x: x.at[1, 2].set(1), lambda x=x: x.at[1, 2].add(1)),
            *(lambda x=x: x.fetch_add((1, 2), 1), lambda x=x: x.exchange_halo(), lambda x=x: x.sum(), x.free),
        ]
        refused([(use, part) for use in uses for part in (expected, end)])
        assert repr(x) == f"DistArray(shape={x.shape}, dtype={dtype}, freed)" in x._repr_html_()
    equal(taken.to_numpy(), np.full((8, 9), 3.0))


@check
def makers_make(rng: random.Random) -> None:
    equal(arrays.arange(17).to_numpy(), np.arange(17))
    equal(arrays.arange(20, 3, -2).to_numpy(), np.arange(20, 3, -2))
    n = atoll.n_pes()
    line = arrays.zeros(3 * n, dist=list(range(0, 3 * n + 1, 3)), halo=(1, 2), grid=n)
    assert line.bounds() == ((3 * atoll.my_pe(), 3 * atoll.my_pe() + 3),) and line.owner(3 * n - 1) == n - 1
    line.at[[]].add(1)
    atoll.barrier_all()
    line.fetch_add(0, 1)
    atoll.barrier_all()
    assert line[0] == n and bool(line[:1].any())
    equal(arrays.ones((3, 4), "i4").to_numpy(), np.ones((3, 4), "i4"))
    equal(arrays.full(5, 2.5).to_numpy(), np.full(5, 2.5))
    for like in (
        lambda x: np.zeros_like(x, np.int64),
        lambda x: np.full_like(x, 3, int),
        lambda x: np.full_like(x, fill_value=3),
        lambda x: np.ones_like(x, dtype="c8"),
        lambda x: np.empty_like(x, "i4") * 0,
    ):
        equal(like(line).to_numpy(), like(np.empty(3 * n)))
    equal(arrays.zeros((2, 9)).to_numpy(), np.zeros((2, 9)))
    f = arrays.from_function(lambda i, j, k: i * 100 + j * 10 + k, (3, 4, 5), int, dist="cyclic")
    equal(f.to_numpy(), np.fromfunction(lambda i, j, k: i * 100 + j * 10 + k, (3, 4, 5), dtype=int))
    root = atoll.n_pes() - 1
    given = np.arange(12).reshape(4, 3) if atoll.my_pe() == root else None
    equal(arrays.from_array(given, root=root).to_numpy(), np.arange(12).reshape(4, 3))


if __name__ == "__main__":
    main(int(sys.argv[1]))
