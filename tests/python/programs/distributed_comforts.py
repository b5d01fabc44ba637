"""Distributed arrays: arrays already split, exact sums, moves that quiet completes, and NumPy's small methods."""

from __future__ import annotations

import math
import random
import sys
from typing import Any

import atoll
import numpy as np
from atoll import DistArray, arrays
from atoll.arrays._storage import _files
from distributed import check, equal, main, refused, some_array


@check
def parts_are_joined(rng: random.Random) -> None:
    n, me = atoll.n_pes(), atoll.my_pe()
    lengths = [rng.randint(0, 3) for _ in range(n)]
    width = rng.randint(1, 4)
    whole = np.arange(sum(lengths) * width).reshape(-1, width)
    start = sum(lengths[:me])
    part = whole[start : start + lengths[me]]
    a = arrays.from_array(local=part)
    equal(a.to_numpy(), whole)
    equal(a.local, part)
    b = DistArray.from_array(local=part.T, grid=(1, n))
    equal(b.to_numpy(), whole.T)
    equal(b.local, part.T)
    if n == 1:
        return
    last = me == n - 1
    refused(
        [
            (lambda: arrays.from_array(local=np.ones((2, 2 + last))), "axis 1 they differ"),
            (lambda: arrays.from_array(local=None if last else part), f"PE {n - 1} passed no part"),
            (lambda: arrays.from_array(local=np.ones(3, "f4" if last else "f8")), "and dtype float64, PE"),
            (lambda: arrays.from_array(local=part, dist="cyclic"), "leave dist out"),
            (lambda: arrays.from_array(local=part, grid=(n, 2)), "whose product is"),
            (lambda: arrays.from_array(part, local=part), "either local="),
            (
                lambda: arrays.from_array(None if last else whole),
                "passed no" if last else "All pass the same",
            ),
        ]
    )


@check
def real_steps_are_numpys(rng: random.Random) -> None:
    cases: list[tuple[Any, ...]] = [
        (0, 1, 0.1),
        (1, 2, 0.3),
        (10, 0, -0.7),
        (5.5,),
        (3, 3.0),
        (10, 0, -3),
        (4,),
    ]
    cases.append((rng.uniform(-2, 2), rng.uniform(-2, 9), rng.choice([0.25, 0.1, -0.3])))
    for case in cases:
        equal(arrays.arange(*case, dist=rng.choice(["block", "cyclic"])).to_numpy(), np.arange(*case))
    equal(arrays.arange(0, 1, 0.25, "f4").to_numpy(), np.arange(0, 1, 0.25, "f4"))
    refused([(lambda: arrays.arange(0, 1, 0), "another number than 0")])


@check
def sums_have_the_same_bits(rng: random.Random) -> None:
    """Sums whose terms differ by less than 2**50 are the nearest numbers to the exact ones, for any distribution."""
    random_ = np.random.default_rng(rng.randrange(99))
    whole = random_.normal(size=(13, 17)) * 10.0 ** random_.integers(-9, 9, (13, 17))
    for dtype in ("f8", "f4", "f2", "c16", "c8"):
        x = (whole % 9 if dtype == "f2" else whole + (1j * whole[::-1] if dtype[0] == "c" else 0)).astype(
            dtype
        )
        for dist in ("block", "cyclic", ["cyclic(2)", "whole"], ["whole", "block"]):
            a = arrays.from_array(x, dist=dist)
            for axis in (None, 0, 1, (0, 1)):
                for keepdims in (False, True):
                    found = a.sum(axis, keepdims=keepdims, reproducible=True)
                    assert (
                        np.shape(found) == np.shape(x.sum(axis, keepdims=keepdims)) and found.dtype == x.dtype
                    )
                    if axis is None and not keepdims:
                        exact = math.fsum(x.real.ravel().astype(float))
                        assert found.real == x.real.dtype.type(exact), (dtype, found, exact)
                    elif axis == 0 and not keepdims:
                        exact_ = [math.fsum(column.astype(float)) for column in x.real.T]
                        equal(found.real, np.array(exact_).astype(x.real.dtype))
    for values in ([1e308, -1e308, 7e307, -7e307], [5e-324] * 9, [1e16, 1.0, -1e16] * 30, [0.0] * 3):
        assert arrays.from_array(np.array(values)).sum(reproducible=True) == math.fsum(values)
    assert arrays.from_array(np.array([1e308, 1e308, -1e308, 5e307])).sum(reproducible=True) == 1.5e308
    assert arrays.from_array(np.array([1, np.inf, 2])).sum(reproducible=True) == np.inf
    assert np.isnan(arrays.from_array(np.array([np.inf, -np.inf, 2])).sum(reproducible=True))
    assert arrays.arange(9).sum(reproducible=True) == 36 and arrays.zeros(0).sum(reproducible=True) == 0
    refused([(lambda: arrays.ones(3).sum(dtype="f4", reproducible=True), "has the dtype of a")])


