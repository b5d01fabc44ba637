"""Boxes of distributed arrays beside NumPy, and the path in C++ beside the general path in Python."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, refused, some_array


def some_index(rng: random.Random, n: int) -> Any:
    if rng.random() < 0.3:
        return rng.randint(-n, n - 1)
    first, last = rng.choice([None, *range(-n - 1, n + 2)]), rng.choice([None, *range(-n - 1, n + 2)])
    return slice(first, last, rng.choice([None, 1, 2, 3, -1, -2]))


def some_box(rng: random.Random, shape: tuple[int, ...]) -> Any:
    box = [some_index(rng, n) for n in shape]
    if rng.random() < 0.3:
        box[rng.randint(0, len(box) - 1) :] = [Ellipsis]
    return tuple(box)


@check
def boxes_are_read_from_any_side(rng: random.Random) -> None:
    a, whole = some_array(rng)
    atoll.barrier_all()
    for _ in range(10):
        box = some_box(rng, a.shape)
        equal(a[box], whole[box])
        out = np.empty(np.shape(whole[box]), whole.dtype)
        if out.ndim:
            assert a.get(box, out=out) is out
            equal(out, whole[box])
    mine = a.to_numpy()
    mine += 0
    equal(mine, whole)
    root = rng.randint(0, atoll.n_pes() - 1)
    gathered = a.gather(root)
    if atoll.my_pe() == root:
        equal(gathered, whole)
        assert gathered is not None and gathered.flags.writeable
    else:
        assert gathered is None
    b = arrays.zeros(a.shape, a.dtype)
    b.scatter(gathered, root)
    equal(b.to_numpy(), whole)
    refused(
        [(lambda: b.scatter(whole[:-1] if atoll.my_pe() == root else None, root), "root's array has shape")]
    )
    refused([(lambda: b.scatter(None, root), "the root passed no array; expected one of shape")])
    equal(b.to_numpy(), whole)


@check
def elements_of_a_part_have_global_indices(rng: random.Random) -> None:
    a, whole = some_array(rng)
    for pe in range(atoll.n_pes()):
        shape = tuple(len(a.global_indices(axis, pe)) for axis in range(a.ndim))
        if 0 in shape:
            continue
        local = tuple(rng.randint(-n, n - 1) for n in shape)
        place = a.global_index(local, pe)
        assert place == tuple(int(a.global_indices(axis, pe)[i]) for axis, i in enumerate(local))
        if pe == atoll.my_pe():
            assert a.local[local] == whole[place]
    beyond = (a.shape[0], *(0 for _ in a.shape[1:]))
    refused([(lambda: a.global_index(beyond), f"axis 0 of the part has {len(a.global_indices(0))} elements")])


@check
def boxes_are_written_from_any_side(rng: random.Random) -> None:
    a, whole = some_array(rng)
    atoll.barrier_all()
    for turn in range(6):
        box = some_box(rng, a.shape)
        value: Any = np.full(np.shape(whole[box]), 3 * turn) if rng.random() < 0.6 else turn
        whole[box] = value
        if atoll.my_pe() == rng.randint(0, atoll.n_pes() - 1):
            a[box] = value
        atoll.barrier_all()
        equal(a.to_numpy(), whole)


def outcome(call: Callable[[], Any]) -> Any:
    """Return a call's result, or the class and the text of its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except (TypeError, ValueError, IndexError, OverflowError, atoll.Error) as error:
            return type(error), str(error)
        return found, [str(warning.message) for warning in caught]


def same(call: Callable[[], Any], general: Callable[[], Any]) -> None:
    """Check that two calls have the same outcome, bits and flags included."""
    found, wanted = outcome(call), outcome(general)
    if isinstance(wanted[0], type) or wanted[0] is None:
        assert found == wanted, (found, wanted)
        return
    assert found[1] == wanted[1]
    equal(found[0], wanted[0])
    assert type(found[0]) is type(wanted[0])
    if isinstance(found[0], np.ndarray):
        assert found[0].flags.writeable == wanted[0].flags.writeable
        assert found[0].flags.c_contiguous == wanted[0].flags.c_contiguous


WRONG_KEYS: list[Any] = [
    99,
    -99,
    10**30,
    1.5,
    True,
    None,
    "x",
    slice(1.5),
    slice(0, 3, 0),
    [0],
    np.array([1]),
]
WRONG_KEYS += [(..., ...), (0, 0, 0, 0), slice(3, 1), np.int8(0), slice(None, None, 10**30), ((0,), 0)]


