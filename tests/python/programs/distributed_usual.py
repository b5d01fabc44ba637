"""Programs in NumPy's usual style on distributed arrays beside NumPy. Each check is by all PEs."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, equal, main, refused, some_array


def same(found: Any, wanted: Any) -> None:
    equal(found.to_numpy() if isinstance(found, DistArray) else found, wanted)


def close(found: Any, wanted: Any) -> None:
    found = found.to_numpy() if isinstance(found, DistArray) else found
    np.testing.assert_allclose(
        found, wanted, rtol=1e-5 if np.asarray(wanted).dtype.char in "fF" else 1e-11, atol=1e-12
    )
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (
        np.asarray(found).dtype,
        np.asarray(wanted).dtype,
    )


def late(pe: int) -> None:
    """Let one PE come later than the others, so that these would see what it has not written yet."""
    if atoll.my_pe() == pe % atoll.n_pes():
        time.sleep(0.02)


WRITES: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, b, mask: a.__iadd__(b),
    lambda a, b, mask: a.__imul__(3),
    lambda a, b, mask: np.multiply(a, b, out=a),
    lambda a, b, mask: np.clip(a, 2, 5, out=a),
    lambda a, b, mask: np.round(a, out=a),
    lambda a, b, mask: a.__setitem__(mask, 7),
    lambda a, b, mask: a.__setitem__(..., b),
    lambda a, b, mask: a.__setitem__(slice(None), b),
]


@check
def reads_see_collective_writes(rng: random.Random) -> None:
    """Every PE reads elements of others right after a write, and before one."""
    for write in WRITES:
        for turn in (0, -1):
            a, whole = some_array(rng, "f8")
            b, other = a.copy() + 2, whole + 2
            mask = a > 4
            before = a[...] if atoll.my_pe() % 2 else None  # the others begin the write
            late(turn)
            if before is None and turn:
                before = a[...]
            write(a, b, mask)
            after = a[...]
            wanted = whole.copy()
            write(wanted, other, wanted > 4)
            equal(np.asarray(after), wanted)
            if before is not None:
                equal(np.asarray(before), whole)


@check
def slow_readers_see_old_elements(rng: random.Random) -> None:
    for write in WRITES:
        a, whole = some_array(rng, "f8")
        b, mask = a + 2, a > 4
        atoll.barrier_all()
        late(1)
        before = a[...]
        write(a, b, mask)
        equal(np.asarray(before), whole)


@check
def errors_of_one_part_reach_all(rng: random.Random) -> None:
    a = arrays.arange(4 * atoll.n_pes())
    try:
        with np.errstate(all="raise"):
            np.floor_divide(a, a, out=a)
    except FloatingPointError as error:
        assert atoll.n_pes() == 1 or "numpy.floor_divide: PE 0: divide by zero" in str(error), error
    else:
        raise AssertionError("a division by zero in the part of PE 0 was not seen")
    refused([(lambda: a.__setitem__(a >= 0, "x"), "invalid literal")])


@check
def operands_of_numpy_may_have_more_axes(rng: random.Random) -> None:
    v, whole = some_array(rng, "f8")
    more = np.arange(3 * whole.size).reshape(3, *whole.shape) % 5
    same(more * v, more * whole)
    same(v - more.astype("f4"), whole - more.astype("f4"))
    same(np.where(more > 2, v, -1.5), np.where(more > 2, whole, -1.5))
    same(np.clip(v, more, 9), np.clip(whole, more, 9))
    same(v[None] - np.expand_dims(v, 1), whole[None] - np.expand_dims(whole, 1))
    x = arrays.from_array(np.linspace(0, 1, 7), dist=rng.choice(["block", "cyclic"]))
    plain = x.to_numpy()
    same(x[:, None] - x, plain[:, None] - plain)
    close(np.sin(x) * np.cos(x)[:, None], np.sin(plain) * np.cos(plain)[:, None])
    same(x + [[1.0], [2.0]], plain + [[1.0], [2.0]])
    refused(
        [
            (lambda: x + np.ones(5), "(5,) does not broadcast to (7,)"),
            (lambda: np.add(x, np.ones((2, 7)), out=x), "out= has shape (7,)"),
            (lambda: plain.__isub__(x), "Write w = w - x"),
        ]
    )


@check
def quantiles_along_several_axes(rng: random.Random) -> None:
    a, whole = some_array(rng, rng.choice(["f8", "i8"]))
    axes = tuple(rng.sample(range(-a.ndim, 0), rng.randint(1, a.ndim)))
    for keepdims in (False, True):
        close(np.median(a, axis=axes, keepdims=keepdims), np.median(whole, axis=axes, keepdims=keepdims))
        q = [10, 75.5]
        close(
            np.percentile(a, q, axis=axes, keepdims=keepdims),
            np.percentile(whole, q, axis=axes, keepdims=keepdims),
        )
        close(
            np.quantile(a, 0.3, axis=axes, keepdims=keepdims),
            np.quantile(whole, 0.3, axis=axes, keepdims=keepdims),
        )
    refused(
        [
            (lambda: np.median(a, axis=(0, 0)), "twice"),
            (lambda: np.median(a, axis=(0, 9)), "axis"),
            (lambda: np.percentile(a, 101), "from 0 to 100"),
        ]
    )


@check
def new_axes_beside_arrays_of_indices(rng: random.Random) -> None:
    whole = np.arange(60.0).reshape(3, 4, 5)
    a = arrays.from_array(whole, dist=rng.choice(["block", "cyclic"]))
    rows, mask = np.array([[0, 2], [1, 1]]), whole[0] > 7
    for key in (
        np.s_[:, None, [0, 1]],
        np.s_[None, rows],
        np.s_[rows, None, :, [0]],
        np.s_[rows, 1, None],
        np.s_[..., None, [0, 4]],
        np.s_[0, None, mask],
        np.s_[None, whole > 9],
        np.s_[[0, 1], ..., None],
        np.s_[:, [1, 2], None, None, [0, 3]],
    ):
        equal(a[key], whole[key])
    refused(
        [
            (lambda: a[None, [0], 0, 0, 0], "4 indices"),
            (lambda: a.__setitem__(np.s_[None, [0]], 1), "has None"),
        ]
    )


@check
def indices_may_be_distributed(rng: random.Random) -> None:
    k, whole = some_array(rng, "i8")
    flat, plain = k.flatten(), whole.ravel()
    same(flat[np.argsort(flat)], np.sort(plain, kind="stable"))
    order = np.argsort(-plain, kind="stable")
    o = np.argsort(-k.ravel().astype(float))
    same(np.take(flat, o), plain[order])
    same(flat.at[o].get(), plain[order])
    if k.ndim > 1:
        axis = rng.randrange(-k.ndim, k.ndim)
        at = whole % whole.shape[axis]
        same(np.take(k, k % whole.shape[axis], axis), np.take(whole, at, axis))
    same(k[k % whole.shape[0]], whole[whole % whole.shape[0]])
    same(k[np.nonzero(k)], whole[np.nonzero(whole)])
    lut = np.arange(69.0).reshape(23, 3) ** 2
    same(k.map_blocks(lambda part: lut[part, 1]), lut[whole, 1])
    refused([(lambda: lut[k], "a.map_blocks(lambda part: x[part])")])
    h = arrays.zeros(23, dtype=int)
    h.at[k].add(1)
    equal(h[...], np.bincount(plain, minlength=23))
    flat[o] = arrays.arange(len(plain), dist="block")
    wanted = plain.copy()
    wanted[order] = np.arange(len(plain))
    equal(flat[...], wanted)
    flat[o] += 1
    equal(flat[...], wanted + 1)
    h.at[k].set(5)
    same(h, np.where(np.bincount(plain, minlength=23) > 0, 5, 0))
    refused(
        [
            (lambda: flat[flat * 0 + len(plain)], "out of bounds"),
            (lambda: flat[flat * 1.0], "b has elements of float64; expected integers"),
            (lambda: h.at[k].set(np.arange(3)), "takes a number"),
            (lambda: h.at[k].add(arrays.ones(50)), "expected one shape"),
            (lambda: k[(k,) * (k.ndim + 1)], "indices for"),
            (lambda: k[0, k], "first axes") if k.ndim > 1 else (lambda: k[k, 0], "first axes"),
        ]
    )


@check
def copies_refuse_writes_while_the_first_is_there(rng: random.Random) -> None:
    whole = np.arange(12.0).reshape(3, 4)
    a = arrays.from_array(whole)
    z = a + 1j
    one = arrays.ones((1, 5))
    copies: list[Callable[[], Any]] = [
        *(lambda: a.T, lambda: a.mT, lambda: a.ravel(), lambda: a.reshape(-1), lambda: a.transpose(1, 0)),
        *(lambda: a.swapaxes(0, 1), lambda: np.flip(a), lambda: np.transpose(a), lambda: np.ravel(a)),
        *(
            lambda: np.reshape(a, (4, 3)),
            lambda: np.fliplr(a),
            lambda: np.expand_dims(a, 0),
            lambda: np.moveaxis(a, 0, 1),
        ),
        *(lambda: z.real, lambda: np.imag(z), lambda: z.imag, lambda: np.squeeze(one), lambda: one.squeeze()),
    ]
    for make in copies:
        b = make()
        before = b.to_numpy()
        refused(
            [
                (lambda b=b: b.__setitem__(0, 5), "NumPy's b would be a view"),
                (lambda b=b: b.__imul__(0), "made at distributed_usual.py:"),
                (lambda b=b: np.add(b, 1, out=b), "a copy of your own: b = "),
                (lambda b=b: b.fill(0), "Write to that one"),
                (lambda b=b: np.clip(b, 0, 1, out=b), "view"),
            ]
        )
        same(b, before)
        own = b.copy()
        own += 1
        same(own, before + 1)
    same(a, whole)
    z.real = 2
    z.imag = a
    same(z, 2 + 1j * whole)
    refused([(lambda: setattr(a, "imag", 1), "no imaginary parts")])
    first = arrays.from_array(whole)
    b = first.T
    del first
    b *= 2  # its first array is gone
    b[0] = [7, 7, 7]
    assert type(b) is DistArray
    wanted = whole.T * 2
    wanted[0] = 7
    same(b, wanted)
    c = arrays.arange(12.0).reshape(3, 4)
    c += 1
    same(c, whole + 1)


@check
def two_distributions_are_refused(rng: random.Random) -> None:
    a = arrays.arange(12.0)
    b = arrays.zeros(12, dist="cyclic")
    refused(
        [
            (lambda: a.redistribute("cyclic", like=b), "leave out dist"),
            (lambda: a.redistribute(halo=1, like=b), "or like"),
            (lambda: a.redistribute("cyclic", out=b), "or out"),
            (lambda: a.redistribute(like=b, out=b), "leave out like"),
        ]
    )


@check
def errors_name_what_is_expected(rng: random.Random) -> None:
    n = atoll.n_pes()
    refused(
        [
            (lambda: arrays.zeros(6, dist=5), "dist is 5; expected 'block'"),
            (lambda: arrays.zeros(6, dist=None), "dist is None; expected 'block'"),
            (lambda: arrays.zeros((6, 6), dist=["block", None]), "dist has None for an axis"),
            (lambda: arrays.zeros(6 * n, dist=[0.5 + 6 * i for i in range(n + 1)]), "bounds are integers"),
            (lambda: arrays.zeros(6, grid=1.5), "1.5, a float; expected integers"),
            (lambda: arrays.zeros((6, 6), halo=[(1, 1, 1), 0]), "expected an integer, or a pair"),
            (lambda: arrays.zeros((6, 6), halo=None), "halo is None"),
            (lambda: arrays.save_zarr("never", arrays.zeros((6, 6)), (0, 3)), "chunks are (0, 3)"),
        ]
    )
    a = arrays.zeros(6, dist=f"cyclic({10**30})")
    a += 1
    assert a.sum() == 6 and len(a.local) == (6 if atoll.my_pe() == 0 else 0)
    b, c = arrays.zeros((6, 4), grid=(n, 1)), arrays.zeros((6, 4), grid=(1, n))
    if n > 1:
        refused([(lambda: b + c, "with arrays.mixed_operands('redistribute')")])


if __name__ == "__main__":
    main(int(sys.argv[1]))