@check
def quiet_completes_what_does_not_wait(rng: random.Random) -> None:
    a, whole = some_array(rng, "f8")
    a.barrier()
    key = tuple(
        rng.choice([slice(rng.randint(0, n), None, rng.randint(1, 2)), rng.randrange(n)]) for n in whole.shape
    )
    out = np.zeros(whole[key].shape)
    a.get_nbi(key, out)
    atoll.quiet()
    equal(out, np.asarray(whole[key]))
    a.barrier()
    if atoll.my_pe() == 0:
        values = np.full(whole[key].shape, -5.0)
        a.put_nbi(key, values)
        atoll.quiet()
    a.barrier()
    whole[key] = -5
    equal(a.to_numpy(), whole)
    refused(
        [
            (lambda: a.get_nbi(..., np.zeros(1, "f4")), "a.get_nbi(): out has shape"),
            (lambda: a.put_nbi(..., np.zeros((1,) * 5)), "a.put_nbi(): the value has shape"),
            (lambda: a.get_nbi(slice(None, None, -1), out), "positive steps"),
        ]
    )


@check
def an_array_takes_the_elements_of_another(rng: random.Random) -> None:
    a, whole = some_array(rng)
    b = arrays.zeros(a.shape, a.dtype)
    assert a.redistribute(out=b) is b
    equal(b.to_numpy(), whole)
    refused(
        [
            (lambda: a.redistribute(out=whole), "b is ndarray"),
            (lambda: a.redistribute(out=arrays.zeros((*a.shape, 2), a.dtype)), "b has shape"),
        ]
    )


@check
def an_array_gets_another_distribution_in_its_memory(rng: random.Random) -> None:
    n, me = atoll.n_pes(), atoll.my_pe()
    whole = np.arange(36.0 * n * n).reshape(6 * n, 6 * n)
    a = arrays.from_array(whole, grid=(n, 1), halo=[(1, 1), 0])
    a.exchange_halo()
    address = a.local_with_halo.ctypes.data
    for dist in rng.sample(
        [("cyclic", "whole"), ("whole", "block"), ("whole", "cyclic(3)"), ("block", "whole")], 3
    ):
        assert a.redistribute(dist, out=a) is a
        assert a._block.ctypes.data == address, "the memory is another one"
        equal(a.to_numpy(), whole)
        equal(a[1::2, ::-1], whole[1::2, ::-1])  # by the calls in C++
        equal((a + 1).to_numpy(), whole + 1)
    a.redistribute("block", grid=(n, 1), halo=[(1, 1), 0], out=a)
    assert not n > 1 or not a.local_with_halo[0 if me == 0 else -1].any() or 0 < me < n - 1
    a.exchange_halo("periodic")
    equal(a.local_with_halo, whole[np.arange(6 * me - 1, 6 * me + 7) % (6 * n)])
    a.redistribute(like=arrays.zeros(a.shape), out=a)
    equal(a.to_numpy(), whole)
    small = arrays.zeros(3 * n)
    refused(
        [
            (lambda: small.redistribute(halo=1, out=small), "has memory for 3 on each PE"),
            (lambda: a.redistribute("cyclic", like=a, out=a), "leave out dist"),
        ]
    )
    a.free()