@check
def the_short_way_reads_what_the_general_one_does(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["f8", "f4", "i2", "c16", "?", "S5", "M8[s]", "i4,f8"]))
    atoll.barrier_all()
    for box in [some_box(rng, a.shape) for _ in range(8)] + WRONG_KEYS:
        same(lambda box=box: a[box], lambda box=box: a._get_item(box))
        same(lambda box=box: a.get(box), lambda box=box: a._get(box))
    for _ in range(4):
        box = some_box(rng, a.shape)
        shape = np.shape(whole[box])
        exact, other = np.empty(shape, a.dtype, order="F"), np.empty(shape, rng.choice(["f4", "i8", ">f8"]))
        fixed = np.empty(shape, a.dtype)
        fixed.flags.writeable = False
        backwards = np.empty(shape, a.dtype)[(slice(None, None, -1),) * len(shape)]
        for out in (exact, other, fixed, backwards, np.empty((2, *shape), a.dtype), np.asmatrix([[1]])):
            same(lambda box=box, out=out: a.get(box, out), lambda box=box, out=out: a._get(box, out))
    assert [np.asarray(row).tolist() for row in a] == [whole[i].tolist() for i in range(len(whole))]
    refused(
        [
            (lambda: a.get(), "DistArray.get() lacks its argument 'box'"),  # type: ignore[call-arg]
            (lambda: a.put(0), "DistArray.put() lacks its argument 'value'"),  # type: ignore[call-arg]
            (lambda: a.get(0, into=1), "DistArray.get() has no argument 'into'"),  # type: ignore[call-arg]
            (lambda: a.__delitem__(0), "'DistArray' object doesn't support item deletion"),  # type: ignore[operator]
        ]
    )


def some_values(rng: random.Random, shape: tuple[int, ...]) -> list[Any]:
    """Return values to assign to a box: numbers, and arrays that fit, broadcast or do not."""
    numbers = [
        7,
        -1,
        2.5,
        1e300,
        float("nan"),
        2**40,
        2**70,
        True,
        1j,
        np.float64(3.5),
        np.int32(4),
        np.uint8(5),
        "9",
    ]
    full = (np.arange(np.prod(shape)) % 5).reshape(shape)
    dtype = rng.choice(["f8", "f4", "i8", "i4", "c16"])
    values = [full.astype(dtype), np.asfortranarray(full.astype(dtype)), full.tolist(), np.asarray(6, dtype)]
    values += [
        np.ones((3, *shape), dtype),
        np.ones((1, *shape), dtype),
        np.ones(11, dtype),
        full.astype(">f8"),
    ]
    if shape:
        values += [full.astype(dtype)[::-1], full[:1].astype(dtype), full.sum(0).astype(dtype)]
    return rng.sample(numbers, 5) + rng.sample(values, 5)


@check
def the_short_way_writes_what_the_general_one_does(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["f8", "f4", "i8", "i4", "u2", "i1", "c16", "?"]))
    b = a.copy()
    atoll.barrier_all()
    for _ in range(3):
        box = some_box(rng, a.shape)
        for value in some_values(rng, np.shape(whole[box])):
            if atoll.my_pe() == rng.randint(0, atoll.n_pes() - 1):
                same(
                    lambda box=box, value=value: a.put(box, value),
                    lambda box=box, value=value: b._put(box, value),
                )
            atoll.barrier_all()
            equal(a.to_numpy(), b.to_numpy())
    a[...] = a.local if atoll.n_pes() == 1 else 0  # the same memory on both sides
    atoll.barrier_all()
    equal(a.to_numpy(), b.to_numpy() if atoll.n_pes() == 1 else np.zeros_like(whole))


@check
def boxes_of_arrays_with_a_halo_are_the_parts(rng: random.Random) -> None:
    n = 6 * atoll.n_pes()
    whole = np.arange(n * 4.0).reshape(n, 4)
    a = arrays.from_array(whole, grid=(atoll.n_pes(), 1), halo=((2, 1), (0, 3)))
    for _ in range(10):
        box = some_box(rng, a.shape)
        equal(a[box], whole[box])
        atoll.barrier_all()
        if atoll.my_pe() == 0:
            a[box] = whole[box]
        atoll.barrier_all()
    equal(a.to_numpy(), whole)
    atoll.barrier_all()
    with mock.patch.object(DistArray, "_get", None), mock.patch.object(DistArray, "_put", None):
        for box in np.s_[1:3, ::2], np.s_[-1], np.s_[..., 1], np.s_[5:0:-2, 1], np.s_[2, 3], np.s_[:]:
            equal(a[box], whole[box])
            a.put(box, whole[box])
            a[box] = whole[box] if np.ndim(whole[box]) else float(whole[box])
    atoll.barrier_all()
