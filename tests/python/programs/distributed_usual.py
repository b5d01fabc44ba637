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
            (lambda: plain.__isub__(x), "write w = w - x"),
        ]
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