@check
def a_sum_frees_what_was_dropped(rng: random.Random) -> None:
    n = atoll.n_pes()
    a = arrays.zeros(n * (1 << 16))
    a.sum()

    def used() -> int:
        return int(atoll.info()["heap"]["used_bytes"])

    before = used()
    kept = [a + number for number in range(5)]
    assert used() >= before + 5 * (1 << 19)
    last = kept.pop()
    kept.clear()
    a.local[...] += 1  # no PE waits for another
    assert used() >= before + 5 * (1 << 19)
    assert a.sum() == n * (1 << 16)
    assert used() < before + 2 * (1 << 19)
    assert last[0] == 4 and last.sum() == 4 * n * (1 << 16)


@check
def files_count_their_steps(rng: random.Random) -> None:
    """All PEs together count each panel once; a PE that fails leaves no other one at the bar."""
    counted = []

    class Counting(atoll.progress[Any]):
        def update(self, n: int = 1) -> None:
            counted.append(n)
            super().update(n)

    a = arrays.arange(1000 + rng.randrange(9))
    path = f"{sys.argv[2]}/steps.npy"
    was, usual = _files.PANEL_BYTES, atoll.progress
    _files.PANEL_BYTES, atoll.progress = 800, Counting  # type: ignore[misc]
    a.save(path, progress=True)
    saved = int(atoll.sum_reduce(len(counted)))
    equal(arrays.load(path, progress=True).to_numpy(), np.arange(a.size))
    loaded = int(atoll.sum_reduce(len(counted))) - saved
    assert saved == loaded >= a.size // 100, (saved, loaded)
    missing = f"{sys.argv[2]}/no/steps.npy"
    for call in (lambda: a.save(missing, progress=True), lambda: arrays.load(missing, progress=True)):
        try:
            call()
        except OSError as error:
            assert "no/steps.npy" in str(error)
        else:
            raise AssertionError("nothing was raised")
    _files.PANEL_BYTES, atoll.progress = was, usual  # type: ignore[misc]
    refused([(lambda: arrays.load(path, halos=1), "load() has no argument 'halos'")])


@check
def small_methods_are_numpys(rng: random.Random) -> None:
    assert atoll.DistArray is DistArray
    a, whole = some_array(rng, rng.choice(["i8", "f8"]))
    a.barrier()
    assert (a.nbytes, a.itemsize, a.tolist()) == (whole.nbytes, whole.itemsize, whole.tolist())
    number = rng.randrange(-whole.size, whole.size)
    place = tuple(rng.randrange(n) for n in whole.shape)
    assert a.item(number) == whole.item(number) and a.item(*place) == a.item(place) == whole.item(place)
    first, second = rng.randrange(-a.ndim, a.ndim), rng.randrange(a.ndim)
    equal(a.swapaxes(first, second).to_numpy(), whole.swapaxes(first, second))
    axis = rng.randrange(-a.ndim, a.ndim)
    equal(a.argsort(axis).to_numpy(), whole.argsort(axis, kind="stable"))
    a.sort(axis)
    whole.sort(axis)
    equal(a.to_numpy(), whole)
    a.fill(3)
    equal(a.to_numpy(), np.full_like(whole, 3))
    equal(a.conjugate().to_numpy(), np.full_like(whole, 3))
    long = rng.randint(1, 3)
    found = arrays.ones((1, long, 1)).squeeze()
    equal(found if long == 1 else found.to_numpy(), np.ones((1, long, 1)).squeeze())
    equal(arrays.ones((1, long, 1)).squeeze(-1).to_numpy(), np.ones((1, long)))
    one = arrays.full((1, 1), 2.5)
    assert (float(one), int(one), complex(one), f"{one:.3f}", one.item()) == (2.5, 2, 2.5 + 0j, "2.500", 2.5)
    assert f"{a}" == str(a)
    two = arrays.ones(2)
    refused(
        [
            (lambda: float(two), "float(a) takes a distributed array of one element"),
            (two.item, "the array has 2 elements"),
            (lambda: two.item(2), "out of bounds"),
            (lambda: two.item(0, 0), "expected one integer for each of the 1 axes"),
            (lambda: f"{two:.2f}", "takes one element"),
            (lambda: two.squeeze(0), "such axes have length 1"),
        ]
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
